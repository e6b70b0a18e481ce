// Value validation by an OpenAPI v3 schema, for custom resources. Mirrors kube-openapi's validator: the order of its checks, its texts, and
// the choice of the alternative that a failed anyOf or oneOf shows (the one that got furthest, counted in checks made).
// On updates a value that did not change is not validated again (ratcheting), where old and new values are known to be the same.
import { announceWork, compareKeys, createStride, isJsonObject } from '../../../base/index.ts';
import { duplicate, invalidValue, notSupportedText, quoteValue, required, tooLong, tooMany } from '../../field-error.ts';
import type { FieldError } from '../../status.ts';
import { Before } from './before.ts';
import { isKnownFormat, isTextFormat, matchesFormat } from './formats.ts';
import { checkNumber } from './number.ts';
import { matchesPattern } from './pattern.ts';
import type { OpenAPIV3Schema } from '../structural.ts';
import { type JsonType, goFormatOf, jsonTypeOf, typesOf } from './value-type.ts';
import { statesListTypes } from '../statements.ts';
import { equalJson } from '../../equal.ts';

interface ValueOptions {
  /** Where the value is; '' for a whole object. */
  readonly at?: string;
  /** The value that an update replaces. */
  readonly before?: { readonly value: unknown };
  /** The value is a default: an int-or-string has the type that its schema names, or any. */
  readonly isDefault?: boolean;
}

/** Problems found, and how many checks were made: what a failed alternative is measured by. */
interface Outcome {
  readonly errors: FieldError[];
  checks: number;
}

type Json = Record<string, unknown>;

/** All that is wrong with a value. */
export function validateValue(schema: OpenAPIV3Schema, value: unknown, options: ValueOptions = {}): FieldError[] {
  const before = options.before && new Before(options.before.value, schema);
  return withoutTwins(new Validator(options).validate(schema, value, { path: '', before }).errors);
}

/** Where a value is below the one that is validated. */
interface SchemaPosition {
  readonly path: string;
  readonly before: Before | undefined;
}

const NOWHERE = '<nil>';
const combinators = ['anyOf', 'oneOf', 'allOf', 'not'] as const;
/** Nodes are cheap: whether time is up is asked at some of them. */
const isDue = createStride(64);

/** Values that an update has left as they were (===), and the schema by which nothing was wrong with that: there is nothing the next time. */
const passed = new WeakMap<object, OpenAPIV3Schema>();

class Validator {
  readonly #at: string;
  readonly #isDefault: boolean;
  /** How many alternatives, and how many shared values, the value at hand is in. */
  #alternatives = 0;
  #shared = 0;

  constructor({ at = '', isDefault = false }: ValueOptions) {
    this.#at = at;
    this.#isDefault = isDefault;
  }

  validate(schema: OpenAPIV3Schema, value: unknown, place: SchemaPosition): Outcome {
    // Alternatives are compared by the checks that they made, so all of these are made there.
    const isShared = this.#alternatives === 0 && this.#shared === 0 && typeof value === 'object' && value !== null && value === place.before?.value;
    if (!isShared) return this.#validateRatcheting(schema, value, place);
    if (passed.get(value) === schema) return { errors: [], checks: 1 };
    this.#shared += 1;
    const outcome = this.#validateRatcheting(schema, value, place);
    this.#shared -= 1;
    if (outcome.errors.length === 0) passed.set(value, schema);
    return outcome;
  }

