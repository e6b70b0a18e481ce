// Small checks that validations of all kinds are put together from. Each answers a list of field errors, empty when all is well.
import {
  type FieldError, type JsonObject, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, fieldPath, forbiddenField, invalidValue,
  labelSelectorOf, matchesRequirement, notSupported, parseIpAddress, parseIpRange, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../columns/common.ts';

/** What a check answers. */
export type Errors = readonly FieldError[];

const none: Errors = [];

/** A value inside an object, and where it stands. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** The member of an object, with its path. */
export function at(parent: Field, ...names: readonly (string | number)[]): Field {
  const value = readPath(parent.value, ...names.map(String));
  const path = fieldPath(...names);
  const isRoot = parent.path === '';
  return { path: isRoot ? path : `${parent.path}${path.startsWith('[') ? '' : '.'}${path}`, value };
}

/** The elements of a list, with their paths. */
export function each(list: Field): readonly Field[] {
  return toList(list.value).map((value, index) => ({ path: `${list.path}[${index}]`, value }));
}

/** Whether something stands at a place; null is nothing. */
export const isGiven = ({ value }: Field): boolean => value !== undefined && value !== null;

/** Whether the text at a place is empty or absent. */
export const isEmptyText = ({ value }: Field): boolean => value === undefined || value === null || value === '';

/** The value at a place is wrong. */
export const isWrong = ({ path, value }: Field, detail: string): FieldError => invalidValue(path, value, detail);

/** The value must not be empty. */
export function checkRequired(place: Field, detail?: string): Errors {
  return isEmptyText(place) ? [required(place.path, detail)] : none;
}

/** Numbers, where given, must not be negative. */
export function checkNotNegative(...places: readonly Field[]): Errors {
  const negative = places.filter((place) => isGiven(place) && toNumber(place.value) < 0);
  return negative.map(({ path, value }) => invalidValue(path, value, 'must be greater than or equal to 0'));
}

/** The text must be one of a closed set. */
export function checkOneOf({ path, value }: Field, supported: readonly string[], keepOrder = false): Errors {
  return supported.includes(toText(value)) ? none : [notSupported(path, value ?? '', supported, keepOrder)];
}

/** The same of a text that may be left out. */
export function checkGivenOneOf(place: Field, supported: readonly string[], keepOrder = false): Errors {
  return isGiven(place) ? checkOneOf(place, supported, keepOrder) : none;
}

/** One error per problem that a check of texts finds. */
export function checkText({ path, value }: Field, check: (text: string) => readonly string[]): Errors {
  return check(toText(value)).map((problem) => invalidValue(path, toText(value), problem));
}

/** A name under DNS-1123 rules that must be there. */
export function checkLabelName(place: Field): Errors {
  return toText(place.value) === '' ? [required(place.path)] : checkText(place, checkDnsLabel);
}

/** The name of another object. */
export function checkObjectName(place: Field): Errors {
  return checkText(place, checkDnsSubdomain);
}

/** A port number that must be there and in range. */
export function checkPortNumber({ path, value }: Field): Errors {
  const port = toNumber(value);
  return port < 1 || port > 65_535 ? [invalidValue(path, port, 'must be between 1 and 65535, inclusive')] : none;
}

/** Problems of a port name (an IANA service name). */
export function checkPortName(text: string): string[] {
  const problems: string[] = [];
  if (text.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/i.test(text)) problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  if (!/[a-z]/i.test(text)) problems.push('must contain at least one letter (a-z)');
  if (text.includes('--')) problems.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

/** A port by number or name. */
export function checkPort(place: Field): Errors {
  if (typeof place.value !== 'string') return checkPortNumber(place);
  return checkText(place, checkPortName);
}

const ipProblem = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const trimZeros = (address: string): string => address.split('.').map((part) => part.replace(/^0+(?=[0-9])/, '')).join('.');
const mapped = /^::(?:ffff:|0*ffff:)/i;

/** An IP address; leading zeros and IPv4 inside IPv6 are not accepted. */
export function checkIp(place: Field): Errors {
  const text = toText(place.value);
  const shown = { path: place.path, value: text };
  const plain = /^[0-9.]+$/.test(text) ? trimZeros(text) : text;
  if (parseIpAddress(plain) === undefined) return [isWrong(shown, ipProblem)];
  if (plain !== text) return [isWrong(shown, 'must not have leading 0s')];
  return mapped.test(text) ? [isWrong(shown, 'must not be an IPv4-mapped IPv6 address')] : none;
}

/** A range of addresses; leading zeros, IPv4 inside IPv6 and bits beyond the prefix are not accepted. */
export function checkRange(place: Field): Errors {
  const text = toText(place.value);
  const shown = { path: place.path, value: text };
  const [address = '', length = ''] = text.split('/');
  const plain = `${/^[0-9.]+$/.test(address) ? trimZeros(address) : address}/${length.replace(/^0+(?=[0-9])/, '')}`;
  const range = parseIpRange(plain);
  if (range === undefined) return [isWrong(shown, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
  if (plain !== text) return [isWrong(shown, 'must not have leading 0s in IP or prefix length')];
  if (mapped.test(address)) return [isWrong(shown, 'must not have an IPv4-mapped IPv6 address')];
  return parseIpAddress(address)?.value === range.base ? none : [isWrong(shown, 'must not have bits set beyond the prefix length')];
}

/** Labels of something that is not an object of its own; all errors stand at the labels. */
export function checkLabels({ path, value }: Field): Errors {
  return Object.entries(toObject(value)).sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([key, label]) => [
    ...checkText({ path, value: key }, checkQualifiedName), ...checkText({ path, value: label }, checkLabelValue),
  ]);
}

/** Deep equality of decoded values, whatever the order of members. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length) return false;
  return names.every((name) => Object.hasOwn(b, name) && isSame((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]));
}

/** The value may not differ from the stored one. */
export function checkImmutable(place: Field, old: Field): Errors {
  return isSame(place.value ?? null, old.value ?? null) ? none : [invalidValue(place.path, place.value ?? null, 'field is immutable')];
}

/** Maps as Go writes them: by key. Structs keep their order, so this is for what holds maps only. */
export function sortMembers(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sortMembers(inner)]));
}

