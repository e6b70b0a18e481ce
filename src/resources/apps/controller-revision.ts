// apps/v1 ControllerRevision: data that never changes.
import { isJsonObject } from '../../base/index.ts';
import { type KubeObject, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { countColumn } from '../common/columns/workloads.ts';
import { sameAs } from '../common/former-versions.ts';
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

const checkNumber = (revision: KubeObject): Errors => checkNotNegative({ path: 'revision', value: revision['revision'] });

/** Validates controllerrevisions. */
function validateControllerRevision(revision: KubeObject): Errors {
  return [...checkNumber(revision), ...checkData(revision['data'])];
}

function checkData(data: unknown): Errors {
  if (data === undefined || data === null) return [required('data', 'data is mandatory')];
  return isJsonObject(data) ? [] : [required('data', 'data must be a valid JSON object')];
}

/** Validates updates of controllerrevisions. */
function validateControllerRevisionUpdate(revision: KubeObject, old: KubeObject): Errors {
  return [...checkNumber(revision), ...checkImmutable({ path: 'data', value: revision['data'] }, { path: 'data', value: old['data'] })];
}

/** The spec of ControllerRevision. */
export const controllerRevisionKind: KindSpec = {
  kind: 'ControllerRevision', plural: 'controllerrevisions',
  formerVersions: sameAs('apps/v1beta1', 'apps/v1beta2'),
  metadataChecks: ['update', 'object', 'kind'],
  columns: controllerRevisionColumns,
  validation: { object: validateControllerRevision, update: validateControllerRevisionUpdate },
};
