// Sets of paths in the terms of a schema that has changed since they were written: an owner of something in a list or map that is merged as a whole by
// now owns all of it. Mirrors structured-merge-diff's reconciliation; what became granular is left as it was.
import type { Schema } from '../schema/schema.ts';
import { FieldSet, type PathElement } from './field-set.ts';
import { shapeOf } from './value.ts';

const reconciled = new WeakMap<Schema, WeakMap<FieldSet, FieldSet>>();

/** The set in the terms of the schema: itself where nothing has changed, which is known from the second time on. */
export function reconcileFields(schema: Schema, set: FieldSet): FieldSet {
  let known = reconciled.get(schema);
  if (known === undefined) reconciled.set(schema, (known = new WeakMap()));
  let result = known.get(set);
  if (result === undefined) known.set(set, (result = reconcile(schema, set)));
  return result;
}

function reconcile(schema: Schema, set: FieldSet): FieldSet {
  let nodes: Map<PathElement, { readonly member: boolean; readonly children: FieldSet | undefined }> | undefined;
  for (const [element, { member, children }] of set.nodes) {
    const inner = children && schemaBelow(schema, element);
    if (inner === undefined) continue;
    const below = isAtomic(inner) ? undefined : reconcile(inner, children as FieldSet);
    if (below !== children) (nodes ??= new Map(set.nodes)).set(element, { member: member || below === undefined, children: below });
  }
  return nodes === undefined ? set : new FieldSet(nodes);
}

const isAtomic = (schema: Schema): boolean => {
  const { type, mapType } = schema;
  return type === 'array' ? shapeOf(schema, []).type === 'leaf' : (type === 'object' || type === 'map') && mapType === 'atomic';
};

/** undefined below what has no declared parts, where a set may hold anything. */
function schemaBelow(schema: Schema, element: PathElement): Schema | undefined {
  const shape = shapeOf(schema, undefined);
  if (shape.type === 'leaf') return undefined;
  if (shape.type !== 'granular') return shape.item;
  return element.startsWith('f:') ? shape.child(element.slice(2)) : undefined;
}
