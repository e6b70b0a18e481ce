// Answers without what differs from one server and one run to the next: names of the case, uids, times, versions, addresses and ports.
import type { ClientResponse } from '../../src/test-support/index.ts';
import type { Json, Request } from './case.ts';

/** An answer as the client has it. */
export type Received = Pick<ClientResponse, 'body' | 'headers' | 'status' | 'text'>;

/** A normalised answer. A status of -1 stands for a request that was repeated until it was answered as wanted. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly warnings?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** What one case has seen: its word, and its resource versions with their numbers by order of appearance. */
interface Context {
  readonly id: string;
  readonly seen: Map<string, string>;
}

const UID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DAY_MS = 86_400_000;
const KEPT_HEADERS = ['location', 'retry-after', 'allow', 'www-authenticate', 'vary'];

function cleanText(text: string, id: string): string {
  return text.split(id).join('{id}').replaceAll('ns-{id}', '{ns}').replace(UID, '<uid>')
    .replace(TIME, (time) => (Math.abs(Date.now() - Date.parse(time)) < DAY_MS ? (time.includes('.') ? '<microtime>' : '<time>') : time))
    .replace(/resource version: \d+ \(\d+\)/g, 'resource version: <rv> (<rv>)').replace(/(resource version: \d+), current: \d+/g, '$1, current: <rv>')
    .replace(/ResourceVersion(:|=) ?\d+/gi, 'ResourceVersion$1<rv>').replace(/\b10\.0\.\d{1,3}\.\d{1,3}\b/g, '<clusterIP>').replace(/127\.0\.0\.1:\d+/g,
      '<server>')
    .replace(/serverAddress: \S+/g, 'serverAddress: <server>').replace(/(resourceVersion\\?":\\?"|resourceVersion: ")\d+/g, '$1<rv>')
    .replace(/X509SHA256=[0-9a-f]{64}/g, 'X509SHA256=<SHA-256>').replace(/-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g, '<certificate>')
    .replace(/in scheme "[^"]*"/g, 'in scheme "…"')
    .replace(/(ResourceVersion in record) \(\d+\)/g, '$1 (<rv>)')
    .replace(/ResourceVersion in precondition: \w+, ResourceVersion in object meta: \d+/g,
      'ResourceVersion in precondition: <rv>, ResourceVersion in object meta: <rv>');
}

/** The version of an object is shown as its place among those of the case, so that a write without effect shows. */
function numberVersion(version: string, { seen }: Context): string {
  const known = seen.get(version);
  if (known !== undefined) return known;
  seen.set(version, `<rv ${seen.size + 1}>`);
  return seen.get(version) as string;
}

function walk(value: unknown, key: string, parent: Json | undefined, context: Context): unknown {
  if (typeof value === 'string') {
    if (value !== '' && key === 'resourceVersion') return parent?.['name'] === undefined && parent?.['uid'] === undefined ? '<list rv>'
      : numberVersion(value, context);
    if (value !== '' && key === 'continue') return '<continue>';
    if (key === 'name' && typeof parent?.['generateName'] === 'string' && value.startsWith(parent['generateName'])) {
      return `${cleanText(parent['generateName'], context.id)}<random>`;
    }
    if (key === 'serverAddress') return '<server>';
    // Ports of nodes are given out at random.
    if (key === 'message' && String(parent?.['field']).endsWith('.nodePort')) return value.replace(/^(Duplicate value: )\d+$/, '$1<port>');
    if (key === 'token' && /^ey[\w-]+\.[\w-]+\.[\w-]+$/.test(value)) return '<token>';
    return cleanText(value, context.id);
  }
  if (typeof value === 'number' && (key === 'nodePort' || key === 'healthCheckNodePort')) return '<port>';
  if (Array.isArray(value)) return value.map((item) => walk(item, key, undefined, context));
  if (typeof value !== 'object' || value === null) return value;
  const object = sortRules(hideAges(value as Json));
  return Object.fromEntries(Object.entries(object).map(([name, field]) => [cleanText(name, context.id), walk(field, name, object, context)]));
}

/** The rules of a user come from bindings, which the reference reads in no order. */
function sortRules(review: Json): Json {
  if (review['kind'] !== 'SelfSubjectRulesReview' || review['status']?.resourceRules === undefined) return review;
  const sorted = (rules: Json[] | null): unknown => rules?.map((rule) => JSON.stringify(rule)).sort().map((text) => JSON.parse(text) as Json) ?? rules;
  const { resourceRules, nonResourceRules, ...rest } = review['status'];
  return { ...review, status: { resourceRules: sorted(resourceRules), nonResourceRules: sorted(nonResourceRules), ...rest } };
}

/** Causes among which the reference has no order: of one map, of the properties of a schema or of a custom object, and the conflicts of an apply. */
function runOf({ reason, field }: Json, kind: string): string {
  if (reason === 'FieldManagerConflict') return 'conflicts';
  if (kind === 'Thing' && !String(field).startsWith('metadata')) return 'values';
  return String(field).replace(/(\.properties)\[.*$/, '$1').replace(/\[[^\]]*\]$/, '');
}

/** Neighbouring causes without an order are sorted; the message of several causes repeats them. */
export function sortCauses(answer: Answer): Answer {
  const status = answer.body as Json | null;
  const causes = status?.['details']?.causes as Json[] | undefined;
  if (status?.['kind'] !== 'Status' || causes === undefined || causes.length < 2) return answer;
  const kind = String(status?.['details']?.kind);
  const runs: Json[][] = [];
  for (const cause of causes) {
    const run = runs.at(-1);
    if (run !== undefined && runOf(run[0] as Json, kind) === runOf(cause, kind)) run.push(cause);
    else runs.push([cause]);
  }
  const sorted = runs.flatMap((run) => run.map((cause) => JSON.stringify(cause)).sort().map((text) => JSON.parse(text) as Json));
  const message = String(status['message']).replace(/ is invalid: \[[^]*$/, ' is invalid: […]');
  return { ...answer, body: { ...status, message, details: { ...status['details'], causes: sorted } } };
}

/** Cells of ages, and the descriptions of columns. */
function hideAges(table: Json): Json {
  if (table['kind'] !== 'Table') return table;
  const rows = (table['rows'] as Json[] | null)?.map((row: Json) => ({
    ...row, cells: (row['cells'] as unknown[] | undefined)?.map((cell) => (typeof cell === 'string' && /^(\d+[smhdy])+$/.test(cell) ? '<age>' : cell)),
  }));
  return { ...table, columnDefinitions: (table['columnDefinitions'] as Json[] | null)?.map(({ description: _, ...column }) => column), rows: rows
    ?? table['rows'] };
}

/** Events of a watch, or a text as it came. */
function readLines(text: string): unknown {
  const lines = text.split('\n').filter((line) => line !== '');
  try {
    const events = lines.map((line) => JSON.parse(line) as Json);
    return events.filter((event) => event['type'] !== 'BOOKMARK' || event['object']?.metadata?.annotations !== undefined);
  } catch {
    return text;
  }
}

/** Warnings of formats come in no order. */
const sortWarnings = (text: string): string => (text.includes('unrecognized format') ? text.split(', ').sort().join(', ') : text);

/** The value of a header without hashes and dates. */
const cleanHeader = (value: string): string => value.replace(/[0-9A-F]{128}/g, '<SHA-512>').replace(/[0-9A-F]{64}/g, '<SHA-256>')
  .replace(/[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} (\d{4}) [\d:]{8} GMT/g,
    (_, year: string) => (Number(year) > new Date().getFullYear() ? '<later date>' : '<date>'));

/** Metrics by name: help, type and the names of the labels that samples have. */
function describeMetrics(text: string, wanted: readonly string[]): Json {
  const lines = text.split('\n');
  return Object.fromEntries(wanted.map((name) => {
    const about = (word: string): string | undefined => lines.find((line) => line.startsWith(`# ${word} ${name} `))?.slice(word.length + name.length + 4);
    const samples = lines.filter((line) => new RegExp(`^${name}(?:_bucket|_sum|_count)?[{ ]`).test(line));
    const labels = new Set(samples.flatMap((line) => [...line.matchAll(/[{,](\w+)="/g)].map(([, label]) => label)));
    return [name, { help: about('HELP'), type: about('TYPE'), labels: [...labels].sort() }];
  }));
}

/** A field of an answer, by dots or as a JSON pointer. */
export function readField(body: unknown, field: string): unknown {
  const keys = field.startsWith('/') ? field.slice(1).split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')) : field.split('.');
  return keys.reduce<any>((at, key) => at?.[key], body);
}

/** A copy without descriptions. */
function withoutProse(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key, member]) => key !== 'description' || typeof member !== 'string')
    .map(([key, member]) => [key, withoutProse(member)]));
}

/** Parts of a large answer, by their pointers. */
const readParts = (body: unknown, parts: readonly string[]): Json => Object.fromEntries(parts.map((part) => [part,
  part.endsWith('#') ? Object.keys(readField(body, part.slice(0, -1)) ?? {}).length : withoutProse(readField(body, part)) ?? '(absent)']));

/** An answer as it is compared. */
export function normalise(
  response: Received, context: Context, { shows = [], metrics, parts }: Pick<Request, 'metrics' | 'parts' | 'shows'> = {},
): Answer {
  const { status, headers, text } = response;
  const contentType = String(headers['content-type'] ?? '');
  const whole = metrics !== undefined ? describeMetrics(text, metrics) : response.body ?? (contentType.includes('json') ? readLines(text) : text);
  const parsed = parts !== undefined && status < 400 ? readParts(whole, parts) : whole;
  const shown = shows.map((name) => [name, cleanHeader(cleanText(String(headers[name] ?? ''), context.id))] as const);
  const kept = KEPT_HEADERS.filter((name) => headers[name] !== undefined).map((name) => [name, cleanText(String(headers[name]), context.id)] as const);
  return {
    status, contentType, ...(headers['warning'] !== undefined && { warnings: sortWarnings(cleanText(String(headers['warning']), context.id)) }),
    ...(kept.length + shown.length > 0 && { headers: Object.fromEntries([...kept, ...shown]) }),
    body: contentType.includes('protobuf') || contentType.includes('cbor') ? `${Math.sign(text.length)} bytes` : walk(parsed, '', undefined, context),
  };
}

