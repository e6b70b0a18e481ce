// Strategic merge patch: a merge patch that knows, from the schema, which lists merge by which key, and that carries directives:
// $patch (replace, delete), $retainKeys, $deleteFromPrimitiveList/x, $setElementOrder/x. Mirrors upstream's strategicpatch, quirks included.
import { isJsonObject } from '../../base/index.ts';
import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { type StatusError, badRequest, failure } from '../status.ts';
import { ownValue, putKey } from '../apply/value.ts';
import { formatGo, formatGoText, goKindOf } from './go-format.ts';
import { arrangeItems, createIndex, identify, identifyValue, listMergedInPlace, mergeSortedItems, sortByPlace } from './list-order.ts';

type Dict = Record<string, unknown>;

const DELETE = '$deleteFromPrimitiveList';
const ORDER = '$setElementOrder';

/** A directive that makes no sense: a plain 500, as the reference answers. */
const plainError = (message: string): StatusError => failure(500, '', message);
const unknownDirective = (type: unknown, map: unknown): StatusError => plainError(`unknown patch type: ${formatGoText(type)} in map: ${formatGo(map)}`);
const noMergeKey = (map: unknown, key: string): StatusError => plainError(`map: ${formatGo(map)} does not contain declared merge key: ${key}`);
const noField = ({ name = '' }: Schema, field: string): StatusError =>
  plainError(`unable to find api field in struct ${name.split('.').at(-1)} for the json field ${JSON.stringify(field)}`);

const noList = (): StatusError => plainError('expected slice or array type, but got: struct');
const noStruct = (): StatusError => plainError('merging an object in json but data type is not struct, instead is: map');

const noListOfLists = (): StatusError => failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** A value of another Go type than upstream asserts; a missing type prints as Go prints a nil argument. */
const wrongType = (wanted: string, value: unknown): StatusError =>
  plainError(`expected a ${wanted}, but received a ${value === null ? '%!s(<nil>)' : goKindOf(value)}`);

/**
 * The target with the patch applied; the target is not changed. The patch is used up: directives that were followed, and nulls of what is added, are
 * taken out of it, and errors print what is left. Throws StatusError for directives that make no sense.
 */
export function applyStrategicMergePatch(target: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeMaps(target, patch, schema) as JsonObject;
}

const strategies = (schema: Schema | undefined): readonly string[] => schema?.patchStrategy?.split(',') ?? [];
const fieldSchema = (schema: Schema | undefined, key: string): Schema | undefined => schema?.fields?.get(key)?.schema ?? schema?.items;

function mergeMaps(target: Dict, patch: Dict, schema: Schema | undefined): Dict {
  if (Object.hasOwn(patch, '$patch')) return replaceOrDelete(patch);
  const out = copyMap(target);
  retainKeys(out, patch);
  mergeOrderedLists(out, patch, schema);
  for (const key of Object.keys(patch)) {
    const deletes = key.startsWith(DELETE);
    const name = deletes ? nameIn(key, DELETE, 'invalid patch format of primitive list') : key;
    mergeField(out, { key: name, value: patch[key], schema: fieldSchema(schema, name), parent: schema, deletes });
  }
  return out;
}

function copyMap(map: Dict): Dict {
  const out: Dict = {};
  for (const key of Object.keys(map)) putKey(out, key, map[key]);
  return out;
}

/** The name of the list that a directive is about; throws the 400 of a directive that names none. */
function nameIn(key: string, directive: string, problem: string): string {
  if (key[directive.length] !== '/') throw badRequest(problem);
  return key.slice(directive.length + 1);
}

function replaceOrDelete(patch: Dict): Dict {
  const { $patch: directive } = patch;
  if (directive === 'replace') {
    delete patch['$patch'];
    return patch;
  }
  if (directive === 'delete') return {};
  throw unknownDirective(directive, patch);
}

