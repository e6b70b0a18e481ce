// Which objects have the same paths: the outline of an object is everything that the paths which it states depend on, and nothing else.
// So owners of a new object have to be found once per outline.
import { isMap, ownValue } from './value.ts';
import { equalJson } from '../equal.ts';

const LONGEST_OUTLINE = 2000;

/**
 * The outline of `value` next to `zero`, with which it will be compared: keys at every depth, and which leaves are as in `zero`. undefined for
 * objects with items in lists, whose paths depend on what is in them, and for large ones.
 */
export function outlineOf(zero: unknown, value: unknown): string | undefined {
  const outline = describe(zero, value);
  return outline === undefined || outline.length > LONGEST_OUTLINE ? undefined : outline;
}

function describe(zero: unknown, value: unknown): string | undefined {
  if (!isMap(value)) {
    if (Array.isArray(value) && value.length > 0) return undefined;
    const type = Array.isArray(value) ? 'a' : value === null ? 'n' : 'l';
    return zero === undefined ? type : `${type}${equalJson(zero, value) ? '=' : '~'}`;
  }
  let outline = zero === undefined || isMap(zero) ? '{' : '~{';
  for (const key of Object.keys(value)) {
    const child = value[key];
    if (child === undefined) continue;
    const inner = describe(isMap(zero) ? ownValue(zero, key) : undefined, child);
    if (inner === undefined || outline.length > LONGEST_OUTLINE) return undefined;
    outline += `${key.length}:${key}${inner}`;
  }
  return `${outline}}`;
}
