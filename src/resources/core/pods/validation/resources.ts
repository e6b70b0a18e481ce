// Validation of the requests, limits and resource claims of containers and pods.
import {
  type FieldError, type ResourceList, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, duplicate, forbiddenField, invalidTyped, invalidValue,
  notFoundValue, notSupported, required,
} from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkLabelName, checkText, each, isEmptyText, isFilled, isGiven } from '../../../common/validation/check.ts';
import { checkNatural, checkWhole, compareAt, entriesOf, roundUpToWhole, showQuantity } from '../../../common/validation/quantities.ts';
import { checkResourceName } from '../../../common/validation/resource-names.ts';
import { readPath, toObject, toText } from '../../../common/values.ts';
import { totalOf } from '../totals.ts';
import { showPodPart } from './parts.ts';

/** An entry of a list of resources. */
export type Entry = Field & { readonly name: string };
const HUGE_PREFIX = 'hugepages-';
const containerNames = ['cpu', 'memory', 'ephemeral-storage'];
const isHuge = (name: string): boolean => name.startsWith(HUGE_PREFIX);
const isNative = (name: string): boolean => !name.includes('/') || name.split('/')[0]?.endsWith('kubernetes.io') === true;

/** Whether a name is that of an extended resource. */
export const isExtendedName = (name: string): boolean =>
  !isNative(name) && !name.startsWith('requests.') && checkQualifiedName(`requests.${name}`).length === 0;

/** Whether a resource can be overcommitted. */
export const canOvercommit = (name: string): boolean => isNative(name) && !isHuge(name);

/** The name of a resource in a container. */
export function checkContainerResource({ path, name }: Entry): Errors {
  const problems = checkResourceName(path, name);
  if (name.includes('/')) {
    // Extended resources have domains of their own, which fit into the name of a quota.
    const isExtended = isNative(name) || isExtendedName(name);
    return isExtended ? problems : [...problems, invalidTyped(path, name, "doesn't follow extended resource name standard")];
  }
  const isForContainers = containerNames.includes(name) || isHuge(name);
  return isForContainers ? problems : [...problems, invalidTyped(path, name, 'must be a standard resource for containers')];
}

const checkValue = (entry: Entry): Errors => [...checkNatural(entry), ...(isNative(entry.name) ? [] : checkWhole(entry))];

function checkPages(entry: Entry): Errors {
  if (!isHuge(entry.name)) return [];
  const size = { path: '', value: entry.name.slice(HUGE_PREFIX.length) };
  try {
    const page = checkWhole(size).length === 0 ? roundUpToWhole(size) : 0n;
    if (page > 0n && roundUpToWhole(entry) % page === 0n) return [];
  } catch {
    // A page size that is no quantity has no multiples.
  }
  return [invalidValue(entry.path, showQuantity(entry), `${showQuantity(entry)} is not positive integer multiple of ${entry.name}`)];
}

function checkRequest(request: Entry, limits: Field): Errors {
  const limit = at(limits, request.name);
  const requests = request.path.slice(0, request.path.lastIndexOf('['));
  if (limit.value === undefined) return canOvercommit(request.name) ? [] : [required(limits.path, 'Limit must be set for non overcommitable resources')];
  const order = compareAt(request, limit);
  const isExact = !canOvercommit(request.name);
  if (isExact ? order === 0 : order <= 0) return [];
  const relation = isExact ? 'must be equal to' : 'must be less than or equal to';
  return [invalidValue(requests, showQuantity(request), `${relation} ${request.name} limit of ${showQuantity(limit)}`)];
}

/** Validates `resources` of a container. */
export function checkResources(resources: Field, claims: ReadonlySet<string> = new Set()): Errors {
  return checkRequirements(resources, claims, checkContainerResource);
}

/** Requests, limits and claims, whose names a check is given for. */
function checkRequirements(resources: Field, claims: ReadonlySet<string>, checkName: (entry: Entry) => Errors): Errors {
  const limits = at(resources, 'limits');
  const [limited, requested] = [entriesOf(limits), entriesOf(at(resources, 'requests'))];
  const errors: FieldError[] = limited.flatMap((entry) => [...checkName(entry), ...checkValue(entry), ...checkPages(entry)]);
  for (const entry of requested) {
    errors.push(...checkName(entry), ...checkValue(entry), ...checkRequest(entry, limits), ...checkPages(entry));
  }
  const names = [...limited, ...requested].map(({ name }) => name);
  const isBare = names.some(isHuge) && !names.some((name) => name === 'cpu' || name === 'memory');
  if (isBare) errors.push(forbiddenField(resources.path, 'HugePages require cpu or memory'));
  return [...errors, ...checkClaimNames(at(resources, 'claims'), claims)];
}

