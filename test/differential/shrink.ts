// Makes a case smaller while it still shows the same difference: requests, fields, items and long texts are left out, large parts first.
import type { Case, Json, Request } from './case.ts';

type Place = readonly (string | number)[];

/** Every place inside of a value, outer ones first. */
function* places(value: unknown, at: Place = []): Iterable<Place> {
  if (at.length > 0) yield at;
  if (Array.isArray(value)) for (const [i, item] of value.entries()) yield* places(item, [...at, i]);
  else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) yield* places(item, [...at, key]);
}

/** A copy without what stands at a place, or with another value there; undefined where there is no such place. */
function edit(value: unknown, at: Place, replacement?: unknown): unknown {
  const copy = structuredClone(value);
  let parent: any = copy;
  for (const key of at.slice(0, -1)) parent = parent?.[key];
  const last = at.at(-1) as string | number;
  if (typeof parent !== 'object' || parent === null || !(last in parent)) return undefined;
  if (replacement !== undefined) parent[last] = replacement;
  else if (Array.isArray(parent)) parent.splice(last as number, 1);
  else delete parent[last];
  return copy;
}

const readAt = (value: unknown, at: Place): unknown => at.reduce<any>((inner, key) => inner?.[key], value);

/** Smaller bodies of a request. */
function* smallerBodies(body: unknown): Iterable<unknown> {
  if (typeof body !== 'object' || body === null) return;
  const all = [...places(body)].sort((one, other) => JSON.stringify(readAt(body, other) ?? null).length - JSON.stringify(readAt(body, one) ?? null).length);
  for (const at of all) {
    const without = edit(body, at);
    if (without !== undefined) yield without;
    const value = readAt(body, at);
    if (typeof value === 'string' && value.length > 12) yield edit(body, at, value.slice(0, Math.ceil(value.length / 2)));
  }
}

/** Smaller cases, the boldest first; what comes behind the request that differs is not there any more. */
function* smaller({ requests }: Case): Iterable<Case> {
  for (let i = 0; i < requests.length - 1; i++) if (requests[i]!.isNeeded !== true && requests[i]!.until === undefined) yield { requests: requests.filter((_,
    other) => other !== i) };
  for (const [i, request] of requests.entries()) {
    const withRequest = (next: Request): Case => ({ requests: requests.map((old, other) => (other === i ? next : old)) });
    const [path, query] = request.path.split('?') as [string, string?];
    for (const pair of query?.split('&') ?? []) {
      const rest = (query as string).split('&').filter((other) => other !== pair).join('&');
      yield withRequest({ ...request, path: rest === '' ? path : `${path}?${rest}` });
    }
    for (const body of smallerBodies(request.body)) yield withRequest({ ...request, body: body as Json });
  }
}

/** The smallest case found until `deadlineMs` (of performance.now) for which `isSame` holds. */
export async function shrink(found: Case, step: number, options: { readonly deadlineMs: number; isSame(smaller: Case): Promise<boolean> }): Promise<Case> {
  let best: Case = { requests: found.requests.slice(0, step + 1) };
  for (let isBetter = true; isBetter && performance.now() < options.deadlineMs;) {
    isBetter = false;
    for (const candidate of smaller(best)) {
      if (performance.now() > options.deadlineMs) break;
      if (!await options.isSame(candidate)) continue;
      best = candidate;
      isBetter = true;
      break;
    }
  }
  return best;
}