function retainKeys(out: Dict, patch: Dict): void {
  if (!Object.hasOwn(patch, '$retainKeys')) return;
  const { $retainKeys: keys } = patch;
  delete patch['$retainKeys'];
  const bad = (): StatusError => badRequest('invalid patch format of retainKeys');
  if (!Array.isArray(keys) || keys.some((key) => typeof key === 'object' && key !== null)) throw bad();
  const kept = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !key.startsWith(DELETE) && !key.startsWith(ORDER) && !kept.has(key)) throw bad();
  }
  for (const key of Object.keys(out)) if (!kept.has(key)) delete out[key];
}

interface FieldPatch {
  readonly key: string;
  readonly value: unknown;
  readonly schema: Schema | undefined;
  /** The schema of what has the field. */
  readonly parent: Schema | undefined;
  /** The value comes from a directive that takes texts and numbers from a list. */
  readonly deletes: boolean;
}

/** Such a directive does what a plain field does where it holds what that holds, but that it adds nothing, and takes from lists of scalars. */
function mergeField(out: Dict, { key, value, schema, parent, deletes }: FieldPatch): void {
  const current = ownValue(out, key);
  if (value === null) return void delete out[key];
  const isAlike = current !== undefined && goKindOf(current) === goKindOf(value);
  if (deletes && !isAlike) return;
  if (isAlike && isJsonObject(current) && isJsonObject(value)) {
    return putKey(out, key, strategies(schema).includes('replace') ? value : mergeMaps(current, value, schema));
  }
  if (isAlike && Array.isArray(current) && Array.isArray(value)) {
    // Where the field is no list, the patch itself has put one there, and takes from it.
    listSchema(parent, key);
    return putKey(out, key, mergeLists(current, value, { schema, deletes }));
  }
  if (!isAlike) dropNulls(value);
  const kept = dropDirectives(value);
  if (kept === undefined) delete out[key];
  else putKey(out, key, kept);
}

interface ListPatch {
  readonly schema: Schema | undefined;
  readonly deletes: boolean;
}

function mergeLists(current: readonly unknown[], patch: readonly unknown[], { schema, deletes }: ListPatch): unknown[] {
  // What replaces a list keeps its directives: they are unknown fields of the result.
  if (!deletes && !strategies(schema).includes('merge')) return [...patch];
  if (current.length === 0 && patch.length === 0) return [];
  const first = firstItem(current, patch);
  if (!isJsonObject(first)) return deletes ? takeFrom(current, patch) : mergeScalars(current, patch);
  const mergeKey = schema?.patchMergeKey;
  if (mergeKey === undefined) throw plainError('cannot merge lists without merge key for struct');
  const { base, items } = applyItemDirectives(current as Dict[], patch as Dict[], mergeKey);
  const merged = mergeItems(base, items, { mergeKey, item: schema?.items });
  checkKeys(merged, mergeKey);
  return arrangeItems(merged, { patch: items, server: base, mergeKey });
}

/** The first item of two lists; throws unless all of them are of its type. */
function firstItem(current: readonly unknown[], patch: readonly unknown[]): unknown {
  const both = [...current, ...patch];
  if (both.length === 0) throw plainError('no elements in any of the given slices');
  const [first] = both;
  if (Array.isArray(first)) throw noListOfLists();
  const isAlike = (item: unknown): boolean => item !== null && goKindOf(item) === goKindOf(first);
  if (!both.every(isAlike)) throw plainError(`list element types are not identical: ${formatGo([current, patch])}`);
  return first;
}

function takeFrom(current: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const deleted = new Set(patch.map(identifyValue));
  return current.filter((item) => !deleted.has(identifyValue(item)));
}

function mergeScalars(current: readonly unknown[], patch: readonly unknown[]): unknown[] {
  const both = [...current, ...patch];
  const placeOf = createIndex(both, undefined);
  return arrangeItems(both.filter((item, i) => placeOf(item) === i), { patch, server: current, mergeKey: undefined });
}

