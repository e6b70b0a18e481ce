// RFC 7396: members of the patch replace those of the target, null removes, objects merge.
import type { JsonObject } from '../object.ts';
import { isMap, ownValue, putKey } from '../apply/value.ts';

/** The target with the patch laid over it; neither is changed, unchanged parts are shared. */
export function applyMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  return mergeInto(target, patch) as JsonObject;
}

function mergeInto(target: unknown, patch: unknown): unknown {
  if (!isMap(patch)) return patch;
  const base = isMap(target) ? target : {};
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(base)) if (!Object.hasOwn(patch, key)) putKey(out, key, base[key]);
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value !== null) putKey(out, key, mergeInto(ownValue(base, key), value));
  }
  return out;
}
