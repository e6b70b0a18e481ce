// scheduling.k8s.io/v1alpha2 PodGroup: pods that are scheduled together, made from a template of a Workload or without one; off by default.
import { type KubeObject, checkDnsLabel, checkDnsSubdomain, forbiddenField, invalidValue } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, readCondition, textIfSet, withNameAndAge } from '../common/columns/columns.ts';
import { keepUserMetadata } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at, each, isGiven, none, specOf, statusOf } from '../common/validation/check.ts';
import { checkConditions } from '../common/validation/conditions.ts';
import { readPath, toText } from '../common/values.ts';
import type { KindSpec, UpdateCircumstances } from '../kind-spec.ts';
import {
  checkClaimStatuses, checkGroup, checkRequiredText, checkUnchanged, checkUnion, countClaims, gateOf, gatedGroupFields,
} from './pod-group-parts.ts';

/** That a group is disrupted says more than whether it was scheduled. */
function formatState(group: KubeObject): string {
  const disruption = readCondition(group, 'DisruptionTarget');
  if (disruption !== undefined) return toText(disruption['reason']);
  const scheduled = readCondition(group, 'PodGroupScheduled');
  if (scheduled === undefined) return 'Pending';
  return scheduled['status'] === 'True' ? 'Scheduled' : 'Unschedulable';
}

const groupColumns: readonly Column[] = withNameAndAge(
  column('Policy', (group) => (readPath(group, 'spec', 'schedulingPolicy', 'gang') === undefined ? 'Basic' : 'Gang')),
  column('Workload', (group) => textIfSet(readPath(group, 'spec', 'podGroupTemplateRef', 'workload', 'workloadName'), '<none>')),
  column('Status', formatState),
);

function checkTemplateReference(reference: Field): Errors {
  const workload = at(reference, 'workload');
  if (!isGiven(reference)) return none;
  if (!isGiven(workload)) return checkUnion(reference, ['workload']);
  return [
    ...checkRequiredText(at(workload, 'workloadName'), checkDnsSubdomain), ...checkRequiredText(at(workload, 'podGroupTemplateName'), checkDnsLabel),
  ];
}

const validateGroup = (group: KubeObject): Errors => [...checkTemplateReference(at(specOf(group), 'podGroupTemplateRef')), ...checkGroup(specOf(group))];

const members = ['podGroupTemplateRef', 'schedulingPolicy', 'schedulingConstraints', 'resourceClaims', 'disruptionMode', 'priorityClassName', 'priority'];

/** Nothing of the spec changes, and what belongs to a feature that is off is not even there; the number of claims is looked at wherever they would. */
function checkSameGroup(group: KubeObject, old: KubeObject, { isGateOn }: UpdateCircumstances): Errors {
  return members.flatMap((name) => {
    const [place, gate] = [at(specOf(group), name), gateOf(name)];
    const changed = checkUnchanged(place, at(specOf(old), name));
    if (changed.length > 0 && gate !== undefined && !isGateOn(gate)) return isGiven(place) ? [forbiddenField(place.path, '')] : none;
    return name === 'resourceClaims' && changed.length > 0 ? [...changed, ...countClaims(place)] : changed;
  });
}

function validateGroupStatus(group: KubeObject): Errors {
  const statuses = at(statusOf(group), 'resourceClaimStatuses');
  const claims = new Set(each(at(specOf(group), 'resourceClaims')).map((claim) => toText(at(claim, 'name').value)));
  const unknown = each(statuses).map((one) => at(one, 'name')).filter(({ value }) => !claims.has(toText(value)));
  return [
    ...checkConditions(at(statusOf(group), 'conditions')),
    ...unknown.map(({ path, value }) => invalidValue(path, toText(value), 'must match the name of an entry in `spec.resourceClaims`')),
    ...checkClaimStatuses(statuses),
  ];
}

/** The spec of PodGroup. */
export const podGroupKind: KindSpec = {
  kind: 'PodGroup', plural: 'podgroups', versions: ['v1alpha2'], gate: 'GenericWorkload',
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  resetFields: { '': [], status: [['metadata'], ['spec']] },
  gatedFields: [...gatedGroupFields('spec', { disruptionMode: '"Pod"' }), ['DRAWorkloadResourceClaims', 'status.resourceClaimStatuses']],
  columns: groupColumns,
  strategy: keepUserMetadata,
  validation: { object: validateGroup, update: checkSameGroup, status: validateGroupStatus },
};
