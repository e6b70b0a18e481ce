// Values before an update, found again beside those after it. Mirrors upstream's correlated objects: members of maps are found by their names where a
// schema declares them, items of lists by their keys where the list has keys; nothing else is.
import { isJsonObject } from '../../../base/index.ts';
import { quoteValue } from '../../field-error.ts';
import { equalJson } from '../../equal.ts';
import type { OpenAPIV3Schema } from '../structural.ts';

/** The value before an update of a value, with the schema by which parts of both are found. */
export class Before {
  readonly value: unknown;
  readonly #schema: OpenAPIV3Schema;
  #items: ReadonlyMap<string, unknown> | undefined;

  constructor(value: unknown, schema: OpenAPIV3Schema) {
    this.value = value;
    this.#schema = schema;
  }

  /** The value of a member; undefined where it was absent, or no schema declares it. */
  member(name: string): Before | undefined {
    if (!isJsonObject(this.value) || !Object.hasOwn(this.value, name)) return undefined;
    const { properties, additionalProperties } = this.#schema;
    const schema = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return typeof schema === 'object' ? new Before(this.value[name], schema) : undefined;
  }

  /** The item with the keys of `item`; undefined where there was none, or the list has no keys. */
  item(item: unknown): Before | undefined {
    const { items } = this.#schema;
    const key = this.#isKeyed ? this.#keyOf(item) : undefined;
    if (key === undefined || items === undefined) return undefined;
    this.#items ??= this.#indexItems();
    return this.#items.has(key) ? new Before(this.#items.get(key), items) : undefined;
  }

  /** Whether nothing has changed; a part that is not found again counts as changed, even if it is the same. */
  equals(value: unknown): boolean {
    if (Array.isArray(this.value) && Array.isArray(value)) {
      if (!this.#isKeyed) return equalJson(this.value, value);
      return this.value.length === value.length && value.every((item) => this.item(item)?.equals(item) === true);
    }
    if (!isJsonObject(this.value) || !isJsonObject(value)) return equalJson(this.value, value);
    const names = Object.keys(value);
    return Object.keys(this.value).length === names.length && names.every((name) => this.member(name)?.equals(value[name]) === true);
  }

  get #isKeyed(): boolean {
    return this.#schema['x-kubernetes-list-type'] === 'map';
  }

  /** The first of several items with the same keys is the one that is found. */
  #indexItems(): ReadonlyMap<string, unknown> {
    const found = new Map<string, unknown>();
    for (const item of Array.isArray(this.value) ? this.value : []) {
      const key = this.#keyOf(item);
      if (key !== undefined && !found.has(key)) found.set(key, item);
    }
    return found;
  }

  /** undefined for items without one of their keys. */
  #keyOf(item: unknown): string | undefined {
    const names = this.#schema['x-kubernetes-list-map-keys'] as readonly string[] | undefined;
    if (!isJsonObject(item) || names === undefined || names.length === 0) return undefined;
    const values = names.map((name) => (Object.hasOwn(item, name) ? item[name] : undefined));
    // A text itself where that is the one key, as in nearly all lists.
    if (values.length === 1 && typeof values[0] === 'string') return `"${values[0]}`;
    return values.every((value) => value !== undefined && value !== null && typeof value !== 'object') ? quoteValue(values) : undefined;
  }
}

