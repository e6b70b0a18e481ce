// core/v1 LimitRange: resources that each type of limit may name, and bounds that agree with each other.
import { type FieldError, type KubeObject, checkQualifiedName, duplicate, forbiddenField, invalidValue, required } from '../../apimachinery/index.ts';
import { mergeMissing, readPointer, readStructs, roundResources } from '../common/defaults.ts';
import { type Errors, type Field, at, checkTypedText, each } from '../common/validation/check.ts';
import { compareAt, entriesOf, roundUpToWhole, showQuantity } from '../common/validation/quantities.ts';
import { checkResourceName } from '../common/validation/resource-names.ts';
import { readPath, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { type Entry, canOvercommit, checkContainerResource } from './pods/validation/resources.ts';

/** Defaults of limitranges: limits follow the maximum, requests the limits, then the minimum. */
function applyLimitRangeDefaults(range: KubeObject): void {
  for (const limit of readStructs(readPointer(range, 'spec'), 'limits')) {
    roundResources(limit, 'max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio');
    if (limit['type'] !== 'Container') continue;
    const limits = mergeMissing(limit['default'], limit['max']);
    const requests = mergeMissing(mergeMissing(limit['defaultRequest'], limits), limit['min']);
    if (Object.keys(limits).length > 0) limit['default'] = limits;
    if (Object.keys(requests).length > 0) limit['defaultRequest'] = requests;
  }
}

/** The bounds that a limit has for one resource. */
interface Bounds {
  readonly min: Field | undefined;
  readonly max: Field | undefined;
  readonly request: Field | undefined;
  readonly limit: Field | undefined;
  readonly ratio: Field | undefined;
}

type Comparison = readonly [less: Field | undefined, more: Field | undefined, shown: Field | undefined, text: (less: string, more: string) => string];

/** Pairs of bounds of which the first may not exceed the second, with the member whose path the error has. */
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
  return [...errors, ...checkRatio(bounds)];
}

/** From this value on the reference counts whole units instead of thousandths. */
const MAX_MILLI_VALUE = 9_223_372_036_854_775n;

function checkRatio({ min, max, ratio }: Bounds): FieldError[] {
  if (ratio === undefined) return [];
  const refuse = (text: string): FieldError => invalidValue(ratio.path, showQuantity(ratio), `ratio ${showQuantity(ratio)} ${text}`);
  const errors = compareAt(ratio, { path: '', value: '1' }) < 0 ? [refuse('is less than 1')] : [];
  if (min === undefined || max === undefined) return errors;
  const isSmall = [min, max, ratio].every((place) => roundUpToWhole(place) < MAX_MILLI_VALUE);
  const count = (place: Field): number => Number(isSmall ? roundUpToWhole(place, -3) : roundUpToWhole(place));
  const limit = count(max) / count(min);
  return (isSmall ? count(ratio) / 1000 : count(ratio)) > limit ? [...errors, refuse(`is greater than max/min = ${limit.toFixed(6)}`)] : errors;
}

/** The default request of a resource that cannot be overcommitted equals its default limit. */
function checkExact({ request, limit }: Bounds, name: string): Errors {
  if (canOvercommit(name) || request === undefined || limit === undefined || compareAt(limit, request) === 0) return [];
  const text = `default value ${showQuantity(limit)} must equal to defaultRequest value ${showQuantity(request)} in ${name}`;
  return [invalidValue(request.path, showQuantity(request), text)];
}

const isContainerType = (type: string): boolean => type === 'Pod' || type === 'Container';
const checkName = (entry: Entry, type: string): Errors => (isContainerType(type) ? checkContainerResource(entry) : checkResourceName(entry.path, entry.name));

function checkLimit(limit: Field): Errors {
  const type = toText(readPath(limit.value, 'type'));
  const lists = { max: 'max', min: 'min', limit: 'default', request: 'defaultRequest', ratio: 'maxLimitRequestRatio' } as const;
  const entries = Object.entries(lists).map(([key, name]) => ({ key, name, list: entriesOf(at(limit, name)) }));
  const isUnbound = type === 'PersistentVolumeClaim' && ['min', 'max'].every((name) => at(limit, name, 'storage').value === undefined);
  const text = 'either minimum or maximum storage value is required, but neither was provided';
  const errors: FieldError[] = entries.flatMap(({ key, name, list }): Errors => {
    const missing = key === 'ratio' && isUnbound ? [required(`${limit.path}.limits`, text)] : [];
    if (type !== 'Pod' || !name.startsWith('default')) return [...missing, ...list.flatMap((entry) => checkName(entry, type))];
    return list.length > 0 ? [forbiddenField(at(limit, name).path, "may not be specified when `type` is 'Pod'")] : [];
  });
  const counted = entries.filter(({ name }) => type !== 'Pod' || !name.startsWith('default'));
  const names = new Set(counted.flatMap(({ list }) => list.map(({ name }) => name)));
  const byKey = counted.map(({ key, list }) => [key, new Map(list.map((entry) => [entry.name, entry]))] as const);
  for (const name of [...names].sort()) {
    const bounds = Object.fromEntries(byKey.map(([key, byName]) => [key, byName.get(name)])) as unknown as Bounds;
    errors.push(...checkBounds(bounds), ...checkExact(bounds, name));
  }
  return errors;
}

const limitTypes = ['Pod', 'Container', 'PersistentVolumeClaim'];

function checkLimitType(type: Field): Errors {
  const text = toText(type.value);
  const problems = checkTypedText(type, checkQualifiedName);
  if (problems.length > 0 || text.includes('/') || limitTypes.includes(text)) return problems;
  return [invalidValue(type.path, text, 'must be a standard limit type or fully qualified')];
}

/** A LimitRange without a name is named by a UUID: by its own. */
function nameRange({ metadata }: KubeObject): void {
  if (!metadata.name && metadata.uid) metadata.name = metadata.uid;
}

/** Validates limitranges. */
function validateLimitRange(range: KubeObject): Errors {
  const types = new Set<string>();
  return each(at({ path: 'spec', value: range['spec'] }, 'limits')).flatMap((limit): Errors => {
    const type = at(limit, 'type');
    const text = toText(type.value);
    const errors: FieldError[] = [...checkLimitType(type)];
    if (types.has(text)) errors.push(duplicate(type.path, text));
    types.add(text);
    return [...errors, ...checkLimit(limit)];
  });
}

/** The spec of LimitRange. */
export const limitRangeKind: KindSpec = {
  kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'],
  createOnUpdate: true,
  strategy: { prepareForCreate: nameRange },
  metadataChecks: ['object', 'kind'],
  applyDefaults: applyLimitRangeDefaults,
  validation: { object: validateLimitRange },
};
