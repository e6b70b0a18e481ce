// What differs between the answers of two servers to one case: the first request that is answered otherwise, where, and a signature under which
// the same difference in other cases is found again.
import type { Case, Json } from './case.ts';
import { type Answer, sortCauses } from './normalise.ts';

/** What differs, the worst first: the status code, a Status, another body, headers, the order of keys. */
export type Sort = 'code' | 'status' | 'body' | 'headers' | 'order';

/** The first difference of a case. */
export interface Difference {
  readonly step: number;
  readonly sort: Sort;
  readonly signature: string;
  /** What the peer and this server say, a place a line. */
  readonly lines: readonly string[];
}

function* walk(theirs: unknown, ours: unknown, at: string): Iterable<readonly [at: string, theirs: unknown, ours: unknown]> {
  if (JSON.stringify(theirs) === JSON.stringify(ours)) return;
  if (Array.isArray(theirs) && Array.isArray(ours)) {
    for (let i = 0; i < Math.max(theirs.length, ours.length); i++) yield* walk(theirs[i], ours[i], `${at}[${i}]`);
  } else if (typeof theirs === 'object' && typeof ours === 'object' && theirs !== null && ours !== null && Array.isArray(theirs) === Array.isArray(ours)) {
    for (const key of new Set([...Object.keys(theirs), ...Object.keys(ours)])) yield* walk((theirs as Json)[key], (ours as Json)[key], `${at}.${key}`);
  } else {
    yield [at, theirs, ours];
  }
}

const show = (value: unknown): string => {
  const text = value === undefined ? '(absent)' : JSON.stringify(value);
  return text.length > 700 ? `${text.slice(0, 700)}…` : text;
};

/** A text without its numbers, names and quotations: those of two cases may differ. */
const blur = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"/g, '"…"').replace(/\d+/g, '#').replace(/\[[^\]]*\]/g, '[…]').slice(0, 160);

const isStatus = (body: unknown): boolean => (body as Json | null)?.['kind'] === 'Status';

function sortOf(theirs: Answer, ours: Answer, places: readonly (readonly unknown[])[]): Sort {
  if (theirs.status !== ours.status) return 'code';
  if (places.length === 0) return 'order';
  if (places.every(([at]) => !(at as string).startsWith('.body'))) return 'headers';
  return isStatus(theirs.body) && theirs.status >= 400 ? 'status' : 'body';
}

/** The message of a refusal, field by field as its causes name them. */
function summary(answer: Answer): string {
  const body = answer.body as Json | undefined;
  const causes = body?.['details']?.causes as Json[] | undefined;
  const named = causes?.map((cause) => `${blur(String(cause['field']).replace(/\[[^\]]*\]/g, '[*]'))} ${blur(String(cause['message']))}`);
  return named !== undefined ? [...new Set(named)].sort().join('; ') : blur(String(body?.['message'] ?? ''));
}

function signatureOf(sort: Sort,
  given: { readonly request: string; readonly theirs: Answer; readonly ours: Answer; readonly places: readonly string[] }): string {
  const { request, theirs, ours, places } = given;
  if (sort === 'code') return `${request} ${theirs.status}/${ours.status} ${summary(theirs.status >= 400 ? theirs : ours)}`.slice(0, 240);
  if (sort === 'status') {
    const [one, other] = [summary(theirs).split('; '), summary(ours).split('; ')];
    return `${request} ${theirs.status} -${one.filter((x) => !other.includes(x)).join(';')} +${other.filter((x) => !one.includes(x)).join(';')}`.slice(0, 300);
  }
  return `${request} ${sort} ${[...new Set(places.map((at) => at.replace(/\[\d+\]/g, '[*]')))].slice(0, 4).join(' ')}`;
}

/** Whether the peer ended the connection: it does so where a request makes it panic. */
const isPanic = ({ status, body }: Answer): boolean => status === 0 && /socket hang up|ECONNRESET|other side closed/.test(String(body));

