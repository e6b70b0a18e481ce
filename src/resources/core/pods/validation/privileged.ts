// Servers without --allow-privileged: containers that ask for privileges are refused wherever a pod is described. Pods that are there may stay: their
// containers do not change.
import { type FieldError, type KubeObject, forbiddenField } from '../../../../apimachinery/index.ts';
import type { Resource, Strategy } from '../../../../registry/index.ts';
import { type Field, at, each } from '../../../common/validation/check.ts';
import { readPath } from '../../../common/values.ts';

/** Where kinds describe pods. */
const templatePath = ['spec', 'template', 'spec'];
const specPaths: Readonly<Record<string, readonly string[]>> = {
  Pod: ['spec'], PodTemplate: ['template', 'spec'], ReplicationController: templatePath, Deployment: templatePath,
  ReplicaSet: templatePath, StatefulSet: templatePath,
  DaemonSet: templatePath, Job: templatePath, CronJob: ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

function findPrivileged(object: KubeObject, path: readonly string[], lists: readonly string[]): FieldError[] {
  const spec: Field = { path: path.join('.'), value: readPath(object, ...path) };
  return lists.flatMap((list) => each(at(spec, list))).map((container) => at(container, 'securityContext', 'privileged'))
    .filter(({ value }) => value === true).map((field) => forbiddenField(field.path, 'disallowed by cluster policy'));
}

/** The row of a kind with its pods held to it; rows without pods as they are. */
export function withoutPrivileged(row: Resource): Resource {
  const path = specPaths[row.kind];
  if (path === undefined || row.custom) return row;
  const { strategy } = row;
  const held: Strategy = {
    ...strategy,
    validate: (object, context) =>
      [...strategy.validate?.(object, context) ?? [], ...findPrivileged(object, path, ['containers', 'initContainers', 'ephemeralContainers'])],
    validateUpdate(object, old, context) {
      const lists = row.kind !== 'Pod' ? ['containers', 'initContainers'] : context.subresource === 'ephemeralcontainers' ? ['ephemeralContainers'] : [];
      const isSpec = row.kind === 'Pod' || context.subresource === '';
      return [...strategy.validateUpdate?.(object, old, context) ?? [], ...(isSpec ? findPrivileged(object, path, lists) : [])];
    },
  };
  return { ...row, strategy: held };
}
