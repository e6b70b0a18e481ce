// Strategic merge patch: a merge patch that knows, from the schema, which lists merge by which key, and that carries directives:
// $patch (replace, delete), $retainKeys, $deleteFromPrimitiveList/x, $setElementOrder/x. Mirrors upstream's strategicpatch, quirks included.
import type { JsonObject } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { type StatusError, badRequest, failure } from '../status.ts';
import { equalValues, isMap, ownValue, putKey } from '../apply/value.ts';
import { formatGo } from './go-format.ts';
import { arrangeItems, mergeSortedItems, sameItem } from './list-order.ts';

type Dict = Record<string, unknown>;

const deletePrefix = '$deleteFromPrimitiveList/';
const orderPrefix = '$setElementOrder/';

/** A directive that makes no sense: a plain 500, as the reference answers. */
const plainError = (message: string): StatusError => failure(500, '', message);
const unknownDirective = (type: unknown, map: unknown): StatusError => plainError(`unknown patch type: ${formatGo(type)} in map: ${formatGo(map)}`);
const noMergeKey = (map: unknown, key: string): StatusError => plainError(`map: ${formatGo(map)} does not contain declared merge key: ${key}`);
const noField = ({ name = '' }: Schema, field: string): StatusError =>
  plainError(`unable to find api field in struct ${name.split('.').at(-1)} for the json field ${JSON.stringify(field)}`);

/** The target with the patch applied; neither is changed. Throws StatusError for directives that make no sense. */
export function applyStrategicMergePatch(target: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeMaps(target, patch, schema) as JsonObject;
}

const strategies = (schema: Schema | undefined): readonly string[] => schema?.patchStrategy?.split(',') ?? [];
const fieldSchema = (schema: Schema | undefined, key: string): Schema | undefined => schema?.fields?.get(key)?.schema ?? schema?.items;

function mergeMaps(target: Dict, patch: Dict, schema: Schema | undefined): Dict {
  if (Object.hasOwn(patch, '$patch')) return replaceOrDelete(patch);
  const { $retainKeys: retain, ...rest } = patch;
  const out = Object.hasOwn(patch, '$retainKeys') ? retainKeys(target, rest, retain) : copyMap(target);
  const ordered = mergeOrderedLists(out, rest, schema);
  for (const key of Object.keys(rest)) {
    if (key.startsWith(orderPrefix) || ordered.has(key)) continue;
    if (key.startsWith(deletePrefix)) deleteFromList(out, key.slice(deletePrefix.length), rest[key]);
    else mergeField(out, { key, value: rest[key], schema: fieldSchema(schema, key) });
  }
  return out;
}

function copyMap(map: Dict): Dict {
  const out: Dict = {};
  for (const key of Object.keys(map)) putKey(out, key, map[key]);
  return out;
}

function replaceOrDelete(patch: Dict): Dict {
  const { $patch: directive, ...rest } = patch;
  if (directive === 'replace') return rest;
  if (directive === 'delete') return {};
  throw unknownDirective(directive, patch);
}

function retainKeys(target: Dict, patch: Dict, keys: unknown): Dict {
  const bad = (): StatusError => badRequest('invalid patch format of retainKeys');
  if (!Array.isArray(keys)) throw bad();
  const kept = new Set<unknown>(keys);
  for (const [key, value] of Object.entries(patch)) {
    if (value !== null && !key.startsWith(deletePrefix) && !key.startsWith(orderPrefix) && !kept.has(key)) throw bad();
  }
  const out: Dict = {};
  for (const key of Object.keys(target)) if (kept.has(key)) putKey(out, key, target[key]);
  return out;
}

function mergeField(out: Dict, { key, value, schema }: { key: string; value: unknown; schema: Schema | undefined }): void {
  const current = ownValue(out, key);
  if (value === null) return void delete out[key];
  if (isMap(current) && isMap(value)) {
    return putKey(out, key, strategies(schema).includes('replace') ? dropDirectives(value) : mergeMaps(current, value, schema));
  }
  if (Array.isArray(current) && Array.isArray(value)) return putKey(out, key, mergeLists(current, value, schema));
  putKey(out, key, dropDirectives(dropNulls(value)));
}

function deleteFromList(out: Dict, key: string, values: unknown): void {
  if (!Array.isArray(values)) throw badRequest('invalid patch format of primitive list');
  const current = ownValue(out, key);
  if (Array.isArray(current)) putKey(out, key, current.filter((item) => !values.some((value) => equalValues(item, value))));
}

