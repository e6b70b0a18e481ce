// The status of FlowSchemas and PriorityLevelConfigurations.
import { type KubeObject, duplicate } from '../../apimachinery/index.ts';
import { type Errors, at, checkRequired, each, memberOf } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';

/** Conditions of a status: types are required and unique. */
export function checkConditions(object: KubeObject): Errors {
  const known = new Set<string>();
  return each(at(memberOf(object, 'status'), 'conditions')).flatMap((condition): Errors => {
    const type = at(condition, 'type');
    const name = toText(type.value);
    const errors = [...(known.has(name) ? [duplicate(type.path, name)] : []), ...checkRequired(type)];
    known.add(name);
    return errors;
  });
}

/** Validates what the status path of flowschemas and prioritylevelconfigurations writes. */
export const validateFlowControlStatus = checkConditions;
