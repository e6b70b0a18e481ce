// Validation of resourcequotas and limitranges: names of resources that can be counted, and bounds that fit each other.
import { type FieldError, type KubeObject, checkQualifiedName, duplicate, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import { readPath, toList, toText } from '../columns/common.ts';
import { type Errors, type Place, at, checkText, each } from './check.ts';
import { checkNatural, checkWhole, compareAt, entriesOf, showQuantity } from './quantities.ts';

const computeNames = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];
const countNames = [
  'pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps', 'persistentvolumeclaims', 'services.nodeports',
  'services.loadbalancers',
];
const storageNames = ['ephemeral-storage', 'requests.ephemeral-storage', 'limits.ephemeral-storage', 'requests.storage', 'storage'];
const hugePages = /^(?:requests\.)?hugepages-/;

const isStandardName = (name: string): boolean => [...computeNames, ...countNames, ...storageNames].includes(name) || hugePages.test(name);
const isQuotaName = (name: string): boolean => isStandardName(name) && name !== 'storage';

/** The name of a resource: qualified, and one of the known ones unless somebody's own. */
function checkResourceName(path: string, name: string): Errors {
  const problems = checkText({ path, value: name }, checkQualifiedName);
  if (problems.length > 0 || name.includes('/')) return problems;
  return isStandardName(name) ? [] : [invalidValue(path, name, 'must be a standard resource type or fully qualified')];
}

/** The name of a resource of a quota. */
function checkQuotaName(path: string, name: string): Errors {
  const errors = checkResourceName(path, name);
  return name.includes('/') || isQuotaName(name) ? errors : [...errors, invalidValue(path, name, 'must be a standard resource for quota')];
}

function checkHard(list: Place): Errors {
  return entriesOf(list).flatMap((entry) => [
    ...checkQuotaName(entry.path, entry.name), ...checkNatural(entry), ...(countNames.includes(entry.name) ? checkWhole(entry) : []),
  ]);
}

const podScopes = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'];
const volumeScope = 'VolumeAttributesClass';

function coversResource(scope: string, name: string): boolean {
  if (scope === 'BestEffort') return name === 'pods';
  if (scope === volumeScope) return name === 'persistentvolumeclaims' || name === 'requests.storage';
  return name === 'pods' || computeNames.includes(name);
}

function checkScopes(quota: Place): Errors {
  const place = at(quota, 'scopes');
  const scopes = toList(place.value).map(toText);
  const names = entriesOf(at(quota, 'hard')).map(({ name }) => name).filter(isQuotaName);
  const errors: FieldError[] = [];
  for (const scope of scopes) {
    if (scope !== 'BestEffort' && scope !== volumeScope && !podScopes.includes(scope)) errors.push(invalidValue(place.path, scopes, 'unsupported scope'));
    else for (const name of names) if (!coversResource(scope, name)) errors.push(invalidValue(place.path, scopes, 'unsupported scope applied to resource'));
  }
  for (const pair of [['BestEffort', 'NotBestEffort'], ['Terminating', 'NotTerminating']]) {
    if (pair.every((scope) => scopes.includes(scope))) errors.push(invalidValue(place.path, scopes, 'conflicting scopes'));
  }
  return errors;
}

/** Validates resourcequotas. */
export function validateResourceQuota(quota: KubeObject): Errors {
  const spec: Place = { path: 'spec', value: quota['spec'] };
  return [...checkHard(at(spec, 'hard')), ...checkScopes(spec)];
}

/** Validates what the status path of resourcequotas writes. */
export function validateResourceQuotaStatus(quota: KubeObject): Errors {
  const status: Place = { path: 'status', value: quota['status'] };
  return [...checkHard(at(status, 'hard')), ...checkHard(at(status, 'used'))];
}

/** What a limit says of one resource. */
interface Bounds {
  readonly min: Place | undefined;
  readonly max: Place | undefined;
  readonly request: Place | undefined;
  readonly limit: Place | undefined;
  readonly ratio: Place | undefined;
}

type Comparison = readonly [less: Place | undefined, more: Place | undefined, shown: Place | undefined, text: (less: string, more: string) => string];

/** Pairs of which the first may not exceed the second; where a broken one is shown is the reference's choice. */
function listComparisons({ min, max, request, limit }: Bounds): readonly Comparison[] {
  return [
    [min, max, min, (less, more) => `min value ${less} is greater than max value ${more}`],
    [min, request, request, (less, more) => `min value ${less} is greater than default request value ${more}`],
    [request, max, request, (less, more) => `default request value ${less} is greater than max value ${more}`],
    [request, limit, request, (less, more) => `default request value ${less} is greater than default limit value ${more}`],
    [min, limit, min === undefined || limit === undefined ? undefined : { path: limit.path, value: min.value },
      (less, more) => `min value ${less} is greater than default value ${more}`],
    [limit, max, limit === undefined || max === undefined ? undefined : { path: limit.path, value: max.value },
      (less, more) => `default value ${less} is greater than max value ${more}`],
  ];
}

function checkBounds(bounds: Bounds): Errors {
  const errors: FieldError[] = [];
  for (const [less, more, shown, text] of listComparisons(bounds)) {
    if (less === undefined || more === undefined || shown === undefined || compareAt(less, more) <= 0) continue;
    errors.push(invalidValue(shown.path, showQuantity(shown), text(showQuantity(less), showQuantity(more))));
  }
  const { ratio } = bounds;
  const isSmall = ratio !== undefined && compareAt(ratio, { path: '', value: '1' }) < 0;
  return isSmall ? [...errors, invalidValue(ratio.path, showQuantity(ratio), `ratio ${showQuantity(ratio)} is less than 1`)] : errors;
}

function checkLimit(limit: Place): Errors {
  const type = toText(readPath(limit.value, 'type'));
  const lists = { min: 'min', max: 'max', request: 'defaultRequest', limit: 'default', ratio: 'maxLimitRequestRatio' } as const;
  const entries = Object.entries(lists).map(([key, name]) => [key, new Map(entriesOf(at(limit, name)).map((entry) => [entry.name, entry]))] as const);
  const errors: FieldError[] = [];
  if (type === 'Pod') {
    for (const name of ['default', 'defaultRequest']) {
      if (entriesOf(at(limit, name)).length > 0) errors.push(forbiddenField(at(limit, name).path, "may not be specified when `type` is 'Pod'"));
    }
  }
  if (type === 'PersistentVolumeClaim' && ['min', 'max'].every((name) => at(limit, name, 'storage').value === undefined)) {
    errors.push(required(`${limit.path}.limits`, 'either minimum or maximum storage value is required, but neither was provided'));
  }
  const names = new Set(entries.flatMap(([, byName]) => [...byName.keys()]));
  for (const name of [...names].sort()) {
    const bounds = Object.fromEntries(entries.map(([key, byName]) => [key, byName.get(name)])) as unknown as Bounds;
    errors.push(...checkBounds(type === 'Pod' ? { ...bounds, request: undefined, limit: undefined } : bounds));
  }
  return errors;
}

/** Validates limitranges. */
export function validateLimitRange(range: KubeObject): Errors {
  const types = new Set<string>();
  return each(at({ path: 'spec', value: range['spec'] }, 'limits')).flatMap((limit): Errors => {
    const type = at(limit, 'type');
    const text = toText(type.value);
    const errors: FieldError[] = [...checkText(type, checkQualifiedName)];
    if (types.has(text)) errors.push(duplicate(type.path, text));
    types.add(text);
    return [...errors, ...checkLimit(limit)];
  });
}

