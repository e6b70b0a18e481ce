// The condition NonStructuralSchema: definitions that came into the store by another way than this API, which refuses such schemas, may have one.
import type { KubeObject } from '../../apimachinery/index.ts';
import { finishSteps } from '../../base/index.ts';
import { type DefinitionStatus, specOf, statusOf } from '../types.ts';
import { withCondition } from '../conditions.ts';
import { findUnsupported, validateStructural } from '../validate/structural.ts';

/** The type of the condition. */
export const STRUCTURE_CONDITION = 'NonStructuralSchema';

/** More than a definition that a person wrote has: the reference stores all of them. */
const MOST_TEXTS = 500;

/** That unknown fields are kept, and the violations of each version, as the reference says them. */
function describeViolations(definition: KubeObject): string | undefined {
  const { preserveUnknownFields, versions } = specOf(definition);
  const problems = preserveUnknownFields === true ? ['spec.preserveUnknownFields: Invalid value: true: must be false'] : [];
  problems.push(...versions.flatMap(({ schema }, i) => {
    const source = schema?.openAPIV3Schema;
    if (source === undefined) return [];
    const at = `spec.versions[${i}].schema.openAPIV3Schema`;
    const problem = finishSteps(findUnsupported(source, new Map()));
    if (problem !== undefined) return [`${at}: Invalid value: "": ${problem}`];
    return finishSteps(validateStructural(source, at)).map(({ field, message }) => `${field}: ${message}`);
  }));
  if (problems.length === 0) return undefined;
  return problems.length === 1 ? problems[0] : `[${problems.slice(0, MOST_TEXTS).join(', ')}]`;
}

/** The status with what is wrong with the schemas; undefined when there is nothing to do. */
export function checkStructure(definition: KubeObject, now: string): DefinitionStatus | undefined {
  const status = statusOf(definition);
  const known = status.conditions?.find((condition) => condition.type === STRUCTURE_CONDITION);
  const message = describeViolations(definition);
  if (message === undefined) return known === undefined ? undefined : { ...status, conditions: status.conditions?.filter((each) => each !== known) ?? [] };
  if (known?.status === 'True' && known.message === message) return undefined;
  return withCondition(status, { type: STRUCTURE_CONDITION, status: 'True', reason: 'Violations', message }, now);
}