/** Throws unless all items are maps with a value of the merge key. */
function checkKeys(items: readonly unknown[], mergeKey: string): void {
  for (const item of items) {
    if (!isJsonObject(item)) throw wrongType('map[string]interface {}', item);
    if (!Object.hasOwn(item, mergeKey)) throw noMergeKey(item, mergeKey);
  }
}

/** Elements that are directives act on the list; the others are left to merge. */
function applyItemDirectives(current: readonly Dict[], patch: readonly Dict[], mergeKey: string): { base: readonly Dict[]; items: readonly Dict[] } {
  const deleted = new Set<string>();
  let replaces = false;
  const items: Dict[] = [];
  for (const item of patch) {
    const directive = ownValue(item, '$patch');
    if (directive === undefined) { items.push(item); continue; }
    if (directive === 'replace') replaces = true;
    else if (directive === 'merge') throw plainError('merging lists cannot yet be specified in the patch');
    else if (directive !== 'delete') throw unknownDirective(directive, item);
    else {
      const value = ownValue(item, mergeKey);
      if (value === undefined) throw noMergeKey(item, mergeKey);
      deleted.add(identifyValue(value));
    }
  }
  const base = deleted.size === 0 ? current : current.filter((item) => !deleted.has(identifyValue(ownValue(item, mergeKey))));
  return replaces ? { base: items, items: [] } : { base, items };
}

function mergeItems(base: readonly Dict[], items: readonly Dict[], { mergeKey, item: schema }: { mergeKey: string; item: Schema | undefined }): Dict[] {
  const out = [...base];
  const added = new Set<Dict>();
  const places = new Map<string, number>();
  for (const [place, item] of base.entries()) {
    const id = identifyValue(ownValue(item, mergeKey));
    if (!places.has(id)) places.set(id, place);
  }
  for (const item of items) {
    const value = ownValue(item, mergeKey);
    if (value === undefined) throw noMergeKey(item, mergeKey);
    const id = identifyValue(value);
    const at = places.get(id);
    if (at === undefined) {
      places.set(id, out.push(item) - 1);
      added.add(item);
      continue;
    }
    const current = out[at] as Dict;
    const merged = mergeMaps(current, item, schema);
    out[at] = merged;
    // An item of the patch takes up what a later one adds to it, and errors print it so.
    if (added.has(current)) out[at] = refill(current, merged);
  }
  return out;
}

function refill(map: Dict, members: Dict): Dict {
  for (const key of Object.keys(map)) delete map[key];
  for (const key of Object.keys(members)) putKey(map, key, members[key]);
  return map;
}

/** Lists whose order the patch states: merged, then put in that order with items of the server alone between them, and taken out of the patch. */
function mergeOrderedLists(out: Dict, patch: Dict, schema: Schema | undefined): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ORDER)) continue;
    const order = patch[directive];
    delete patch[directive];
    if (!Array.isArray(order)) throw wrongType('[]interface {}', order);
    const key = nameIn(directive, ORDER, 'invalid patch format of setElementOrder list');
    const [patchList, current] = [ownValue(patch, key), ownValue(out, key)];
    for (const value of [current, patchList]) if (value !== undefined && !Array.isArray(value)) throw wrongType('[]interface {}', value);
    const list = listSchema(schema, key);
    const mergeKey = list?.patchMergeKey;
    const stated = Array.isArray(patchList) ? patchList : undefined;
    if (stated !== undefined) checkOrder(stated, order, mergeKey);
    if (stated === undefined && !Array.isArray(current)) continue;
    const combine = (mine: readonly unknown[]): unknown[] =>
      (Array.isArray(current) ? mergeLists(current, mine, { schema: list, deletes: false }) : dropDirectives(mine) as unknown[]);
    const merged = stated === undefined ? current as unknown[] : combine(stated);
    const server = Array.isArray(current) ? current : [];
    const keyless = mergeKey === undefined ? [...merged, ...order, ...server].find(isJsonObject) : undefined;
    if (keyless !== undefined) throw noMergeKey(keyless, '');
    firstItem(server, stated ?? []);
    const placeOf = createIndex(order, mergeKey);
    if (mergeKey !== undefined) checkOrdered({ merged, order, server, mergeKey, placeOf });
    const before = mergeKey === undefined || stated === undefined ? server : listMergedInPlace(server as Dict[], stated as Dict[], mergeKey);
    const byOrder = sortByPlace(merged.filter((item) => placeOf(item) >= 0), placeOf);
    putKey(out, key, mergeSortedItems(merged.filter((item) => placeOf(item) < 0), byOrder, { server: before, mergeKey }));
    delete patch[key];
  }
}

