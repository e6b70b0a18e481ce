// The small checks that every validation is made of. Each returns a list of field errors, empty when the value is valid.
import { isJsonObject } from '../../../base/index.ts';
import {
  type FieldError, type KubeObject, checkDnsLabel, checkLabelValue, checkQualifiedName, equalJson, invalidTyped, invalidValue, notSupported, required,
} from '../../../apimachinery/index.ts';
import { ownMember, toList, toNumber, toObject, toText } from '../values.ts';

/** The elements of a list as texts. */
export const textsOf = (place: Field): readonly string[] => toList(place.value).map(toText);

/** The result of a check. */
export type Errors = readonly FieldError[];

/** No errors. */
export const none: Errors = [];

/** A value inside an object, with its path. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** A member or an element of a field. Its path is written when an error asks for it, which is what most never do: a spread leaves it out. */
class MemberField implements Field {
  readonly value: unknown;
  readonly #parent: Field;
  readonly #name: string | number;

  constructor(parent: Field, name: string | number, value: unknown) {
    this.value = value;
    this.#parent = parent;
    this.#name = name;
  }

  get path(): string {
    const { path } = this.#parent;
    if (typeof this.#name === 'number') return `${path}[${this.#name}]`;
    return path === '' ? this.#name : `${path}.${this.#name}`;
  }
}

/** The member of an object, with its path. */
export function at(parent: Field, ...names: readonly (string | number)[]): Field {
  let place = parent;
  for (let index = 0; index < names.length; index += 1) {
    const name = names[index] as string | number;
    place = new MemberField(place, name, ownMember(place.value, name));
  }
  return place;
}

const noFields: readonly Field[] = Object.freeze([]);

/** The elements of a list, with their paths. */
export function each(list: Field): readonly Field[] {
  const { value } = list;
  if (!Array.isArray(value) || value.length === 0) return noFields;
  return value.map((item, index) => new MemberField(list, index, item));
}

/** Whether a field has a value; null counts as absent. */
export const isGiven = ({ value }: Field): boolean => value !== undefined && value !== null;

/** Whether the text of a field is empty or absent. */
export const isEmptyText = ({ value }: Field): boolean => value === undefined || value === null || value === '';

/** The error Invalid value of a field. */
export const isWrong = ({ path, value }: Field, detail: string): FieldError => invalidValue(path, value, detail);

/** The text or list must not be empty. */
export function checkRequired(place: Field, detail?: string): Errors {
  const isEmpty = isEmptyText(place) || (Array.isArray(place.value) && place.value.length === 0);
  return isEmpty ? [required(place.path, detail)] : none;
}

/** Numbers, where given, must not be negative. */
export function checkNotNegative(...places: readonly Field[]): Errors {
  const negative = places.filter((place) => isGiven(place) && toNumber(place.value) < 0);
  return negative.map(({ path, value }) => invalidValue(path, value, 'must be greater than or equal to 0'));
}

/** The text must be one of a closed set. */
export function checkOneOf(place: Field, supported: readonly string[], keepOrder = false): Errors {
  return supported.includes(toText(place.value)) ? none : [notSupported(place.path, place.value ?? '', supported, keepOrder)];
}

/** The text, where given, must be one of a closed set. */
export function checkGivenOneOf(place: Field, supported: readonly string[], keepOrder = false): Errors {
  return isGiven(place) ? checkOneOf(place, supported, keepOrder) : none;
}

/** One error per problem that a check of texts finds. */
export function checkText(place: Field, check: (text: string) => readonly string[]): Errors {
  const problems = check(toText(place.value));
  return problems.length === 0 ? none : problems.map((problem) => invalidValue(place.path, toText(place.value), problem));
}

/** The same of a text that has a type of its own in Go. */
export const checkTypedText = (place: Field, check: (text: string) => readonly string[]): Errors =>
  check(toText(place.value)).map((problem) => invalidTyped(place.path, toText(place.value), problem));

/** The field is required and is a DNS-1123 label. */
export function checkLabelName(place: Field): Errors {
  return toText(place.value) === '' ? [required(place.path)] : checkText(place, checkDnsLabel);
}

/** Labels inside a spec; all errors have the path of the labels. */
export function checkLabels({ path, value }: Field): Errors {
  if (value === undefined || value === null) return none;
  return Object.entries(toObject(value)).sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([key, label]) => [
    ...checkText({ path, value: key }, checkQualifiedName), ...checkText({ path, value: label }, checkLabelValue),
  ]);
}

/** The value may not differ from the stored one. */
export function checkImmutable(place: Field, old: Field): Errors {
  return equalJson(place.value ?? null, old.value ?? null) ? none : [invalidValue(place.path, place.value ?? null, 'field is immutable')];
}

/** Maps in the order in which Go prints them, by key. Structs keep their order, so this is for values that hold maps only. */
export function sortMembers(value: unknown): unknown {
  if (!isJsonObject(value)) return value ?? null;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sortMembers(inner)]));
}

/** A member of the object itself, as a field. */
export const memberOf = (object: KubeObject, name: string): Field => ({ path: name, value: object[name] });

/** Errors of an update that changes members which are immutable. */
export function checkSameMembers(object: KubeObject, old: KubeObject, names: readonly string[]): Errors {
  return names.flatMap((name) => checkImmutable(memberOf(object, name), memberOf(old, name)));
}

/** Whether the text of a field is present and not empty. */
export const isFilled = (place: Field): boolean => !isEmptyText(place);

/** The status of an object, as a field. */
export const statusOf = (object: KubeObject): Field => ({ path: 'status', value: object['status'] });

/** The spec of an object, as a field. */
export const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });
