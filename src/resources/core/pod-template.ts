// core/v1 PodTemplate.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, formatLabels, nameColumn } from '../common/columns/columns.ts';
import { containerColumns } from '../common/columns/workloads.ts';
import type { Errors } from '../common/validation/check.ts';
import { readPath } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { applyTemplateDefaults } from './pods/defaults/pod.ts';
import { gatePodSpec } from './pods/gated-fields.ts';
import { warnOfTemplate } from './pods/template.ts';
import { validatePodTemplateSpec } from './pods/validation/pod-spec.ts';

/** Columns of podtemplates. */
const podTemplateColumns: readonly Column[] = [
  nameColumn,
  ...containerColumns('template', 'spec').map((wide) => ({ ...wide, priority: 0 })),
  column('Pod Labels', (object) => formatLabels(readPath(object, 'template', 'metadata', 'labels'))),
];

/** Defaults of podtemplates. */
function applyPodTemplateDefaults(object: KubeObject): void {
  applyTemplateDefaults(object);
}

/** Validates podtemplates. */
function validatePodTemplate(template: KubeObject): Errors {
  return validatePodTemplateSpec({ path: 'template', value: template['template'] });
}

/** The spec of PodTemplate. */
export const podTemplateKind: KindSpec = {
  kind: 'PodTemplate', plural: 'podtemplates',
  returnsDeleted: true, tracksGeneration: true,
  metadataChecks: ['update', 'kind'],
  columns: podTemplateColumns,
  ...gatePodSpec('template.spec'),
  applyDefaults: applyPodTemplateDefaults,
  validation: { object: validatePodTemplate },
  warnings: warnOfTemplate({ path: ['template'] }),
};
