// Which objects have the same paths: the outline of an object is everything that the paths which it states depend on, and nothing else.
// So owners of a new object have to be found once per outline.
import { BoundedCache, isJsonObject } from '../../base/index.ts';
import type { Schema } from '../schema/schema.ts';
import { toFieldSet } from './compare.ts';
import type { FieldSet } from './field-set.ts';
import { deducedSchema, elementOfItem, ownValue, shapeOf } from './value.ts';
import { equalJson } from '../equal.ts';

const LONGEST_OUTLINE = 4000;

/**
 * The outline of `value` next to `zero`, with which it will be compared: keys at every depth, the keys of items in lists whose items are owned one by
 * one, and which leaves are as in `zero`. undefined for large objects. Throws TypedValueError for items without their keys, as the comparison does.
 */
export function outlineOf(schema: Schema, zero: unknown, value: unknown): string | undefined {
  const writer = new OutlineWriter();
  writer.write(schema, zero, value);
  return writer.text.length > LONGEST_OUTLINE ? undefined : writer.text;
}

/** What the outlines of one owner may add up to, in characters; their paths take several times that. */
const OUTLINES_LENGTH = 50_000;

/** Paths by outline, for each owner (a kind, a schema): those found first leave when there are too many. */
export class PathsByOutline {
  readonly #owners = new WeakMap<object, BoundedCache<string, FieldSet>>();

  /** The paths that are known for an outline, else those that `find` finds; those of undefined are found each time. */
  getOrFind(owner: object, outline: string | undefined, find: () => FieldSet): FieldSet {
    if (outline === undefined) return find();
    let known = this.#owners.get(owner);
    if (known === undefined) this.#owners.set(owner, (known = new BoundedCache({ limit: OUTLINES_LENGTH, sizeOf: (_, text) => text.length })));
    return known.peek(outline) ?? known.set(outline, find());
  }
}

/** Paths that recent configurations state: an applier applies objects of one shape. */
const stated = new PathsByOutline();

/** toFieldSet, found once per outline. */
export const statedFields = (schema: Schema, value: unknown): FieldSet =>
  stated.getOrFind(schema, outlineOf(schema, undefined, value), () => toFieldSet(schema, value));

class OutlineWriter {
  text = '';

  write(schema: Schema, zero: unknown, value: unknown): void {
    if (typeof value !== 'object' || value === null) return this.#writeLeaf(value === null ? 'n' : 'l', zero, value);
    const shape = shapeOf(schema, value);
    if (shape.type === 'granular' && !Array.isArray(value)) {
      this.text += zero === undefined || isJsonObject(zero) ? '{' : '~{';
      this.#writeMembers(shape.child, zero, value as Record<string, unknown>);
    } else if (shape.type !== 'leaf' && shape.type !== 'granular' && Array.isArray(value) && value.length > 0) {
      this.text += zero === undefined ? '[' : '~[';
      this.#writeItems(schema, zero, value);
    } else this.#writeLeaf(Array.isArray(value) ? (value.length === 0 ? 'e' : 'a') : 'm', zero, value);
  }

  #writeLeaf(type: string, zero: unknown, value: unknown): void {
    this.text += zero === undefined ? type : `${type}${equalJson(zero, value) ? '=' : '~'}`;
  }

  #writeMembers(child: (key: string) => Schema | undefined, zero: unknown, value: Record<string, unknown>): void {
    const known = isJsonObject(zero) ? zero : undefined;
    for (const key in value) {
      const member = value[key];
      if (member === undefined || !Object.hasOwn(value, key)) continue;
      if (this.text.length > LONGEST_OUTLINE) return;
      this.text += `${key.length}:${key}`;
      this.write(child(key) ?? deducedSchema, ownValue(known, key), member);
    }
    this.text += '}';
  }

  /** Items of `zero`, if it has any, are compared with those of the value: they are part of the outline too. */
  #writeItems(list: Schema, zero: unknown, items: readonly unknown[]): void {
    if (Array.isArray(zero) && zero.length > 0) this.text += `${JSON.stringify(zero)}${JSON.stringify(items)}`;
    for (const item of items) {
      if (this.text.length > LONGEST_OUTLINE) return;
      const element = elementOfItem(list, item);
      this.text += `${element.length}:${element}`;
      this.write(list.items as Schema, undefined, item);
    }
    this.text += ']';
  }
}