function mergeLists(current: readonly unknown[], patch: readonly unknown[], schema: Schema | undefined): unknown[] {
  if (!strategies(schema).includes('merge')) return patch.map((item) => dropDirectives(item));
  if (current.length === 0 && patch.length === 0) return [];
  const types = new Set([...current, ...patch].map((item) => (Array.isArray(item) ? 'array' : typeof item)));
  if (types.size > 1) throw plainError(`list element types are not identical: ${formatGo([current, patch])}`);
  if (!isMap(current[0] ?? patch[0])) {
    const both = [...current, ...patch].filter((item, i, all) => all.findIndex((other) => equalValues(other, item)) === i);
    return arrangeItems(both, { patch, server: current, mergeKey: undefined });
  }
  const mergeKey = schema?.patchMergeKey;
  if (mergeKey === undefined) throw plainError('cannot merge lists without merge key');
  const { base, items } = applyItemDirectives(current as Dict[], patch as Dict[], mergeKey);
  return arrangeItems(mergeItems(base, items, { mergeKey, item: schema?.items }), { patch: items, server: base, mergeKey });
}

/** Elements that are directives act on the list; the others are left to merge. */
function applyItemDirectives(current: readonly Dict[], patch: readonly Dict[], mergeKey: string): { base: readonly Dict[]; items: readonly Dict[] } {
  let base = current;
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
      base = base.filter((other) => !equalValues(ownValue(other, mergeKey), value));
    }
  }
  return replaces ? { base: items.map((item) => dropDirectives(item) as Dict), items: [] } : { base, items };
}

function mergeItems(base: readonly Dict[], items: readonly Dict[], { mergeKey, item: schema }: { mergeKey: string; item: Schema | undefined }): Dict[] {
  const out = [...base];
  for (const item of items) {
    const value = ownValue(item, mergeKey);
    if (value === undefined) throw noMergeKey(item, mergeKey);
    const at = out.findIndex((other) => equalValues(ownValue(other, mergeKey), value));
    if (at < 0) out.push(dropDirectives(item) as Dict);
    else out[at] = mergeMaps(out[at] as Dict, item, schema);
  }
  return out;
}

/** Lists whose order the patch states: merged, then put in that order with items of the server alone between them. Answers their keys. */
function mergeOrderedLists(out: Dict, patch: Dict, schema: Schema | undefined): Set<string> {
  const done = new Set<string>();
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(orderPrefix)) continue;
    const key = directive.slice(orderPrefix.length);
    const [order, patchList, current] = [patch[directive], ownValue(patch, key), ownValue(out, key)];
    if (!Array.isArray(order)) throw badRequest('invalid patch format of setElementOrder list');
    const list = fieldSchema(schema, key);
    if (list === undefined && schema?.fields !== undefined) throw noField(schema, key);
    if (patchList === null) continue;
    const mergeKey = list?.patchMergeKey;
    const stated = Array.isArray(patchList) ? patchList : undefined;
    if (stated !== undefined) checkOrder(stated, order, mergeKey);
    if (stated === undefined && !Array.isArray(current)) continue;
    const combine = (mine: readonly unknown[]): unknown[] => (Array.isArray(current) ? mergeLists(current, mine, list) : dropDirectives(mine) as unknown[]);
    const merged = stated === undefined ? current as unknown[] : combine(stated);
    const server = Array.isArray(current) ? current : [];
    const inOrder = (item: unknown): boolean => order.some((other) => sameItem(item, other, mergeKey));
    const byOrder = merged.filter(inOrder).sort((a, b) => order.findIndex((o) => sameItem(a, o, mergeKey)) - order.findIndex((o) => sameItem(b, o, mergeKey)));
    putKey(out, key, mergeSortedItems(merged.filter((item) => !inOrder(item)), byOrder, { server, mergeKey }));
    done.add(key);
  }
  return done;
}

function checkOrder(patch: readonly unknown[], order: readonly unknown[], mergeKey: string | undefined): void {
  const stated = patch.filter((item) => !(isMap(item) && Object.hasOwn(item, '$patch')));
  if (order.length === 0 || stated.length === 0) return;
  let next = 0;
  for (const item of order) {
    const mine = stated[next];
    if (mergeKey !== undefined && isMap(mine) && ownValue(mine, mergeKey) === undefined) throw noMergeKey(mine, mergeKey);
    if (next < stated.length && sameItem(mine, item, mergeKey)) next++;
  }
  if (next < stated.length) throw plainError(`The order in patch list:\n${formatGo(patch)}\n doesn't match $setElementOrder list:\n${formatGo(order)}\n`);
}

function dropNulls(value: unknown): unknown {
  if (!isMap(value)) return value;
  const out: Dict = {};
  for (const key of Object.keys(value)) if (value[key] !== null) putKey(out, key, dropNulls(value[key]));
  return out;
}

/** What a patch adds where nothing was: the value without its directives; elements that delete are left out. */
function dropDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => !(isMap(item) && (ownValue(item, '$patch') === 'delete' || isBareReplace(item)))).map(dropDirectives);
  if (!isMap(value)) return value;
  if (ownValue(value, '$patch') === 'delete') return {};
  const out: Dict = {};
  for (const key of Object.keys(value)) {
    const isDirective = key === '$patch' || key === '$retainKeys' || key.startsWith(deletePrefix) || key.startsWith(orderPrefix);
    if (!isDirective) putKey(out, key, dropDirectives(value[key]));
  }
  return out;
}

const isBareReplace = (item: Dict): boolean => item.$patch === 'replace' && Object.keys(item).length === 1;