/** A refusal without what says whether a list or map in it is empty or absent. */
const withoutEmpty = ({ status, body }: Answer): string => JSON.stringify([status, body]).replace(/: (?:\[\]|\{\}|null)(?=[,:\\])/g, ': null')
  .replace(/\\":(?:\[\]|\{\})/g, '\\":null');

const withoutVersion = ({ status, body }: Answer): string => {
  const { kind, metadata, ...rest } = (body ?? {}) as Json;
  return kind === 'PersistentVolumeClaim' || kind === 'Job' ? JSON.stringify([status, rest, { ...metadata, resourceVersion: '' }]) : '';
};

/** A dry run shows the resourceVersion that the client has sent, even one that no object can have. */
const showsSentVersion = (theirs: Answer, ours: Answer): boolean => {
  const { metadata, ...rest } = (theirs.body ?? {}) as Json;
  const { metadata: mine, ...others } = (ours.body ?? {}) as Json;
  if (theirs.status !== 201 || metadata?.['resourceVersion'] === undefined || mine === undefined || mine['resourceVersion'] !== undefined) return false;
  const { resourceVersion: _, ...left } = metadata;
  return JSON.stringify([rest, left]) === JSON.stringify([others, mine]);
};

/**
 * Whether two answers differ as docs/differences.md says: where the peer panics, in a version that is none, in empty lists and maps of refusals, after
 * updates without a change.
 */
export function isDocumented(theirs: Answer, ours: Answer): boolean {
  if (isPanic(theirs)) return ours.status < 500 || (isStatus(ours.body) && (ours.body as Json)['reason'] !== 'InternalError');
  if (showsSentVersion(theirs, ours)) return true;
  const written = withoutVersion(theirs);
  if (written !== '' && JSON.stringify(theirs) !== JSON.stringify(ours) && written === withoutVersion(ours)) return true;
  return theirs.status === 422 && isStatus(theirs.body) && JSON.stringify(theirs) !== JSON.stringify(ours) && withoutEmpty(theirs) === withoutEmpty(ours);
}

/** The first answer that differs, or nothing. Another order of keys counts only where nothing else differs. */
export function compare(made: Case, theirs: readonly Answer[], ours: readonly Answer[]): Difference | undefined {
  let order: Difference | undefined;
  for (const [step, answer] of theirs.entries()) {
    if (ours[step] === undefined) break;
    const difference = compareStep(made, step, { answer: sortCauses(answer), other: sortCauses(ours[step]) });
    if (difference?.sort !== 'order' && difference !== undefined) return difference;
    order ??= difference;
  }
  return order;
}

function compareStep({ requests }: Case, step: number, { answer, other }: { readonly answer: Answer; readonly other: Answer }): Difference | undefined {
  if (JSON.stringify(answer) === JSON.stringify(other) || isDocumented(answer, other)) return undefined;
  const { method = 'GET', path, body } = requests[step]!;
  const places = [...walk(answer, other, '')];
  const sort = sortOf(answer, other, places);
  const kind = (body as Json | null)?.['kind'] ?? '';
  const request = `${method} ${path.split('?')[0]!.replace(/\{\w+\}|[\w-]*\{id\}[\w-]*/g, '*')} ${typeof kind === 'string' ? kind : ''}`;
  const lines = sort === 'order' ? [orderLine(answer, other)] : places.slice(0, 8).map(([at, one, two]) => `${at}: peer ${show(one)} here ${show(two)}`);
  return { step, sort, signature: signatureOf(sort, { request, theirs: answer, ours: other, places: places.map(([at]) => at) }), lines };
}

/** Where the keys first come in another order. */
function orderLine(theirs: unknown, ours: unknown, at = ''): string {
  if (typeof theirs !== 'object' || theirs === null) return '';
  const [one, two] = [Object.keys(theirs), Object.keys(ours as Json)];
  if (one.join() !== two.join()) return `${at}: peer ${one.join()} here ${two.join()}`;
  const key = one.find((name) => JSON.stringify((theirs as Json)[name]) !== JSON.stringify((ours as Json)[name]));
  return key === undefined ? '' : orderLine((theirs as Json)[key], (ours as Json)[key], `${at}.${key}`);
}
