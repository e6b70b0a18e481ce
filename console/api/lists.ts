// A list that stays as the server has it: its Table in chunks, then its changes by watch; listed again when the server no longer has the history.
import { type Column, type Kind, type RowChange, type TableRow, formatPath } from '../model/index.ts';
import { ApiError, call, open } from './request.ts';
import { pause, readEvents } from './watch.ts';

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
  /** All rows have come. */
  synced(): void;
  /** The server is connected, again where a connection failed, and changes come. */
  following(): void;
  change(change: RowChange): void;
  /** A refusal ends the list; a connection that failed is tried again. */
  failed(error: ApiError, willTryAgain: boolean): void;
}

interface Table {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string; readonly remainingItemCount?: number };
  readonly columnDefinitions?: readonly { name: string; type: string; description?: string; priority?: number }[];
  readonly rows?: readonly TableRow[];
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

/** Follows changes from a revision; returns the last one when the server ends the watch. Throws ApiError. */
async function watchFrom(request: ListRequest, revision: string, { sink, signal }: { sink: ListSink; signal: AbortSignal }): Promise<string> {
  const query = formatQuery(request, { watch: '1', resourceVersion: revision, allowWatchBookmarks: 'true', includeObject: 'Metadata' });
  const response = await open(`${formatPath(request.kind, request.namespace)}?${query}`, { accept: AS_TABLE, signal });
  sink.following();
  let last = revision;
  for await (const { type, object } of readEvents(response)) {
    const { metadata, rows } = object as Table;
    const row = rows?.[0];
    last = metadata?.resourceVersion || row?.object?.metadata?.resourceVersion || last;
    if (row !== undefined && (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED')) sink.change({ type, row });
  }
  return last;
}

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
