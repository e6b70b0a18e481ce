// Strategic merge patch: a merge patch that knows, from the schema, which lists merge by which key, and that carries directives:
// $patch (replace, delete), $retainKeys, $deleteFromPrimitiveList/x, $setElementOrder/x. Mirrors upstream's strategicpatch, quirks included.
import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { type StatusError, badRequest, failure } from '../status.ts';
import { isMap, ownValue, putKey } from '../apply/value.ts';
import { formatGo, goTypeOf } from './go-format.ts';
import { arrangeItems, createIndex, identify, identifyValue, mergeSortedItems, sortByPlace } from './list-order.ts';

type Dict = Record<string, unknown>;

const DELETE_PREFIX = '$deleteFromPrimitiveList/';
const ORDER_PREFIX = '$setElementOrder/';

/** A directive that makes no sense: a plain 500, as the reference answers. */
const plainError = (message: string): StatusError => failure(500, '', message);
const unknownDirective = (type: unknown, map: unknown): StatusError => plainError(`unknown patch type: ${formatGo(type)} in map: ${formatGo(map)}`);
const noMergeKey = (map: unknown, key: string): StatusError => plainError(`map: ${formatGo(map)} does not contain declared merge key: ${key}`);
const noField = ({ name = '' }: Schema, field: string): StatusError =>
  plainError(`unable to find api field in struct ${name.split('.').at(-1)} for the json field ${JSON.stringify(field)}`);

const noListOfLists = (): StatusError => failure(422, 'Invalid', 'the server rejected our request due to an error in our request', {});

/** A value of another Go type than upstream asserts; a missing type prints as Go prints a nil argument. */
const wrongType = (wanted: string, value: unknown): StatusError =>
  plainError(`expected a ${wanted}, but received a ${value === null ? '%!s(<nil>)' : Number.isInteger(value) ? 'int64' : goTypeOf(value)}`);

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
  const hasKeys = Object.hasOwn(patch, '$retainKeys');
  const { $retainKeys: retain } = patch;
  delete patch['$retainKeys'];
  const out = hasKeys ? retainKeys(target, patch, retain) : copyMap(target);
  mergeOrderedLists(out, patch, schema);
  for (const key of Object.keys(patch)) {
    if (key.startsWith(DELETE_PREFIX)) {
      const name = key.slice(DELETE_PREFIX.length);
      deleteFromList(out, { key: name, value: patch[key], schema: fieldSchema(schema, name) });
    } else mergeField(out, { key, value: patch[key], schema: fieldSchema(schema, key) });
  }
  return out;
}

function copyMap(map: Dict): Dict {
  const out: Dict = {};
  for (const key of Object.keys(map)) putKey(out, key, map[key]);
  return out;
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

function retainKeys(target: Dict, patch: Dict, keys: unknown): Dict {
  const bad = (): StatusError => badRequest('invalid patch format of retainKeys');
  if (!Array.isArray(keys)) throw bad();
  const kept = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !key.startsWith(DELETE_PREFIX) && !key.startsWith(ORDER_PREFIX) && !kept.has(key)) throw bad();
  }
  const out: Dict = {};
  for (const key of Object.keys(target)) if (kept.has(key)) putKey(out, key, target[key]);
  return out;
}

function mergeField(out: Dict, { key, value, schema }: { key: string; value: unknown; schema: Schema | undefined }): void {
  const current = ownValue(out, key);
  if (value === null) return void delete out[key];
  if (isMap(current) && isMap(value)) {
    return putKey(out, key, strategies(schema).includes('replace') ? value : mergeMaps(current, value, schema));
  }
  if (Array.isArray(current) && Array.isArray(value)) return putKey(out, key, mergeLists(current, value, schema));
  dropNulls(value);
  const kept = dropDirectives(value);
  if (kept === undefined) delete out[key];
  else putKey(out, key, kept);
}

/** Takes texts and numbers from a list. Maps in such a directive are merged into the list, whatever its strategy. */
function deleteFromList(out: Dict, { key, value: values, schema }: { key: string; value: unknown; schema: Schema | undefined }): void {
  if (!Array.isArray(values)) throw badRequest('invalid patch format of primitive list');
  const current = ownValue(out, key);
  if (Array.isArray(current) && isMap(current[0] ?? values[0])) return putKey(out, key, combineLists(current, values, schema));
  const deleted = new Set(values.map(identifyValue));
  if (Array.isArray(current)) putKey(out, key, current.filter((item) => !deleted.has(identifyValue(item))));
}

function mergeLists(current: readonly unknown[], patch: readonly unknown[], schema: Schema | undefined): unknown[] {
  // What replaces a list keeps its directives: they are unknown fields of the result.
  return strategies(schema).includes('merge') ? combineLists(current, patch, schema) : [...patch];
}