interface OrderedItems extends Readonly<Record<'merged' | 'order' | 'server', readonly unknown[]>> {
  readonly mergeKey: string;
  readonly placeOf: (item: unknown) => number;
}

/** Throws unless all items are maps with the merge key. A search that leads past an item of the order that is no map ends there first. */
function checkOrdered({ merged, order, server, mergeKey, placeOf }: OrderedItems): void {
  const odd = order.findIndex((item) => !isJsonObject(item));
  for (const item of merged) {
    checkKeys([item], mergeKey);
    const place = placeOf(item);
    if (odd >= 0 && (place < 0 || place > odd)) throw plainError(`value for key ${odd} is not a map`);
  }
  for (const items of [order, server]) checkKeys(items, mergeKey);
}

/** The schema of a list that is merged or put in order; throws where there can be none. */
function listSchema(schema: Schema | undefined, key: string): Schema | undefined {
  if (schema?.type === 'map') throw noStruct();
  const field = schema?.fields?.get(key);
  if (field === undefined && schema?.fields !== undefined) throw noField(schema, key);
  if (field !== undefined && field.schema.type !== 'array' && !field.pointer) throw noList();
  return field?.schema;
}

const hasDirective = (item: unknown): boolean => isJsonObject(item) && Object.hasOwn(item, '$patch');

/** Throws unless a list of a patch has the order that the patch states. Directives behind all that has a place in that order have none themselves. */
function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const stated = mergeKey === undefined ? patch : patch.filter((item) => !hasDirective(item) || (item as Dict)['$patch'] !== 'delete');
  if (order.length === 0 || patch.length === 0) return;
  const noMap = mergeKey === undefined ? undefined : patch.findIndex((item) => !isJsonObject(item));
  if (noMap !== undefined && noMap >= 0) throw wrongType('map[string]interface {}', patch[noMap]);
  let next = 0;
  for (const item of order) {
    while (hasDirective(stated[next])) next++;
    const mine = stated[next];
    if (mergeKey !== undefined) checkKeys(mine === undefined ? [] : [mine, item], mergeKey);
    if (next < stated.length && identify(mine, mergeKey) === identify(item, mergeKey)) next++;
  }
  if (next < stated.length) throw plainError(`The order in patch list:\n${formatGo(patch)}\n doesn't match $setElementOrder list:\n${formatGo(order)}\n`);
}

/** Takes the nulls out of a value, at any depth. */
function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  if (!isJsonObject(value)) return;
  for (const key of Object.keys(value)) {
    if (value[key] === null) delete value[key];
    else dropNulls(value[key]);
  }
}

/** The value that a patch adds where nothing was: without the maps that say `$patch`; undefined where it is one. */
function dropDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropDirectives).filter((item) => item !== undefined);
  if (!isJsonObject(value)) return value;
  if (Object.hasOwn(value, '$patch')) return undefined;
  for (const key of Object.keys(value)) {
    const kept = dropDirectives(value[key]);
    if (kept === undefined) delete value[key];
    else putKey(value, key, kept);
  }
  return value;
}
