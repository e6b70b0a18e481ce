// The parts that the kinds of resource.k8s.io share: names of drivers, pools and attributes, bounded lists, configuration, tolerations.
import {
  type FieldError, byteLength, checkCIdentifier, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, duplicate, invalidTyped,
  invalidValue, notSupported, required, tooLong, tooMany,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkText, each, isEmptyText, isGiven } from '../common/validation/check.ts';
import { checkDriverName } from '../common/validation/driver-names.ts';
import { toList, toText } from '../common/values.ts';

/** Most bytes of the name of a driver, and of the domain of an attribute. */
export const MAX_DRIVER_BYTES = 63;

/** Most bytes of the name of an attribute. */
export const MAX_IDENTIFIER_BYTES = 32;

const MAX_POOL_BYTES = 253;
const MAX_DATA_BYTES = 10 * 1024;
const MAX_BINDING_CONDITIONS = 4;

type Check = (item: Field) => Errors;

/** Checks the items of a bounded list; a longer list has that error and no others. */
export function checkItems(list: Field, max: number, check: Check): Errors {
  const items = each(list);
  return items.length > max ? [tooMany(list.path, items.length, max)] : items.flatMap(check);
}

/** The rules of a list whose items are unique. */
interface SetRules {
  readonly check: Check;
  /** The key that must be unique; keys that are no texts are compared as JSON. */
  readonly keyOf: (item: Field) => unknown;
}

/** Checks a bounded list whose items are unique. */
export function checkSet(list: Field, max: number, { check, keyOf }: SetRules): Errors {
  const items = each(list);
  if (items.length > max) return [tooMany(list.path, items.length, max)];
  const known = new Set<string>();
  const repeated = items.flatMap((item): Errors => {
    const key = keyOf(item);
    const id = JSON.stringify(key);
    if (known.has(id)) return [duplicate(item.path, key)];
    known.add(id);
    return [];
  });
  return [...items.flatMap(check), ...repeated];
}

/** The key of items that are texts. */
export const itself = ({ value }: Field): string => toText(value);

/** The key of items with a name. */
export const byName = (item: Field): string => toText(at(item, 'name').value);

/** Further parts of a name, which is too long then, have no errors of their own: a megabyte of slashes would have a million. */
export const MAX_POOL_PARTS = 1000;

/** The name of a pool: subdomains with slashes between them. */
export function checkPool({ path, value }: Field): Errors {
  const text = toText(value);
  if (text === '') return [required(path)];
  const errors: FieldError[] = byteLength(text) > MAX_POOL_BYTES ? [tooLong(path, MAX_POOL_BYTES)] : [];
  return [...errors, ...text.split('/', MAX_POOL_PARTS).flatMap((part) => checkText({ path, value: part }, checkDnsSubdomain))];
}

/** The name of a device, a request or a counter. */
export const checkLabel = (place: Field): Errors => checkText(place, checkDnsLabel);

function checkIdentifier({ path, value }: Field): Errors {
  const errors: FieldError[] = byteLength(toText(value)) > MAX_IDENTIFIER_BYTES ? [tooLong(path, MAX_IDENTIFIER_BYTES)] : [];
  return [...errors, ...checkText({ path, value }, checkCIdentifier)];
}

/** The name of an attribute, with or without a domain; names with two slashes have one error and no others. */
export function checkAttributeName({ path, value }: Field): Errors {
  const [first = '', second, ...more] = toText(value).split('/');
  if (more.length > 0) return [];
  if (second === undefined) return checkIdentifier({ path, value: first });
  return [
    ...(first === '' ? [invalidValue(path, '', 'the domain must not be empty')] : checkDriverName({ path, value: first })),
    ...(second === '' ? [invalidValue(path, '', 'the name must not be empty')] : checkIdentifier({ path, value: second })),
  ];
}