function combineLists(current: readonly unknown[], patch: readonly unknown[], schema: Schema | undefined): unknown[] {
  if (current.length === 0 && patch.length === 0) return [];
  const both = [...current, ...patch];
  if (Array.isArray(both[0])) throw noListOfLists();
  const types = new Set(both.map((item) => (item === null ? 'null' : Array.isArray(item) ? 'array' : typeof item)));
  if (types.size > 1 || types.has('null')) throw plainError(`list element types are not identical: ${formatGo([current, patch])}`);
  if (!isMap(current[0] ?? patch[0])) {
    const placeOf = createIndex(both, undefined);
    return arrangeItems(both.filter((item, i) => placeOf(item) === i), { patch, server: current, mergeKey: undefined });
  }
  const mergeKey = schema?.patchMergeKey;
  if (mergeKey === undefined) throw plainError('cannot merge lists without merge key for struct');
  const { base, items } = applyItemDirectives(current as Dict[], patch as Dict[], mergeKey);
  return arrangeItems(mergeItems(base, items, { mergeKey, item: schema?.items }), { patch: items, server: base, mergeKey });
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
    if (at === undefined) places.set(id, out.push(item) - 1);
    else out[at] = mergeMaps(out[at] as Dict, item, schema);
  }
  return out;
}

/** Lists whose order the patch states: merged, then put in that order with items of the server alone between them, and taken out of the patch. */
function mergeOrderedLists(out: Dict, patch: Dict, schema: Schema | undefined): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(ORDER_PREFIX)) continue;
    const key = directive.slice(ORDER_PREFIX.length);
    const [order, patchList, current] = [patch[directive], ownValue(patch, key), ownValue(out, key)];
    delete patch[directive];
    if (!Array.isArray(order)) throw wrongType('[]interface {}', order);
    for (const value of [current, patchList]) if (value !== undefined && !Array.isArray(value)) throw wrongType('[]interface {}', value);
    const list = fieldSchema(schema, key);
    if (list === undefined && schema?.fields !== undefined) throw noField(schema, key);
    const mergeKey = list?.patchMergeKey;
    const stated = Array.isArray(patchList) ? patchList : undefined;
    if (stated !== undefined) checkOrder(stated, order, mergeKey);
    if (stated === undefined && !Array.isArray(current)) continue;
    const combine = (mine: readonly unknown[]): unknown[] => (Array.isArray(current) ? mergeLists(current, mine, list) : dropDirectives(mine) as unknown[]);
    const merged = stated === undefined ? current as unknown[] : combine(stated);
    const server = Array.isArray(current) ? current : [];
    const keyless = mergeKey === undefined ? [...merged, ...order, ...server].find(isMap) : undefined;
    if (keyless !== undefined) throw noMergeKey(keyless, '');
    const placeOf = createIndex(order, mergeKey);
    const byOrder = sortByPlace(merged.filter((item) => placeOf(item) >= 0), placeOf);
    putKey(out, key, mergeSortedItems(merged.filter((item) => placeOf(item) < 0), byOrder, { server, mergeKey }));
    delete patch[key];
  }
}

function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const stated = patch.filter((item) => !(isMap(item) && Object.hasOwn(item, '$patch')));
  if (order.length === 0 || patch.length === 0) return;
  const noMap = mergeKey === undefined ? undefined : patch.findIndex((item) => !isMap(item));
  if (noMap !== undefined && noMap >= 0) throw wrongType('map[string]interface {}', patch[noMap]);
  let next = 0;
  for (const item of order) {
    const mine = stated[next];
    if (mergeKey !== undefined && isMap(mine) && ownValue(mine, mergeKey) === undefined) throw noMergeKey(mine, mergeKey);
    if (next < stated.length && identify(mine, mergeKey) === identify(item, mergeKey)) next++;
  }
  if (next < stated.length) throw plainError(`The order in patch list:\n${formatGo(patch)}\n doesn't match $setElementOrder list:\n${formatGo(order)}\n`);
}

/** Takes the nulls out of a value, at any depth. */
function dropNulls(value: unknown): void {
  if (Array.isArray(value)) value.forEach(dropNulls);
  if (!isMap(value)) return;
  for (const key of Object.keys(value)) {
    if (value[key] === null) delete value[key];
    else dropNulls(value[key]);
  }
}

/** The value that a patch adds where nothing was: without the maps that say `$patch`; undefined where it is one. */
function dropDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropDirectives).filter((item) => item !== undefined);
  if (!isMap(value)) return value;
  if (Object.hasOwn(value, '$patch')) return undefined;
  for (const key of Object.keys(value)) {
    const kept = dropDirectives(value[key]);
    if (kept === undefined) delete value[key];
    else putKey(value, key, kept);
  }
  return value;
}
