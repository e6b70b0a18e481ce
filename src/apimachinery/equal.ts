// Equality of JSON data: the one of the whole tree.

/** Whether two values say the same in JSON: the order of keys and keys without a value do not matter, 1 and 1.0 and 1n are the same, null is a value. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return equalNumbers(a, b);
  if (Array.isArray(a) || Array.isArray(b)) return Array.isArray(a) && Array.isArray(b) && equalArrays(a, b);
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  let count = 0;
  for (const key in left) {
    if (left[key] === undefined) continue;
    if (!(Object.hasOwn(right, key) && equalJson(left[key], right[key]))) return false;
    count++;
  }
  return count === countDefined(right);
}

/** A bigint and a number: what is equal of one type is identical. */
function equalNumbers(a: unknown, b: unknown): boolean {
  return ((typeof a === 'bigint' && typeof b === 'number') || (typeof a === 'number' && typeof b === 'bigint')) && a == b;
}

function equalArrays(a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (!equalJson(a[i], b[i])) return false;
  return true;
}

function countDefined(value: Record<string, unknown>): number {
  let count = 0;
  for (const key in value) if (value[key] !== undefined) count++;
  return count;
}
