// Objects of apps/v1beta1, apps/v1beta2 and extensions/v1beta1, which are served no more, as apps/v1 has them. v1beta2 differs in its name only; the
// others have other defaults, and labels and selectors that are not stated are those of the template.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { type Defaults, ensureStruct, readPointer, setAbsent, setZero } from '../common/defaults.ts';
import { formerSchema, sameAs } from '../common/former-versions.ts';
import { readPath, toNumber } from '../common/values.ts';

const MAX_INT32 = 2 ** 31 - 1;
const ROLLBACK = 'deprecated.deployment.rollback.to';
const GENERATION = 'deprecated.daemonset.template.generation';

/** Puts a number that was a field into an annotation, in place of one of that name; undefined: there is none. */
function annotate(object: KubeObject, name: string, value: number | undefined): void {
  const { [name]: _old, ...annotations } = object.metadata.annotations ?? {};
  object.metadata.annotations = value === undefined ? annotations : { ...annotations, [name]: String(value) };
}

/** Labels and selector from those of the template. */
function selectTemplate(object: KubeObject): void {
  const spec = ensureStruct(object, 'spec');
  const labels = readPath(spec, 'template', 'metadata', 'labels') as Record<string, string> | undefined;
  if (labels === undefined) return;
  setAbsent(spec, { selector: { matchLabels: labels } });
  if (Object.keys(object.metadata.labels ?? {}).length === 0) object.metadata.labels = { ...labels };
}

/** A Deployment with defaults of its spec that v1 has not. */
const convertDeployment = (defaults: Defaults, rolling: Defaults = {}) => (deployment: KubeObject): KubeObject => {
  selectTemplate(deployment);
  const spec = ensureStruct(deployment, 'spec');
  setAbsent(spec, defaults);
  const strategy = ensureStruct(spec, 'strategy');
  setZero(strategy, { type: 'RollingUpdate' });
  if (strategy['type'] === 'RollingUpdate' || readPointer(strategy, 'rollingUpdate') !== undefined) {
    setAbsent(ensureStruct(strategy, 'rollingUpdate'), rolling);
  }
  const rollback = readPointer(spec, 'rollbackTo');
  delete spec['rollbackTo'];
  annotate(deployment, ROLLBACK, rollback === undefined ? undefined : toNumber(rollback['revision'] ?? 0));
  return deployment;
};

/** Former versions of Deployment. */
export const formerDeployments: Readonly<Record<string, FormerVersion>> = {
  ...sameAs('apps/v1beta2'),
  'apps/v1beta1': { schema: formerSchema('extensions.v1beta1.Deployment'), convert: convertDeployment({ revisionHistoryLimit: 2 }) },
  'extensions/v1beta1': {
    schema: formerSchema('extensions.v1beta1.Deployment'),
    convert: convertDeployment({ progressDeadlineSeconds: MAX_INT32, revisionHistoryLimit: MAX_INT32 }, { maxUnavailable: 1, maxSurge: 1 }),
  },
};

function convertDaemonSet(daemonSet: KubeObject): KubeObject {
  selectTemplate(daemonSet);
  const spec = ensureStruct(daemonSet, 'spec');
  setZero(ensureStruct(spec, 'updateStrategy'), { type: 'OnDelete' });
  annotate(daemonSet, GENERATION, toNumber(spec['templateGeneration'] ?? 0));
  delete spec['templateGeneration'];
  return daemonSet;
}

/** Former versions of DaemonSet. */
export const formerDaemonSets: Readonly<Record<string, FormerVersion>> = {
  ...sameAs('apps/v1beta2'), 'extensions/v1beta1': { schema: formerSchema('extensions.v1beta1.DaemonSet'), convert: convertDaemonSet },
};

function convertReplicaSet(replicaSet: KubeObject): KubeObject {
  selectTemplate(replicaSet);
  return replicaSet;
}

/** Former versions of ReplicaSet. */
export const formerReplicaSets: Readonly<Record<string, FormerVersion>> = {
  ...sameAs('apps/v1beta2'), 'extensions/v1beta1': { convert: convertReplicaSet },
};

function convertStatefulSet(statefulSet: KubeObject): KubeObject {
  selectTemplate(statefulSet);
  const strategy = ensureStruct(ensureStruct(statefulSet, 'spec'), 'updateStrategy');
  setZero(strategy, { type: 'OnDelete' });
  return statefulSet;
}

/** Former versions of StatefulSet. */
export const formerStatefulSets: Readonly<Record<string, FormerVersion>> = { ...sameAs('apps/v1beta2'), 'apps/v1beta1': { convert: convertStatefulSet } };
