// RFC 7396: members of the patch replace those of the target, null removes, objects merge.
import { isJsonObject } from '../../base/index.ts';
import type { JsonObject } from '../object.ts';
import { ownValue, putKey } from '../apply/value.ts';

/** The target with the patch laid over it; neither is changed, unchanged parts are shared. */
export function applyMergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  return mergeInto(target, patch) as JsonObject;
}

/** As the reference's library does, lists are kept as they are where they replace an object, and lose the nulls of objects in them anywhere else. */
function mergeInto(target: unknown, patch: unknown): unknown {
  if (!isJsonObject(patch)) return isJsonObject(target) ? patch : withoutNulls(patch);
  const base = isJsonObject(target) ? target : {};
  const out: Record<string, unknown> = {};
  for (const key of Object.keys(base)) if (!Object.hasOwn(patch, key)) putKey(out, key, base[key]);
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value !== null) putKey(out, key, mergeInto(ownValue(base, key), value));
  }
  return out;
}

/** A list whose objects have no members that are null; its own nulls stay. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  return isJsonObject(value) ? mergeInto(undefined, value) : value;
}
