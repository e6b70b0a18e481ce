// What differs between the answers of two servers to one case: the first request that is answered otherwise, where, and a signature under which
// the same difference in other cases is found again.
import type { Case, Json, Request } from './case.ts';
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

/** The difference between two specs, as refusals of updates show it, left out where the peer's has an empty list or map in a changed line. */
function withoutSpecs(theirs: Answer, ours: Answer): readonly [string, string] {
  const causes = ((theirs.body as Json)['details']?.causes ?? []) as Json[];
  if (!causes.some(({ message }) => /\n[+-] *"\w+": (?:\[\]|\{\})/.test(String(message)))) return [withoutEmpty(theirs), withoutEmpty(ours)];
  const cut = (answer: Answer): string => JSON.stringify(answer, (_, value: unknown) => (typeof value === 'string' ? value.split('\n@@', 1)[0] : value));
  return [cut(theirs), cut(ours)];
}

const IMMUTABLE = 'Forbidden: field is immutable when `immutable` is set';

const POD_CLAIMS = 'Forbidden: claims may not be set for Resources at pod-level';

const EPHEMERAL = 'Forbidden: cannot be set for an Ephemeral Container';

/** Whether a map is empty, or a patch by it leaves an empty one. */
const isEmptied = (map: unknown): boolean => typeof map === 'object' && map !== null && Object.values(map).every((value) => value === null);

/** Whether a request has an empty map or list somewhere. */
const hasEmpty = (sent: unknown): boolean => /:(?:\{\}|\[\])/.test(JSON.stringify(sent) ?? '');

/** Whether a NetworkPolicy differs in its generation alone, which counts empty maps at the peer and makes a write of what is none here. */
function isOtherGeneration(theirs: Answer, ours: Answer): boolean {
  const generationOf = ({ body }: Answer): unknown => (body as Json | null)?.['metadata']?.generation;
  const without = ({ body }: Answer): string =>
    JSON.stringify(body, (key, value: unknown) => (key === 'generation' || key === 'resourceVersion' ? undefined : value));
  return (theirs.body as Json | null)?.['kind'] === 'NetworkPolicy' && theirs.status === ours.status && generationOf(theirs) !== generationOf(ours)
    && without(theirs) === without(ours);
}

/** Whether an autoscaler differs in its version and owners alone, whose metrics the peer takes for changed where they hold a quantity. */
function isOtherOwner(theirs: Answer, ours: Answer): boolean {
  const without = ({ body }: Answer): string =>
    JSON.stringify(body, (key, value: unknown) => (key === 'managedFields' || key === 'resourceVersion' ? undefined : value));
  const { kind, spec } = (theirs.body ?? {}) as Json;
  return kind === 'HorizontalPodAutoscaler' && theirs.status === 200 && ours.status === 200 && JSON.stringify(theirs) !== JSON.stringify(ours)
    && /"(?:averageValue|value)":/.test(JSON.stringify(spec?.metrics) ?? '') && without(theirs) === without(ours);
}

/** The peer's refusal without the causes that docs/differences.md names: empty maps and lists, amounts of many digits; undefined where no other is left. */
function withoutDocumented({ body: sent }: Request, theirs: Answer): Answer | undefined {
  const body = theirs.body as Json;
  const at = (field: string): unknown => field.split(/[.[\]]+/).filter((name) => name !== '').reduce<any>((value, name) => value?.[name], sent);
  const isKnown = ({ field, message }: Json): boolean => (message === IMMUTABLE && isEmptied(at(String(field))))
    || (message === EPHEMERAL && Object.values(at(String(field)) as Json).every(isEmptied)) || (message === POD_CLAIMS && hasEmpty(sent))
    || (String(message).endsWith(': must be an integer') && /\d{19}/.test(JSON.stringify(sent)));
  const all = (body['details']?.causes ?? []) as Json[];
  const causes = all.filter((cause) => !isKnown(cause));
  if (causes.length === all.length) return theirs;
  if (causes.length === 0) return undefined;
  const [first] = causes;
  const isOne = causes.every((cause) => JSON.stringify(cause) === JSON.stringify(first));
  const [subject] = String(body['message']).split(' is invalid: ', 1);
  const message = !isOne ? body['message'] : `${subject} is invalid: ${first!['field']}: ${first!['message']}`;
  return { ...theirs, body: { ...body, message, details: { ...body['details'], causes } } };
}

/**
 * Whether the answers to a request differ as docs/differences.md says: where the peer panics, in empty lists and maps of refusals, in amounts of many
 * digits, and in owners of an autoscaler's metrics.
 */
