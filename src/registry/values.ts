// Copies of JSON-like values. structuredClone costs several times as much, and keys named `__proto__` must stay plain data.

type Json = Readonly<Record<string, unknown>>;

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

/** A copy that has the parts of `before`, in the same place, where these are equal in all, the order of their keys included. */
export function copySharing<T>(value: T, before: unknown): T {
  if (typeof value !== 'object' || value === null) return value;
  if (typeof before !== 'object' || before === null || Array.isArray(value) !== Array.isArray(before)) return cloneJson(value);
  return (Array.isArray(value) ? shareList(value, before as readonly unknown[]) : shareMembers(value as Json, before as Json)) as T;
}

/** Nothing is copied until the first difference. */
function shareList(value: readonly unknown[], before: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined;
  for (let i = 0; i < value.length; i++) {
    const part = copySharing(value[i], before[i]);
    if (copy === undefined && (part !== before[i] || i >= before.length)) copy = before.slice(0, i);
    copy?.push(part);
  }
  return copy ?? (value.length === before.length ? before : before.slice(0, value.length));
}

function shareMembers(value: Json, before: Json): Json {
  const names = Object.keys(before);
  let copy: Record<string, unknown> | undefined;
  let count = 0;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    const isInPlace = names[count] === name;
    const old = isInPlace || Object.hasOwn(before, name) ? before[name] : undefined;
    const part = copySharing(value[name], old);
    if (copy === undefined && !(isInPlace && part === old)) copy = copyFirst(before, names, count);
    if (copy !== undefined) setOwn(copy, name, part);
    count += 1;
  }
  return copy ?? (count === names.length ? before : copyFirst(before, names, count));
}

function copyFirst(object: Json, names: readonly string[], count: number): Record<string, unknown> {
  const copy: Record<string, unknown> = {};
  for (let i = 0; i < count; i++) setOwn(copy, names[i] as string, object[names[i] as string]);
  return copy;
}

/** The value, changed in place where it is not that of `before`, with no object or list of `before` down to a depth; below that they are shared. */
export function unshare(value: unknown, before: unknown, depth: number): unknown {
  if (depth === 0 || typeof value !== 'object' || value === null || typeof before !== 'object' || before === null) return value;
  const own = (value !== before ? value : Array.isArray(value) ? [...value] : { ...value }) as Record<string, unknown>;
  if (depth === 1) return own;
  for (const name in own) {
    const part = own[name];
    if (typeof part === 'object' && part !== null) own[name] = unshare(part, (before as Json)[name], depth - 1);
  }
  return own;
}

/**
 * A copy with the keys of all objects in byte order, as untyped objects are written; keys without a value are left out. What the value shares with
 * `before`, in the same place, is so already and stays as it is; an object with the same members becomes that of `before`.
 */
export function sortJson<T>(value: T, before?: unknown): T {
  if (typeof value !== 'object' || value === null || value === before) return value;
  const known = typeof before === 'object' ? before as Json | null : null;
  if (Array.isArray(value)) {
    const items = value.map((item, i) => sortJson(item, known?.[i]));
    return (Array.isArray(before) && before.length === items.length && items.every((item, i) => item === before[i]) ? before : items) as T;
  }
  const sorted: Record<string, unknown> = {};
  let isSame = known !== null && !Array.isArray(known);
  let count = 0;
  const keys = Object.keys(value);
  // One comparison for each key recognises objects that are sorted already, as most are that clients send.
  for (const key of isSorted(keys) ? keys : keys.sort()) {
    const child = (value as Record<string, unknown>)[key];
    if (child === undefined) continue;
    const part = sortJson(child, known?.[key]);
    if (part !== known?.[key]) isSame = false;
    setOwn(sorted, key, part);
    count += 1;
  }
  return (isSame && known !== null && Object.keys(known).length === count ? known : sorted) as T;
}

function isSorted(keys: readonly string[]): boolean {
  for (let i = 1; i < keys.length; i++) if ((keys[i] as string) < (keys[i - 1] as string)) return false;
  return true;
}
