// scheduling.k8s.io/v1alpha2 Workload: templates of the pod groups of a controller's object; off by default. It never changes.
import { type JsonObject, type KubeObject, checkDnsLabel, checkDnsSubdomain, checkPathSegment, required, tooMany } from '../../apimachinery/index.ts';
import { nameAndAgeColumns } from '../common/columns/columns.ts';
import { type Errors, type Field, at, each, isGiven, none, specOf } from '../common/validation/check.ts';
import type { KindSpec } from '../kind-spec.ts';
import {
  checkFilledText, checkGroup, checkNamedList, checkRequiredText, checkUnchanged, gatedGroupFields, inOrder,
} from './pod-group-parts.ts';

const MAX_TEMPLATES = 8;

function checkController(controller: Field): Errors {
  if (!isGiven(controller)) return none;
  return [
    ...checkFilledText(at(controller, 'apiGroup'), checkDnsSubdomain), ...checkRequiredText(at(controller, 'kind'), checkPathSegment),
    ...checkRequiredText(at(controller, 'name'), checkPathSegment),
  ];
}

/** Constraints are printed where there are none, too. */
const showTemplate = (template: JsonObject): JsonObject => inOrder(
  { schedulingConstraints: null, ...template }, 'name', 'schedulingPolicy', 'schedulingConstraints', 'resourceClaims', 'disruptionMode', 'priorityClassName',
  'priority',
);

function validateWorkload(workload: KubeObject): Errors {
  const [controller, templates] = [at(specOf(workload), 'controllerRef'), at(specOf(workload), 'podGroupTemplates')];
  const check = (template: Field): Errors => [...checkRequiredText(at(template, 'name'), checkDnsLabel), ...checkGroup(template)];
  const isMissing = each(templates).length === 0;
  return [
    ...checkController(controller), ...(isMissing ? [required(templates.path)] : checkNamedList(templates, MAX_TEMPLATES, { check, show: showTemplate })),
  ];
}

function checkSameWorkload(workload: KubeObject, old: KubeObject): Errors {
  const pair = (name: string): [Field, Field] => [at(specOf(workload), name), at(specOf(old), name)];
  const [templates] = pair('podGroupTemplates');
  const count = each(templates).length;
  const changed = checkUnchanged(...pair('podGroupTemplates'));
  const bounds = count === 0 ? [required(templates.path)] : count > MAX_TEMPLATES ? [tooMany(templates.path, count, MAX_TEMPLATES)] : none;
  return [...checkUnchanged(...pair('controllerRef')), ...changed, ...(changed.length > 0 ? bounds : none)];
}

/** The spec of Workload. */
export const workloadKind: KindSpec = {
  kind: 'Workload', plural: 'workloads', versions: ['v1alpha2'], gate: 'GenericWorkload',
  metadataChecks: ['update', 'kind'],
  gatedFields: gatedGroupFields('spec.podGroupTemplates[]', { schedulingConstraints: 'null' }),
  columns: nameAndAgeColumns,
  validation: { object: validateWorkload, update: checkSameWorkload },
};