function isDocumented(request: Request, theirs: Answer, ours: Answer): boolean {
  if (JSON.stringify(theirs) === JSON.stringify(ours)) return false;
  if (isPanic(theirs)) return ours.status < 500 || (isStatus(ours.body) && (ours.body as Json)['reason'] !== 'InternalError');
  if (isOtherGeneration(theirs, ours)) return hasEmpty(request.body);
  if (isOtherOwner(theirs, ours)) return true;
  if (theirs.status !== 422 || !isStatus(theirs.body)) return false;
  const rest = withoutDocumented(request, theirs);
  if (rest === undefined) return ours.status < 300;
  const [one, other] = withoutSpecs(rest, ours);
  return one === other;
}

const versionOf = ({ body }: Answer): string => String((body as Json | null)?.['metadata']?.resourceVersion ?? '');

/**
 * Whether a write gave an object null as one of its values of bytes: the peer stores the empty value that it shows with the next update only, which is a
 * write though it changes nothing. A JSON patch without a value sets null.
 */
function isIncomplete({ body: sent }: Request, body: unknown): boolean {
  const { kind, data, binaryData } = (body ?? {}) as Json;
  if (kind !== 'ConfigMap' && kind !== 'Secret') return false;
  return (Array.isArray(sent) || /:null\b/.test(JSON.stringify(sent) ?? ''))
    && [binaryData, kind === 'Secret' ? data : {}].some((map) => Object.values(map ?? {}).includes(''));
}

/**
 * The peer's answers with the versions that they would have without the writes of docs/differences.md that change nothing: the next updates of some
 * objects, where this server shows the version that they had before.
 */
export function alignVersions(
  requests: readonly Request[], theirs: readonly Answer[], ours: readonly Answer[],
): { readonly answers: readonly Answer[]; readonly writes: readonly number[] } {
  const answers: Answer[] = [];
  const versions = new Map<string, Set<string>>();
  const incomplete = new Set<string>();
  const skipped: number[] = [];
  const writes: number[] = [];
  const align = (answer: Answer): Answer => JSON.parse(JSON.stringify(answer).replace(/<rv (\d+)>/g, (_, number: string) =>
    `<rv ${Number(number) - skipped.filter((at) => at <= Number(number)).length}>`)) as Answer;
  for (const [step, answer] of theirs.entries()) {
    const body = answer.body as Json | null;
    const known = `${body?.['kind']} ${body?.['metadata']?.name}`;
    const seen = versions.get(known) ?? new Set();
    const [version, mine] = [versionOf(answer), ours[step] === undefined ? '' : versionOf(ours[step])];
    const isNext = !seen.has(version) && incomplete.delete(known);
    if (!seen.has(version) && isIncomplete(requests[step]!, body)) incomplete.add(known);
    if (isNext && mine !== versionOf(align(answer)) && mine === versionOf(answers.findLast(({ body: had }) => isSameObject(had, body))!)) {
      skipped.push(Number(/\d+/.exec(version)?.[0]));
      writes.push(step);
    }
    if (/^<rv \d+>$/.test(version)) versions.set(known, seen.add(version));
    answers.push(align(answer));
  }
  return { answers, writes };
}

const isSameObject = (one: unknown, other: unknown): boolean => {
  const [a, b] = [one, other].map((body) => (body ?? {}) as Json) as [Json, Json];
  return a['kind'] === b['kind'] && a['metadata']?.name === b['metadata']?.name;
};

/** The steps of a case whose answers differ as docs/differences.md says. */
export function listDocumented({ requests }: Case, theirs: readonly Answer[], ours: readonly Answer[]): readonly number[] {
  const { answers, writes } = alignVersions(requests, theirs, ours);
  const differ = [...answers.keys()].filter((step) => ours[step] !== undefined && isDocumented(requests[step]!, answers[step]!, ours[step]));
  return [...writes, ...differ];
}

/** The first answer that differs, or nothing. Another order of keys counts only where nothing else differs. */
export function compare(made: Case, theirs: readonly Answer[], ours: readonly Answer[]): Difference | undefined {
  let order: Difference | undefined;
  for (const [step, answer] of alignVersions(made.requests, theirs, ours).answers.entries()) {
    if (ours[step] === undefined) break;
    const difference = compareStep(made, step, { answer: sortCauses(answer), other: sortCauses(ours[step]) });
    if (difference?.sort !== 'order' && difference !== undefined) return difference;
    order ??= difference;
    // What a documented refusal of the peer has let through here is there for the rest of the case, and so is a generation.
    const isOther = isOtherGeneration(answer, ours[step]) || isOtherOwner(answer, ours[step]);
    const isLasting = answer.status !== ours[step].status || (isOther && JSON.stringify(answer) !== JSON.stringify(ours[step]));
    if (difference === undefined && isLasting) break;
  }
  return order;
}

function compareStep({ requests }: Case, step: number, { answer, other }: { readonly answer: Answer; readonly other: Answer }): Difference | undefined {
  const { method = 'GET', path, body } = requests[step]!;
  if (JSON.stringify(answer) === JSON.stringify(other) || isDocumented(requests[step]!, answer, other)) return undefined;
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
