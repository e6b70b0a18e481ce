// apps/v1 ControllerRevision: data that never changes.
import { type FieldError, type KubeObject, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { countColumn } from '../common/columns/workloads.ts';
import { type Errors, checkImmutable, checkNotNegative } from '../common/validation/check.ts';
import type { KindSpec } from '../kind-spec.ts';

function formatController(object: KubeObject): string {
  const controller = object.metadata?.ownerReferences?.find((owner) => owner.controller === true);
  if (controller === undefined) return '<none>';
  const group = controller.apiVersion.includes('/') ? controller.apiVersion.slice(0, controller.apiVersion.indexOf('/')) : '';
  const kind = `${controller.kind}${group === '' ? '' : `.${group}`}`.toLowerCase();
  return kind === '' ? controller.name : `${kind}/${controller.name}`;
}

/** Columns of controllerrevisions. */
const controllerRevisionColumns: readonly Column[] = withNameAndAge(
  column('Controller', formatController),
  countColumn('Revision', 'revision'),
);

/** Validates controllerrevisions. */
function validateControllerRevision(revision: KubeObject): Errors {
  const data: FieldError[] = (revision['data'] ?? undefined) === undefined ? [required('data', 'data is mandatory')] : [];
  return [...data, ...checkNotNegative({ path: 'revision', value: revision['revision'] })];
}

/** Validates updates of controllerrevisions. */
function validateControllerRevisionUpdate(revision: KubeObject, old: KubeObject): Errors {
  return [...validateControllerRevision(revision), ...checkImmutable({ path: 'data', value: revision['data'] }, { path: 'data', value: old['data'] })];
}

/** The spec of ControllerRevision. */
export const controllerRevisionKind: KindSpec = {
  kind: 'ControllerRevision', plural: 'controllerrevisions',
  metadataChecks: ['update', 'kind', 'object'],
  columns: controllerRevisionColumns,
  validation: { object: validateControllerRevision, update: validateControllerRevisionUpdate },
};
