// core/v1 ReplicationController.
import { type FieldError, type KubeObject, equalJson, invalidValue, notFoundValue, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { formatLabels, wideColumn } from '../common/columns/columns.ts';
import { replicaColumns } from '../common/columns/workloads.ts';
import { ensureStruct, readPointer, setAbsent } from '../common/defaults.ts';
import { countAt } from '../common/selectable-fields.ts';
import { scale, scalePaths, status } from '../common/subresources.ts';
import { type Errors, type Field, at, checkNotNegative, specOf } from '../common/validation/check.ts';
import { checkCounts } from '../common/validation/counts.ts';
import { readPath, toObject } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { applyTemplateDefaults } from './pods/defaults/pod.ts';
import { gatePodSpec } from './pods/gated-fields.ts';
import { checkTemplate, checkTemplateLabels, isEmptyMap, takeTemplateLabels, warnOfTemplate } from './pods/template.ts';

/** Columns of replicationcontrollers, whose selector is a plain map. */
const replicationControllerColumns: readonly Column[] = [
  ...replicaColumns,
  wideColumn('Selector', (object) => formatLabels(readPath(object, 'spec', 'selector'))),
];
const replicaFields = { 'status.replicas': countAt('status.replicas') };

/** Defaults of replicationcontrollers, whose selector and labels come from the template. */
function applyReplicationControllerDefaults(controller: KubeObject): void {
  const spec = ensureStruct(controller, 'spec');
  setAbsent(spec, { replicas: 1 });
  const template = readPointer(spec, 'template');
  if (template === undefined) return;
  applyTemplateDefaults(spec);
  const labels = readPointer(template, 'metadata')?.['labels'];
  if (isEmptyMap(labels)) return;
  if (isEmptyMap(spec['selector'])) spec['selector'] = { ...toObject(labels) };
  takeTemplateLabels(controller, labels);
}

/** Objects without labels have those of their template, also where a status without labels is put: upstream reads what it stores with its defaults. */
function keepTemplateLabels(controller: KubeObject): void {
  takeTemplateLabels(controller, toObject(readPath(controller, 'spec', 'template', 'metadata', 'labels')));
}

/** Validates replicationcontrollers. */
function validateReplicationController(controller: KubeObject): Errors {
  const spec = specOf(controller);
  const selector = toObject(readPath(spec.value, 'selector'));
  const errors: FieldError[] = [...checkNotNegative(at(spec, 'minReadySeconds'))];
  if (Object.keys(selector).length === 0) errors.push(required('spec.selector'));
  errors.push(...checkNotNegative(at(spec, 'replicas')));
  if (readPath(spec.value, 'template') === undefined) return [...errors, required('spec.template')];
  if (Object.keys(selector).length > 0) errors.push(...checkTemplateLabels(spec, { matchLabels: selector }));
  return [...errors, ...checkTemplate(spec, 'ReplicationController')];
}

const KEPT_PREFIX = 'non-convertible.kubernetes.io';

/** Annotations of a stored object name fields of older releases that an update may not lose; those of selectors keep the selector. */
function checkKept(controller: KubeObject, old: KubeObject): Errors {
  const [selector, before] = [controller, old].map((one) => at(specOf(one), 'selector')) as [Field, Field];
  const isSame = equalJson(selector.value ?? {}, before.value ?? {});
  return Object.entries(old.metadata.annotations ?? {}).filter(([key]) => key.startsWith(KEPT_PREFIX)).flatMap(([key, value]): Errors => {
    const [, field, ...rest] = key.split('/');
    if (field === undefined || rest.length > 0) return [];
    if (field.includes('selector')) return isSame ? [] : [invalidValue(selector.path, selector.value, 'cannot update non-convertible selector')];
    const missing = notFoundValue(field, value);
    return [{ ...missing, message: `${missing.message}: unknown non-convertible field` }];
  });
}

/** Status of a ReplicationController. */
function validateReplicaStatus(controller: KubeObject): Errors {
  const parts = ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas'];
  return checkCounts(controller, { counts: ['replicas', ...parts, 'observedGeneration'], parts });
}

/** The spec of ReplicationController. */
export const replicationControllerKind: KindSpec = {
  kind: 'ReplicationController', plural: 'replicationcontrollers', shortNames: ['rc'], categories: ['all'], nameRule: 'long-name',
  storagePrefix: 'controllers',
  defaultPropagation: 'Orphan', tracksGeneration: true,
  subresources: [scale, status], scale: scalePaths,
  selectableFields: replicaFields,
  metadataChecks: ['update', 'kind'],
  columns: replicationControllerColumns,
  ...gatePodSpec('spec.template.spec'),
  applyDefaults: applyReplicationControllerDefaults,
  strategy: { prepareForUpdate: keepTemplateLabels },
  validation: {
    object: validateReplicationController, status: validateReplicaStatus,
    update: (object, old) => [...validateReplicationController(object), ...checkKept(object, old)],
  },
  warnings: warnOfTemplate({ path: ['spec', 'template'], names: true }),
};
