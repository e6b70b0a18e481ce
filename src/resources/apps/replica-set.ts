// apps/v1 ReplicaSet.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { replicaColumns, selectorColumn } from '../common/columns/workloads.ts';
import { ensureStruct, setAbsent } from '../common/defaults.ts';
import { scale, scalePaths, status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, specOf } from '../common/validation/check.ts';
import { checkCounts } from '../common/validation/counts.ts';
import { applyTemplateDefaults } from '../core/pods/defaults/pod.ts';
import { gatePodSpec } from '../core/pods/gated-fields.ts';
import { warnOfTemplate } from '../core/pods/template.ts';
import type { KindSpec } from '../kind-spec.ts';
import { formerReplicaSets } from './former-versions.ts';
import { blankWorkload, checkSelectedTemplate, withImmutableSelector } from './workloads.ts';

/** Columns of replicasets. */
const replicaSetColumns: readonly Column[] = [...replicaColumns, selectorColumn];

/** Defaults of replicasets. */
function applyReplicaSetDefaults(replicaSet: KubeObject, _version?: string, before?: KubeObject): void {
  const spec = ensureStruct(replicaSet, 'spec');
  applyTemplateDefaults(spec, before?.['spec']);
  setAbsent(spec, { replicas: 1 });
}

/** Status of a ReplicaSet. */
function validateReplicaSetStatus(object: KubeObject): Errors {
  return checkCounts(object, {
    counts: ['replicas', 'fullyLabeledReplicas', 'readyReplicas', 'availableReplicas', 'observedGeneration', 'terminatingReplicas'],
    parts: ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'],
  });
}

function checkReplicaSetSpec(spec: Field): Errors {
  return [...checkNotNegative(at(spec, 'replicas'), at(spec, 'minReadySeconds')), ...checkSelectedTemplate(spec)];
}

/** Validates replicasets. */
function validateReplicaSet(replicaSet: KubeObject): Errors {
  return checkReplicaSetSpec(specOf(replicaSet));
}

/** Validates updates of replicasets. */
const validateReplicaSetUpdate = withImmutableSelector(validateReplicaSet);

/** The spec of ReplicaSet. */
export const replicaSetKind: KindSpec = {
  kind: 'ReplicaSet', plural: 'replicasets', shortNames: ['rs'], categories: ['all'],
  formerVersions: formerReplicaSets,
  tracksGeneration: true, blank: blankWorkload,
  subresources: [scale, status], scale: scalePaths,
  metadataChecks: ['update', 'kind'],
  columns: replicaSetColumns,
  ...gatePodSpec('spec.template.spec'),
  applyDefaults: applyReplicaSetDefaults,
  validation: { object: validateReplicaSet, update: validateReplicaSetUpdate, status: validateReplicaSetStatus },
  warnings: warnOfTemplate({ path: ['spec', 'template'], names: true }),
};