/** The name of an attribute that must have a domain. */
export function checkFullAttributeName(place: Field): Errors {
  const text = toText(place.value);
  const hasDomain = text.includes('/');
  const problem = 'a fully qualified name must be a domain and a name separated by a slash';
  return [...checkAttributeName(place), ...(hasDomain ? [] : [invalidTyped(place.path, text, problem)])];
}

/** Raw JSON of a driver: an object of bounded size. */
export function checkRawObject({ path, value }: Field): Errors {
  if (value === undefined || value === null) return [required(path)];
  if (byteLength(JSON.stringify(value)) > MAX_DATA_BYTES) return [tooLong(path, MAX_DATA_BYTES)];
  return typeof value === 'object' && !Array.isArray(value) ? [] : [invalidValue(path, '<value omitted>', 'must be a valid JSON object')];
}

/** Opaque configuration, which its driver alone understands. */
export function checkConfiguration(config: Field): Errors {
  const opaque = at(config, 'opaque');
  if (!isGiven(opaque)) return [required(opaque.path)];
  return [...checkDriverName(at(opaque, 'driver')), ...checkRawObject(at(opaque, 'parameters'))];
}

/** The effects that taints of devices may have. */
const taintEffects = ['NoExecute', 'NoSchedule', 'None'];

/** The text must be one of a closed set, where given. */
export function checkEffect(effect: Field): Errors {
  return isEmptyText(effect) || taintEffects.includes(toText(effect.value)) ? [] : [notSupported(effect.path, effect.value, taintEffects)];
}

function checkOperator(operator: Field, value: Field): Errors {
  switch (toText(operator.value)) {
    case '': return [required(operator.path)];
    case 'Equal': return checkText(value, checkLabelValue);
    case 'Exists': return isEmptyText(value) ? [] : [invalidValue(value.path, value.value, 'must be empty for operator `Exists`')];
    default: return [notSupported(operator.path, operator.value, ['Equal', 'Exists'])];
  }
}

/** Validates a toleration of a taint of a device. */
export function checkDeviceToleration(toleration: Field): Errors {
  const key = at(toleration, 'key');
  return [
    ...(isEmptyText(key) ? [] : checkText(key, checkQualifiedName)), ...checkOperator(at(toleration, 'operator'), at(toleration, 'value')),
    ...checkEffect(at(toleration, 'effect')),
  ];
}

/** Duplicates in a list of texts. */
function checkRepeated(list: Field): Errors {
  const known = new Set<string>();
  return each(list).flatMap(({ path, value }): Errors => {
    const text = toText(value);
    if (known.has(text)) return [duplicate(path, text)];
    known.add(text);
    return [];
  });
}

/** Binding conditions and binding failure conditions: both or neither. */
export function checkBinding(device: Field): Errors {
  const [waits, ends] = [at(device, 'bindingConditions'), at(device, 'bindingFailureConditions')];
  const [waiting, ending] = [toList(waits.value), toList(ends.value)];
  const errors: FieldError[] = [waits, ends].flatMap((list) => checkItems(list, MAX_BINDING_CONDITIONS, (item) => checkText(item, checkQualifiedName)));
  errors.push(...checkRepeated(waits));
  // The reference looks for both problems item by item.
  const repeated = new Map(checkRepeated(ends).map((error) => [error.field, error]));
  const awaited = new Set<unknown>(waiting);
  for (const { path, value } of each(ends)) {
    if (repeated.has(path)) errors.push(repeated.get(path)!);
    if (awaited.has(value)) errors.push(invalidValue(path, value, 'bindingFailureConditions must not overlap with bindingConditions'));
  }
  const lonely = (list: Field, text: string): FieldError => invalidValue(list.path, isGiven(list) ? list.value : null, text);
  if (waiting.length === 0 && ending.length > 0) errors.push(lonely(waits, 'bindingConditions are required to use bindingFailureConditions'));
  if (ending.length === 0 && waiting.length > 0) errors.push(lonely(ends, 'bindingFailureConditions are required to use bindingConditions'));
  return errors;
}
