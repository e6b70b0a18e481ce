// A definition on its way out: how a delete begins it, and what it forbids.
import { type KubeObject, type StatusError, forbidden } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { FINALIZER } from './cleanup.ts';
import { statusOf } from '../types.ts';
import { withCondition } from '../conditions.ts';

/** Puts a definition into its dying phase, in place: the finalizer that empties the kind, and the condition that says so. */
export function beginTermination(definition: KubeObject): void {
  const { metadata } = definition;
  const finalizers = metadata.finalizers ?? [];
  if (!finalizers.includes(FINALIZER)) metadata.finalizers = [...finalizers, FINALIZER];
  const message = 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon';
  const condition = { type: 'Terminating', status: 'True', reason: 'InstanceDeletionPending', message };
  definition['status'] = withCondition(statusOf(definition), condition, metadata.deletionTimestamp ?? '');
}

/** The refusal of a creation in a kind that is ending. */
export function refuseCreation({ resource, name }: AdmissionAttributes): StatusError {
  return forbidden({ group: resource.group, resource: resource.plural }, name, 'create not allowed while custom resource definition is terminating');
}