/** metav1.LabelSelector: operators, the values they need, and the syntax of keys and values. */
export function checkSelector(selector: Field): Errors {
  const labels = at(selector, 'matchLabels');
  return [
    ...Object.entries(toObject(labels.value)).flatMap(([key, value]) => [
      ...checkText({ path: labels.path, value: key }, checkQualifiedName), ...checkText({ path: labels.path, value }, checkLabelValue),
    ]),
    ...each(at(selector, 'matchExpressions')).flatMap(checkExpression),
  ];
}

function checkExpression(expression: Field): Errors {
  const values = at(expression, 'values');
  const count = toList(values.value).length;
  const operator = at(expression, 'operator');
  const errors: FieldError[] = [];
  switch (operator.value) {
    case 'In':
    case 'NotIn':
      if (count === 0) errors.push(required(values.path, "must be specified when `operator` is 'In' or 'NotIn'"));
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (count > 0) errors.push(forbiddenField(values.path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
      break;
    default:
      errors.push(invalidValue(operator.path, operator.value ?? '', 'not a valid selector operator'));
  }
  return [
    ...errors, ...checkText(at(expression, 'key'), checkQualifiedName), ...each(values).flatMap((value) => checkText(value, checkLabelValue)),
  ];
}

/** True when a selector of a workload holds nothing. */
export function isEmptySelector(selector: unknown): boolean {
  return Object.keys(toObject(readPath(selector, 'matchLabels'))).length === 0 && toObjects(readPath(selector, 'matchExpressions')).length === 0;
}

/** True when a selector can be read at all; what cannot be read selects nothing, and is told besides. */
export function isSelectable(selector: unknown): boolean {
  return checkSelector({ path: '', value: selector }).length === 0;
}

/** True when the labels of a template satisfy the selector; no selector selects nothing. */
export function selects(selector: unknown, labels: JsonObject): boolean {
  const parsed = labelSelectorOf(selector === undefined || selector === null ? undefined : toObject(selector));
  return parsed !== undefined && parsed.requirements.every((requirement) => matchesRequirement(requirement, labels as Record<string, string>));
}
