// Copies of JSON-like values. structuredClone costs several times as much, and keys named `__proto__` must stay plain data.

/** Sets an own property whatever the key is called. */
export function setOwn(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  else target[key] = value;
}

/** A copy that shares nothing that can change. */
export function cloneJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const copy = new Array<unknown>(value.length);
    for (let i = 0; i < value.length; i++) copy[i] = cloneJson(value[i]);
    return copy as T;
  }
  const copy: Record<string, unknown> = {};
  for (const key in value) {
    if (Object.hasOwn(value, key)) setOwn(copy, key, cloneJson((value as Record<string, unknown>)[key]));
  }
  return copy as T;
}

/** The same with the keys of all objects in byte order, as untyped objects are written; keys without a value are left out. */
export function sortJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sortJson) as T;
  const sorted: Record<string, unknown> = {};
  const keys = Object.keys(value);
  // One comparison for each key recognises objects that are sorted already, as most are that clients send.
  for (const key of isSorted(keys) ? keys : keys.sort()) {
    const child = (value as Record<string, unknown>)[key];
    if (child !== undefined) setOwn(sorted, key, sortJson(child));
  }
  return sorted as T;
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) < (keys[i - 1] as string)) return false;
  return true;
}