  #validateRatcheting(schema: OpenAPIV3Schema, value: unknown, place: SchemaPosition): Outcome {
    const outcome = this.#validateWhole(schema, value, place);
    if (outcome.errors.length > 0 && place.before?.equals(value) === true) outcome.errors.length = 0;
    return outcome;
  }

  #validateWhole(schema: OpenAPIV3Schema, value: unknown, place: SchemaPosition): Outcome {
    const outcome: Outcome = { errors: [], checks: 1 };
    if (isDue()) announceWork(0);
    this.#checkType(schema, value, { place, outcome });
    if (value === null) {
      this.#checkEnum(schema, value, { place, outcome });
      return outcome;
    }
    const context = { place, outcome };
    this.#checkCombinators(schema, value, context);
    if (typeof value === 'string') this.#checkString(schema, value, context);
    else if (typeof value === 'number' || typeof value === 'bigint') this.#checkNumber(schema, value, context);
    else if (Array.isArray(value)) this.#checkArray(schema, value, context);
    this.#checkEnum(schema, value, context);
    if (typeof value === 'object' && !Array.isArray(value)) this.#checkObject(schema, value as Json, context);
    return outcome;
  }

  #field(path: string): string {
    const name = path.startsWith('.') ? path.slice(1) : path;
    if (name === '') return this.#at === '' ? NOWHERE : this.#at;
    return this.#at === '' ? name : `${this.#at}.${name}`;
  }

  #refuse({ place, outcome }: Context, shown: unknown, why: string): void {
    const message = `Invalid value: ${quoteValue(shown)}: ${place.path} in body ${why}`;
    outcome.errors.push({ reason: 'FieldValueInvalid', field: this.#field(place.path), message });
  }

  #refuseType({ place, outcome }: Context, wanted: string, found: string): void {
    const quoted = quoteValue(found);
    const message = `Invalid value: ${quoted}: ${place.path} in body must be of type ${wanted}: ${quoted}`;
    outcome.errors.push({ reason: 'FieldValueTypeInvalid', field: this.#field(place.path), message });
  }

  #refuseWhole({ outcome }: Context, text: string): void {
    outcome.errors.push({ reason: 'FieldValueInvalid', field: this.#field(''), message: `Invalid value: "": ${text}` });
  }

  /** The format of a schema; '' for none. Defaults keep formats that nothing checks, objects do not. */
  #formatOf(schema: OpenAPIV3Schema): string {
    const { format = '' } = schema;
    if (format === '' || this.#isDefault) return format;
    const types = typesOf(schema);
    return isKnownFormat(types.length === 1 ? types[0] : undefined, format) ? format : '';
  }

  #checkType(schema: OpenAPIV3Schema, value: unknown, context: Context): void {
    const types = this.#isDefault ? (schema.type ? [schema.type] : []) : typesOf(schema);
    const format = this.#formatOf(schema);
    if (types.length === 0 && format === '') return;
    context.outcome.checks++;
    if (value === null) {
      if (types.length > 0 && schema.nullable !== true) this.#refuseType(context, types.join(','), 'null');
      return;
    }
    const wrong = wrongType({ types, format }, value);
    if (wrong !== undefined) this.#refuseType(context, wrong.wanted, wrong.found);
  }

  #checkCombinators(schema: OpenAPIV3Schema, value: unknown, context: Context): void {
    context.outcome.checks++;
    if (!combinators.some((name) => schema[name] !== undefined)) return;
    this.#alternatives += 1;
    this.#checkAlternatives(schema, value, context);
    this.#alternatives -= 1;
  }

  #checkAlternatives(schema: OpenAPIV3Schema, value: unknown, context: Context): void {
    const { outcome, place } = context;
    const anyOf = listOf(schema['anyOf']);
    if (anyOf.length > 0) this.#checkAnyOf(anyOf, value, context);
    const oneOf = listOf(schema['oneOf']);
    if (oneOf.length > 0) this.#checkOneOf(oneOf, value, context);
    const allOf = listOf(schema['allOf']);
    let valid = 0;
    for (const each of allOf) {
      const result = this.#validateWhole(each, value, place);
      if (result.errors.length === 0) valid++;
      merge(outcome, result);
    }
    if (valid !== allOf.length) {
      this.#refuseWhole(context, `"${place.path}" must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
    }
    const not = schema['not'] as OpenAPIV3Schema | undefined;
    if (not !== undefined && this.#validateWhole(not, value, place).errors.length === 0) this.#refuseWhole(context,
      `"${place.path}" must not validate the schema (not)`);
  }

  #checkAnyOf(schemas: readonly OpenAPIV3Schema[], value: unknown, context: Context): void {
    const { outcome, place } = context;
    let best: Outcome | undefined;
    for (const each of schemas) {
      const result = this.#validateWhole(each, value, place);
      if (result.errors.length === 0) return;
      if (best === undefined || result.checks > best.checks) best = result;
    }
    this.#refuseWhole(context, `"${place.path}" must validate at least one schema (anyOf)`);
    if (best !== undefined) merge(outcome, best);
  }

  #checkOneOf(schemas: readonly OpenAPIV3Schema[], value: unknown, context: Context): void {
    const { outcome, place } = context;
    let best: Outcome | undefined;
    let valid = 0;
    for (const each of schemas) {
      const result = this.#validateWhole(each, value, place);
      if (result.errors.length === 0) valid++;
      else if (best === undefined || result.checks > best.checks) best = result;
    }
    if (valid === 1) return;
    const found = valid === 0 ? 'Found none valid' : `Found ${valid} valid alternatives`;
    this.#refuseWhole(context, `"${place.path}" must validate one and only one schema (oneOf). ${found}`);
    if (valid === 0 && best !== undefined) merge(outcome, best);
  }

  #checkString(schema: OpenAPIV3Schema, value: string, context: Context): void {
    const { outcome, place } = context;
    outcome.checks++;
    const { maxLength, minLength, pattern } = schema as { maxLength?: number; minLength?: number; pattern?: string };
    if (maxLength !== undefined && countCharacters(value) > maxLength) outcome.errors.push(tooLong(this.#field(place.path), maxLength));
    else if (minLength !== undefined && countCharacters(value) < minLength) this.#refuse(context, value, `should be at least ${minLength} chars long`);
    else if (pattern && !matchesPattern(pattern, value)) this.#refuse(context, value, `should match '${pattern}'`);
    const format = this.#formatOf(schema);
    if (!isTextFormat(format)) return;
    outcome.checks++;
    if (!matchesFormat(format, value)) this.#refuseType(context, format, value);
  }

  #checkNumber(schema: OpenAPIV3Schema, value: number | bigint, context: Context): void {
    context.outcome.checks++;
    for (const problem of checkNumber(schema, value, context.place.path)) {
      if ('why' in problem) this.#refuse(context, value, problem.why);
      else context.outcome.errors.push(invalidValue(this.#field(problem.value === '' ? '' : context.place.path), problem.value, problem.text));
    }
  }

  #checkArray(schema: OpenAPIV3Schema, value: readonly unknown[], context: Context): void {
    const { outcome, place } = context;
    outcome.checks++;
    const { items } = schema;
    if (items !== undefined) {
      for (const [i, item] of value.entries()) {
        merge(outcome, this.validate(items, item, { path: `${place.path}[${i}]`, before: place.before?.item(item) }));
      }
    }
    const { minItems, maxItems } = schema as { minItems?: number; maxItems?: number };
    if (minItems !== undefined && value.length < minItems) this.#refuse(context, value.length, `should have at least ${minItems} items`);
    if (maxItems !== undefined && value.length > maxItems) outcome.errors.push(tooMany(this.#field(place.path), value.length, maxItems));
    // Definitions with unique items are refused, but their defaults are validated as well.
    if (this.#isDefault && schema['uniqueItems'] === true && hasTwice(value)) this.#refuse(context, '', "shouldn't contain duplicates");
  }

  #checkEnum(schema: OpenAPIV3Schema, value: unknown, { place, outcome }: Context): void {
    outcome.checks++;
    const allowed = schema.enum;
    if (allowed === undefined || allowed.length === 0 || isAmong(allowed, value)) return;
    const shown = allowed.map((each) => (typeof each === 'string' ? each : quoteValue(each)));
    outcome.errors.push(notSupportedText(this.#field(place.path), value, shown, true));
  }

  #checkObject(schema: OpenAPIV3Schema, value: Json, context: Context): void {
    const { outcome, place } = context;
    outcome.checks++;
    const count = Object.keys(value).length;
    const { minProperties, maxProperties } = schema as { minProperties?: number; maxProperties?: number };
    if (minProperties !== undefined && count < minProperties) this.#refuse(context, count, `should have at least ${minProperties} properties`);
    if (maxProperties !== undefined && count > maxProperties) outcome.errors.push(tooMany(this.#field(place.path), count, maxProperties));
    this.#checkAdditional(schema, value, context);
    const { properties } = schema;
    for (const name of properties === undefined ? [] : Object.keys(properties).sort(compareKeys)) {
      if (Object.hasOwn(value, name)) this.#checkMember(properties![name] as OpenAPIV3Schema,
        { value, name, path: context.place.path === '' ? name : `${context.place.path}.${name}` }, context);
    }
    for (const name of schema.required ?? []) {
      if (!Object.hasOwn(value, name)) outcome.errors.push(required(this.#field(`${place.path}.${name}`)));
    }
  }

  #checkAdditional(schema: OpenAPIV3Schema, value: Json, context: Context): void {
    const { additionalProperties, properties } = schema;
    if (additionalProperties === undefined || additionalProperties === true) return;
    for (const name of Object.keys(value).sort(compareKeys)) {
      if (properties !== undefined && Object.hasOwn(properties, name)) continue;
      if (additionalProperties !== false) this.#checkMember(additionalProperties, { value, name, path: `${context.place.path}.${name}` }, context);
      else {
        const { path } = context.place;
        const message = `Invalid value: "": ${path}.${name} in body is a forbidden property`;
        context.outcome.errors.push({ reason: 'FieldValueInvalid', field: this.#field(path), message });
      }
    }
  }

  #checkMember(schema: OpenAPIV3Schema, { value, name, path }: Member, { place, outcome }: Context): void {
    // Versions are converted: what the kind of the whole was before is not to be seen.
    const isOfWhole = place.path === '' && (name === 'apiVersion' || name === 'kind');
    merge(outcome, this.validate(schema, value[name], { path, before: isOfWhole ? undefined : place.before?.member(name) }));
  }
}

interface Context {
  readonly place: SchemaPosition;
  readonly outcome: Outcome;
}

/** A field of an object; values of maps have a point before the name in messages, even at the top. */
interface Member {
  readonly value: Json;
  readonly name: string;
  readonly path: string;
}

const hasTwice = (list: readonly unknown[]): boolean => new Set(list.map((item) => quoteValue(sortedCopy(item)))).size < list.length;
const listOf = (value: unknown): readonly OpenAPIV3Schema[] => (Array.isArray(value) ? (value as OpenAPIV3Schema[]) : []);

/** Lists of allowed values that are worth an index. */
const MANY_ALLOWED = 16;
const indexes = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();
/** Measured, at most: a comparison with an allowed value. */
const COMPARE_MS = 0.0001;

function isAmong(allowed: readonly unknown[], value: unknown): boolean {
  if (allowed.length > MANY_ALLOWED) {
    let index = indexes.get(allowed);
    if (index === undefined) indexes.set(allowed, (index = new Set(allowed)));
    // A text equals nothing but itself; numbers may be equal in other forms.
    if (typeof value === 'string' || index.has(value)) return index.has(value);
    announceWork(allowed.length * COMPARE_MS);
  }
  // The reference compares numbers in the type of the allowed one: a fraction is what is before its point.
  const whole = typeof value === 'number' && !Number.isInteger(value) ? Math.trunc(value) : undefined;
  return allowed.some((each) => equalJson(each, value) || (whole !== undefined && Number.isInteger(each) && Number(each) === whole));
}

function merge(into: Outcome, from: Outcome): void {
  into.checks += from.checks;
  for (const error of from.errors) into.errors.push(error);
}

/** The errors, each once: several branches of a schema may find the same one. */
function withoutTwins(errors: FieldError[]): FieldError[] {
  if (errors.length < 2) return errors;
  return [...new Map(errors.map((error) => [`${error.field} ${error.message}`, error])).values()];
}

function countCharacters(text: string): number {
  let count = text.length;
  for (let i = 0; i < text.length - 1; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xd800 && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/** What upstream's type check says: strings and lists with a format are left to the format, numbers may be whole or not as the type allows. */
function wrongType({ types, format }: { readonly types: readonly JsonType[]; readonly format: string },
  value: unknown): { wanted: string; found: string } | undefined {
  const type = jsonTypeOf(value);
  const numeric = types.includes('number') || types.includes('integer');
  const isText = type === 'string' || type === 'array';
  const fits = types.includes(type) || (type === 'number' && types.includes('integer') && Number.isSafeInteger(value)) || (type === 'integer'
    && types.includes('number'));
  const found = goFormatOf(type);
  if (!isText && format !== '' && !fits && found !== format) return { wanted: format, found };
  if (!numeric && format !== '' && isText) return undefined;
  return fits ? undefined : { wanted: types.join(','), found: type };
}

/**
 * Elements that a list of type `set` or `map` has twice, each reported once, anywhere below `value`. Parts that the value shares with `before`, in the
 * same place, are not looked at.
 */
export function validateListTypes(schema: OpenAPIV3Schema, value: unknown, before?: unknown): FieldError[] {
  const errors: FieldError[] = [];
  walkListTypes(schema, value, { at: '', before, errors });
  return errors;
}

interface ListWalk {
  readonly at: string;
  readonly before: unknown;
  readonly errors: FieldError[];
}

function walkListTypes(schema: OpenAPIV3Schema | undefined, value: unknown, { at, before, errors }: ListWalk): void {
  if (schema === undefined || typeof value !== 'object' || value === null || value === before || !statesListTypes(schema)) return;
  if (Array.isArray(value)) {
    const known: readonly unknown[] = Array.isArray(before) ? before : [];
    const listType = schema['x-kubernetes-list-type'];
    const keys = schema['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
    if (listType === 'set') reportDuplicates(value, { keyOf: asIs, idOf: idOfValue }, { at, errors });
    else if (listType === 'map' && keys !== undefined) {
      errors.push(...reportNonObjects(value, at));
      reportDuplicates(value, mapKeys(keys), { at, errors });
    }
    if (schema.items === undefined || !statesListTypes(schema.items)) return;
    value.forEach((item, i) => walkListTypes(schema.items, item, { at: `${at}[${i}]`, before: known[i], errors }));
    return;
  }
  const { properties, additionalProperties } = schema;
  const known = isJsonObject(before) ? before : undefined;
  for (const key of Object.keys(value).sort(compareKeys)) {
    const isProperty = properties !== undefined && Object.hasOwn(properties, key);
    const child = isProperty ? properties[key] : typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const path = isProperty || at === '' ? (at === '' ? key : `${at}.${key}`) : `${at}[${key}]`;
    walkListTypes(child, (value as Json)[key], { at: path, before: known?.[key], errors });
  }
}

/** How the elements of a list are compared: by keys that errors show, and by ids that are the same for the same keys. */
interface Keys {
  readonly keyOf: (item: unknown) => unknown;
  readonly idOf: (item: unknown) => unknown;
}

const asIs = (item: unknown): unknown => item;

/** Texts and numbers stand for themselves; anything else is written. An integer that no double holds exactly equals none, as in Go. */
const idOfValue = (value: unknown): unknown => {
  if (typeof value === 'string' || typeof value === 'number' || value === undefined) return value;
  if (typeof value !== 'bigint') return idByText(value);
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
};

/** What no string of a client begins with. */
const WRITTEN = '\uD800';
const idByText = (value: unknown): string => `${WRITTEN}${quoteValue(sortedCopy(value))}`;

function mapKeys(names: readonly string[]): Keys {
  const sorted = [...names].sort();
  const keyOf = (item: unknown): unknown =>
    (isJsonObject(item) ? Object.fromEntries(sorted.filter((name) => Object.hasOwn(item, name)).map((name) => [name, item[name]])) : undefined);
  const [name] = sorted;
  // Nearly all lists have one key; writing the keys of thirty items takes 20 µs.
  const byOne = (item: unknown): unknown => (isJsonObject(item) && Object.hasOwn(item, name as string) ? idOfValue(item[name as string]) : WRITTEN);
  return { keyOf, idOf: sorted.length === 1 ? byOne : (item) => idByText(keyOf(item)) };
}

/** The first element without keys is reported; null counts as one that is reported elsewhere. */
function reportNonObjects(list: readonly unknown[], at: string): readonly FieldError[] {
  const i = list.findIndex((item) => item !== null && !isJsonObject(item));
  return i < 0 ? [] : [invalidValue(`${at}[${i}]`, list[i], 'must be an object for an array of list-type map')];
}

function reportDuplicates(list: readonly unknown[], { keyOf, idOf }: Keys, { at, errors }: { readonly at: string; readonly errors: FieldError[] }): void {
  const seen = new Map<unknown, boolean>();
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    if (item === undefined || (keyOf !== asIs && !isJsonObject(item))) continue;
    const id = idOf(item);
    const isReported = seen.get(id);
    if (isReported === false) errors.push(duplicate(`${at}[${i}]`, keyOf(item)));
    seen.set(id, isReported !== undefined);
  }
}

function sortedCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedCopy);
  if (!isJsonObject(value)) return value;
  return Object.keys(value).sort().map((key) => [key, sortedCopy(value[key])]);
}
