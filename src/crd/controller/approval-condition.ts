// The condition KubernetesAPIApprovalPolicyConformant of definitions in protected groups.
import type { KubeObject } from '../../apimachinery/index.ts';
import { conditionOf, withCondition } from '../conditions.ts';
import { type DefinitionStatus, specOf, statusOf } from '../types.ts';
import { isProtectedGroup, readApproval } from '../validate/approval.ts';

const approvalReasons = { approved: 'ApprovedAnnotation', bypassed: 'UnapprovedAnnotation', missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation' } as const;

/** The status with what the approval of a protected group amounts to; undefined when there is nothing to do. */
export function checkApproval(definition: KubeObject, now: string): DefinitionStatus | undefined {
  if (!isProtectedGroup(specOf(definition).group)) return undefined;
  const { type, message } = readApproval(definition.metadata.annotations);
  const condition = { type: 'KubernetesAPIApprovalPolicyConformant', status: type === 'approved' ? 'True' : 'False', reason: approvalReasons[type], message };
  const known = conditionOf(definition, condition.type);
  if (known !== undefined && known.status === condition.status && known.reason === condition.reason && known.message === condition.message) return undefined;
  return withCondition(statusOf(definition), condition, now);
}
