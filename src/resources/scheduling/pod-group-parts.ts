// What PodGroups and the templates of Workloads have in common: a policy, constraints, claims on devices, how they are disrupted, and a priority.
import {
  type FieldError, type JsonObject, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, duplicate, equalJson, invalidValue, required, tooMany,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkText, each, isEmptyText, isGiven, none } from '../common/validation/check.ts';
import { toNumber, toText } from '../common/values.ts';
import type { GatedField } from '../kind-spec.ts';

const MAX_CLAIMS = 4;
const MAX_CONSTRAINTS = 1;
const MAX_PRIORITY = 1_000_000_000;

const groupGates: readonly (readonly [gate: string, name: string])[] = [
  ['TopologyAwareWorkloadScheduling', 'schedulingConstraints'], ['DRAWorkloadResourceClaims', 'resourceClaims'],
  ['WorkloadAwarePreemption', 'disruptionMode'], ['WorkloadAwarePreemption', 'priorityClassName'], ['WorkloadAwarePreemption', 'priority'],
];

/** The fields that belong to features of their own, below a path; `otherwise` are the values that readers find in their place. */
export function gatedGroupFields(path: string, otherwise: Readonly<Record<string, string>>): readonly GatedField[] {
  return groupGates.map(([gate, name]) => [gate, `${path}.${name}${Object.hasOwn(otherwise, name) ? `=${otherwise[name]}` : ''}`]);
}

/** The gate that permits a field of a group; undefined where none is needed. Claims are dropped without it, and refused never. */
export function gateOf(name: string): string | undefined {
  return groupGates.find(([, gated]) => gated === name && gated !== 'resourceClaims')?.[0];
}

/** The text is required and has a form. */
export function checkRequiredText(place: Field, check: (text: string) => readonly string[]): Errors {
  return isEmptyText(place) ? [required(place.path)] : checkText(place, check);
}

/** The text, where there is any, has a form. */
export function checkFilledText(place: Field, check: (text: string) => readonly string[]): Errors {
  return isEmptyText(place) ? none : checkText(place, check);
}

/** Exactly one of the members is there. */
export function checkUnion(place: Field, members: readonly string[]): Errors {
  const given = members.filter((name) => isGiven(at(place, name)));
  const all = members.map((name) => `\`${name}\``).join(', ');
  if (given.length === 0) return [invalidValue(place.path, '', `must specify one of: ${all}`)];
  return given.length === 1 ? none : [invalidValue(place.path, `{${given.join(', ')}}`, `must specify exactly one of: ${all}`)];
}

/** A list with a bound whose elements have names of their own; a list that is too long has that error alone. `show` is how an element is printed. */
export function checkNamedList(list: Field, max: number, { check, show }: {
  readonly check: (element: Field) => Errors; readonly show: (element: JsonObject) => unknown;
}): Errors {
  const elements = each(list);
  if (elements.length > max) return [tooMany(list.path, elements.length, max)];
  const names = elements.map((element) => toText(at(element, 'name').value));
  const twice = elements.filter((_, index) => names.indexOf(names[index] as string) < index);
  return [...twice.map(({ path, value }): FieldError => duplicate(path, show((value ?? {}) as JsonObject))), ...elements.flatMap(check)];
}

/** A change of a field that cannot change; the message does not repeat the value. */
export function checkUnchanged(place: Field, old: Field): Errors {
  return equalJson(place.value ?? null, old.value ?? null) ? none : [invalidValue(place.path, null, 'field is immutable')];
}

/** The policy by which the pods of a group are scheduled. */
export function checkPolicy(policy: Field): Errors {
  const [gang, count] = [at(policy, 'gang'), at(policy, 'gang', 'minCount')];
  const wrong = toNumber(count.value ?? 0) === 0 ? [required(count.path)] : toNumber(count.value) < 1 ? [tooSmall(count, 1)] : none;
  return [...checkUnion(policy, ['basic', 'gang']), ...(isGiven(gang) ? wrong : none)];
}

const tooSmall = ({ path, value }: Field, least: number): FieldError => invalidValue(path, value, `must be greater than or equal to ${least}`);

/** An element with its members in the order of the reference. */
export const inOrder = (element: JsonObject, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => element[name] !== undefined).map((name) => [name, element[name]])) as JsonObject;

const showClaim = (claim: JsonObject): JsonObject => inOrder(claim, 'name', 'resourceClaimName', 'resourceClaimTemplateName');

/** The number of the claims is that of the fields of a group. */
export function countClaims(claims: Field): Errors {
  const count = each(claims).length;
  return count > MAX_CLAIMS ? [tooMany(claims.path, count, MAX_CLAIMS)] : none;
}

/** The statuses of claims; names of claims that were made are those of objects. */
export function checkClaimStatuses(list: Field): Errors {
  return checkNamedList(list, MAX_CLAIMS, {
    check: (element) => checkGivenName(at(element, 'resourceClaimName')), show: (element) => inOrder(element, 'name', 'resourceClaimName'),
  });
}

const checkGivenName = (place: Field): Errors => (isGiven(place) ? checkText(place, checkDnsSubdomain) : none);

function checkClaim(claim: Field): Errors {
  return [
    ...checkUnion(claim, ['resourceClaimName', 'resourceClaimTemplateName']), ...checkRequiredText(at(claim, 'name'), checkDnsLabel),
    ...checkGivenName(at(claim, 'resourceClaimName')), ...checkGivenName(at(claim, 'resourceClaimTemplateName')),
  ];
}

function checkConstraints(topology: Field): Errors {
  const constraints = each(topology);
  if (constraints.length > MAX_CONSTRAINTS) return [tooMany(topology.path, constraints.length, MAX_CONSTRAINTS)];
  return constraints.flatMap((constraint) => checkRequiredText(at(constraint, 'key'), checkQualifiedName));
}

/** What a group says besides its name and where it comes from; the fields of features that are off are gone by now. */
export function checkGroup(group: Field): Errors {
  const priority = at(group, 'priority');
  const isHigh = isGiven(priority) && toNumber(priority.value) > MAX_PRIORITY;
  return [
    ...checkPolicy(at(group, 'schedulingPolicy')), ...checkConstraints(at(group, 'schedulingConstraints', 'topology')),
    ...checkNamedList(at(group, 'resourceClaims'), MAX_CLAIMS, { check: checkClaim, show: showClaim }),
    ...checkGivenOneOf(at(group, 'disruptionMode'), ['Pod', 'PodGroup']), ...checkFilledText(at(group, 'priorityClassName'), checkDnsSubdomain),
    ...(isHigh ? [invalidValue(priority.path, priority.value, `must be less than or equal to ${MAX_PRIORITY}`)] : none),
  ];
}
