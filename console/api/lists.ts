// A list that stays as the server has it: its Table in chunks, then its changes by watch; listed again when the server no longer has the history.
import { type Column, type Kind, type RowChange, type TableRow, formatPath } from '../model/index.ts';
import { ApiError, call, open } from './request.ts';

const AS_TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const CHUNK = 500;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

/** Which objects. */
export interface ListRequest {
  readonly kind: Kind;
  readonly namespace: string;
  readonly labels: string;
  readonly fields: string;
  /** The revision at which the list is read; '' for the list of now, which is followed. */
  readonly at: string;
}

/** Receives what happens to a list. */
export interface ListSink {
  columns(columns: readonly Column[]): void;
  /** A list begins. */
  begin(): void;
  /** Some rows, and how many are still to come where the server says so. */
  rows(rows: readonly TableRow[], remaining: number): void;
  /** All rows have come, and changes follow. */
  synced(): void;
  change(change: RowChange): void;
  /** A refusal ends the list; a connection that failed is tried again. */
  failed(error: ApiError, willTryAgain: boolean): void;
}

interface Table {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly columnDefinitions?: readonly { name: string; type: string; description?: string; priority?: number }[];
  readonly rows?: readonly TableRow[];
}

interface TableEvent {
  readonly type: string;
  readonly object: Table & { readonly code?: number; readonly message?: string; readonly reason?: string };
}

const readColumns = ({ columnDefinitions = [] }: Table): Column[] =>
  columnDefinitions.map(({ name, type, description = '', priority = 0 }) => ({ name, type, description, priority }));

function formatQuery({ labels, fields }: ListRequest, more: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams({ ...(labels !== '' && { labelSelector: labels }), ...(fields !== '' && { fieldSelector: fields }), ...more });
  return query.toString();
}

/** Lists in chunks of one revision; returns it. */
async function listAll(request: ListRequest, sink: ListSink, signal: AbortSignal): Promise<string> {
  const path = formatPath(request.kind, request.namespace);
  let [next, revision] = ['', ''];
  sink.begin();
  const exact: Record<string, string> = request.at === '' ? {} : { resourceVersion: request.at, resourceVersionMatch: 'Exact' };
  do {
    const place: Record<string, string> = next === '' ? exact : { continue: next };
    const query = formatQuery(request, { limit: String(CHUNK), includeObject: 'Metadata', ...place });
    const { body } = await call(`${path}?${query}`, { accept: AS_TABLE, signal });
    const table = body as Table;
    if (next === '') sink.columns(readColumns(table));
    revision = table.metadata?.resourceVersion ?? '';
    next = table.metadata?.continue ?? '';
    sink.rows(table.rows ?? [], table.metadata?.remainingItemCount ?? 0);
  } while (next !== '');
  return revision;
}

/** The lines of a body as they come. */
export async function* readLines(response: Response): AsyncGenerator<string> {
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

/** Follows changes from a revision; returns the last one when the server ends the watch. Throws ApiError. */
async function watchFrom(request: ListRequest, revision: string, { sink, signal }: { sink: ListSink; signal: AbortSignal }): Promise<string> {
  const query = formatQuery(request, { watch: '1', resourceVersion: revision, allowWatchBookmarks: 'true', includeObject: 'Metadata' });
  const response = await open(`${formatPath(request.kind, request.namespace)}?${query}`, { accept: AS_TABLE, signal });
  let last = revision;
  for await (const line of readLines(response)) {
    if (line === '') continue;
    const { type, object } = JSON.parse(line) as TableEvent;
    if (type === 'ERROR') throw new ApiError(object.message ?? 'the watch ended', { code: object.code ?? 500, reason: object.reason ?? '' });
    const row = object.rows?.[0];
    last = object.metadata?.resourceVersion || row?.object?.metadata?.resourceVersion || last;
    if (row !== undefined && (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')) sink.change({ type, row });
  }
  return last;
}

const pause = (ms: number, signal: AbortSignal): Promise<void> => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    resolve();
  }, { once: true });
});

const isExpired = ({ code }: ApiError): boolean => code === 410;
/** Worth another try: the connection, an overload, a server that stops. */
const isPassing = ({ code }: ApiError): boolean => code === 0 || code === 429 || code >= 500 || code === 410;

/** Follows a list until `signal` is aborted, or the server refuses. */
export async function followList(request: ListRequest, sink: ListSink, signal: AbortSignal): Promise<void> {
  let [revision, pauseMs] = ['', FIRST_PAUSE_MS];
  while (!signal.aborted) {
    try {
      if (revision === '') {
        revision = await listAll(request, sink, signal);
        sink.synced();
        if (request.at !== '' || !request.kind.verbs.includes('watch')) return;
      }
      revision = await watchFrom(request, revision, { sink, signal });
      pauseMs = FIRST_PAUSE_MS;
      await pause(FIRST_PAUSE_MS, signal);
    } catch (error) {
      if (signal.aborted) return;
      const found = error instanceof ApiError ? error : new ApiError('the connection ended');
      if (isExpired(found)) revision = '';
      const willTryAgain = isPassing(found) && request.at === '';
      sink.failed(found, willTryAgain);
      if (!willTryAgain) return;
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}
