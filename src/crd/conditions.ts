// Conditions of definitions, read and set as the reference's helpers do.
import type { KubeObject } from '../apimachinery/index.ts';
import { type DefinitionCondition, type DefinitionStatus, statusOf } from './types.ts';

/** Whether a condition of the definition is True. */
export const isTrue = (definition: KubeObject, type: string): boolean =>
  statusOf(definition).conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

/** Sets a condition; its time changes with its status only. */
export function withCondition(status: DefinitionStatus, condition: DefinitionCondition, now: string): DefinitionStatus {
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const known = conditions[at];
  const { type, status: value, reason, message } = condition;
  const time = known !== undefined && known.status === value && known.lastTransitionTime ? known.lastTransitionTime : now;
  const next: DefinitionCondition = { type, status: value, lastTransitionTime: time, ...(reason && { reason }), ...(message && { message }) };
  if (at < 0) conditions.push(next);
  else conditions[at] = next;
  return { ...status, conditions };
}

/** The condition of a definition with this type. */
export const conditionOf = (definition: KubeObject, type: string): DefinitionCondition | undefined =>
  statusOf(definition).conditions?.find((condition) => condition.type === type);
