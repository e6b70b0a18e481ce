// Strategies of the kinds that make pods.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { readPath, toObject, toText } from '../columns/common.ts';
import { ensureStruct, readPointer } from '../defaults/set.ts';
import * as defaults from '../defaults/workloads.ts';
import { isSame } from '../validation/check.ts';
import { prepareWithStatus } from './status.ts';

/** What makes deployments special: a status update cannot relabel them. */
export const deploymentStrategy: Strategy = {
  applyDefaults: defaults.applyDeploymentDefaults,
  ...prepareWithStatus({ keeps: ['labels'], prepareForUpdate: countAnnotations }),
};

/** Annotations are intent as well: controllers are to see that they changed. */
function countAnnotations(deployment: KubeObject, old: KubeObject): void {
  if (isSame(deployment.metadata.annotations ?? {}, old.metadata.annotations ?? {})) return;
  deployment.metadata.generation = (old.metadata.generation ?? 0) + 1;
}

/** What makes replicasets special. */
export const replicaSetStrategy: Strategy = { applyDefaults: defaults.applyReplicaSetDefaults };
/** What makes replicationcontrollers special. */
export const replicationControllerStrategy: Strategy = { applyDefaults: defaults.applyReplicationControllerDefaults };
/** What makes statefulsets special. */
export const statefulSetStrategy: Strategy = { applyDefaults: defaults.applyStatefulSetDefaults };
/** What makes cronjobs special. */
export const cronJobStrategy: Strategy = { applyDefaults: defaults.applyCronJobDefaults };
/** What makes horizontalpodautoscalers special. */
export const autoscalerStrategy: Strategy = { applyDefaults: defaults.applyAutoscalerDefaults };

/** What makes daemonsets special: an annotation counts the changes of the template. */
export const daemonSetStrategy: Strategy = {
  applyDefaults: defaults.applyDaemonSetDefaults,
  ...prepareWithStatus({
    prepareForCreate: (daemonSet) => defaults.setTemplateGeneration(daemonSet, Math.max(1, defaults.readTemplateGeneration(daemonSet))),
    prepareForUpdate(daemonSet, old) {
      const changed = !isSame(readPath(daemonSet, 'spec', 'template'), readPath(old, 'spec', 'template'));
      defaults.setTemplateGeneration(daemonSet, defaults.readTemplateGeneration(old) + (changed ? 1 : 0));
    },
    prepareForStatus: (daemonSet, old) => defaults.setTemplateGeneration(daemonSet, defaults.readTemplateGeneration(old)),
  }),
};

/** Labels by which a job finds its pods: the new and the old names of each. */
function makeJobLabels(job: KubeObject): Record<string, string> {
  const uid = job.metadata.uid ?? '';
  const name = job.metadata.name ?? '';
  return { 'batch.kubernetes.io/controller-uid': uid, 'batch.kubernetes.io/job-name': name, 'controller-uid': uid, 'job-name': name };
}

/** Fills what is missing of the selector and of the template's labels, and gives the job the labels of its template if it has none. */
function generateSelector(job: KubeObject): void {
  const spec = ensureStruct(job, 'spec');
  if (spec['manualSelector'] === true) return;
  const labels = makeJobLabels(job);
  const metadata = ensureStruct(ensureStruct(spec, 'template'), 'metadata');
  const given = toObject(metadata['labels']);
  const takesLabels = isSame(job.metadata.labels ?? {}, given);
  const merged: JsonObject = { ...labels, ...given };
  metadata['labels'] = merged;
  if (takesLabels) job.metadata.labels = { ...(merged as Record<string, string>) };
  const selector = readPointer(spec, 'selector') ?? {};
  const selected = toObject(selector['matchLabels']);
  if (toText(selected['batch.kubernetes.io/controller-uid']) === '') {
    selector['matchLabels'] = { ...selected, 'batch.kubernetes.io/controller-uid': labels['batch.kubernetes.io/controller-uid'] };
  }
  spec['selector'] = selector;
}

/** What makes jobs special. */
export const jobStrategy: Strategy = {
  deletionWarning: 'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set '
    + 'propagationPolicy=Orphan to suppress this warning',
  applyDefaults: defaults.applyJobDefaults,
  ...prepareWithStatus({
    prepareForCreate: generateSelector,
    // A job without labels has those of its template, whenever it is read.
    prepareForStatus(job) {
      const labels = toObject(readPath(job, 'spec', 'template', 'metadata', 'labels'));
      if (Object.keys(job.metadata.labels ?? {}).length === 0 && Object.keys(labels).length > 0) job.metadata.labels = { ...labels } as Record<string, string>;
    },
  }),
};