/** The claims that a container uses: unique, as a whole or by request. */
function checkClaimNames(list: Field, claims: ReadonlySet<string>): Errors {
  const keys = new Set<string>();
  const known = claims.size === 0 ? ' which is empty' : `: ${[...claims].sort().join(', ')}`;
  return each(list).flatMap((claim): Errors => {
    const [name, request] = [toText(readPath(claim.value, 'name')), at(claim, 'request')];
    if (name === '') return [required(claim.path)];
    const errors: FieldError[] = [];
    const key = isEmptyText(request) ? name : `${name}/${toText(request.value)}`;
    if (keys.has(name)) errors.push(duplicate(claim.path, name));
    else {
      if (!isEmptyText(request)) errors.push(...checkText(request, checkDnsLabel));
      const isPartlyUsed = key === name && [...keys].some((used) => used.startsWith(`${name}/`));
      if (keys.has(key) || isPartlyUsed) errors.push(duplicate(claim.path, keys.has(key) ? key : name));
      keys.add(key);
    }
    if (claims.has(name)) return errors;
    const missing = notFoundValue(claim.path, name);
    return [...errors, { ...missing, message: `${missing.message}: must be one of the names in pod.spec.resourceClaims${known}` }];
  });
}

const claimSources = ['resourceClaimName', 'resourceClaimTemplateName'];

/** Validates the claims of a pod. */
export function checkResourceClaims(list: Field): Errors {
  const names = new Set<string>();
  return each(list).flatMap((claim) => {
    const name = at(claim, 'name');
    const text = toText(name.value);
    const given = claimSources.map((source) => at(claim, source)).filter(isGiven);
    const shown = showPodPart('PodResourceClaim', claim.value);
    const errors: FieldError[] = names.has(text) ? [duplicate(name.path, text)] : [...checkLabelName(name)];
    if (text !== '') names.add(text);
    if (given.length > 1) errors.push(invalidValue(claim.path, shown, 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'));
    if (given.length === 0) errors.push(invalidValue(claim.path, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'));
    return [...errors, ...given.flatMap((place) => checkText(place, checkDnsSubdomain))];
  });
}

const podNames = ['cpu', 'memory'];

function checkPodName({ path, name }: Entry): Errors {
  const problems = checkResourceName(path, name);
  if (problems.length > 0) return problems;
  return podNames.includes(name) || isHuge(name) ? [] : [notSupported(path, name, [...podNames, HUGE_PREFIX])];
}

/** Validates the resources of a pod: the sum of its containers must fit into them. */
export function checkPodResources(spec: Field, known: ReadonlySet<string>): Errors {
  const resources = at(spec, 'resources');
  if (!isGiven(resources)) return [];
  if (readPath(spec.value, 'os', 'name') === 'windows') return [forbiddenField(resources.path, 'may not be set for a windows pod')];
  const claims = at(resources, 'claims');
  return [
    ...(isGiven(claims) ? [forbiddenField(claims.path, 'claims may not be set for Resources at pod-level')] : []),
    ...checkRequirements(resources, known, checkPodName), ...checkTotals(spec, { limits: at(resources, 'limits'), requests: at(resources, 'requests') }),
  ];
}

/** What the containers request together must fit into the pod, and so must the huge pages and the limits of each. */
function checkTotals(spec: Field, { limits, requests }: { readonly limits: Field; readonly requests: Field }): Errors {
  const checkTotal = (list: Field, name: ResourceList): Errors => [...totalOf(toObject(spec.value), name)].flatMap(([resource, amount]) => {
    const own = at(list, resource);
    const isChecked = isFilled(own) && (name === 'requests' || isHuge(resource));
    const total = { path: '', value: amount };
    if (!isChecked || compareAt(total, own) <= 0) return [];
    return [invalidValue(`${list.path}[${resource}]`, showQuantity(own), `must be greater than or equal to aggregate container ${name} of ${amount}`)];
  });
  const ofContainers = each(at(spec, 'containers')).flatMap((container, index) => entriesOf(at(container, 'resources', 'limits')).flatMap((entry) => {
    const own = at(limits, entry.name);
    if (!isFilled(own) || compareAt(entry, own) <= 0) return [];
    const path = `${at(spec, 'resources').path}.containers[${index}][${entry.name}].limits`;
    return [invalidValue(path, showQuantity(entry), `must be less than or equal to pod limits of ${showQuantity(own)}`)];
  }));
  return [...checkTotal(requests, 'requests'), ...checkTotal(limits, 'limits'), ...ofContainers];
}
