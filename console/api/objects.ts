// One object: read and followed, applied and replaced with a dry run first, deleted; and many at a glance, by their metadata.
import { type Kind, formatPath } from '../model/index.ts';
import { readLines } from './lists.ts';
import { type ApiAnswer, ApiError, call, open } from './request.ts';

/** The field manager of what is applied here. */
export const MANAGER = 'pintle-console';

/** Which object. */
export interface Target {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
}

const pathOf = ({ kind, namespace, name }: Target): string => formatPath(kind, namespace, name);

/** Receives an object as it changes. */
export interface ObjectSink {
  changed(object: any): void;
  /** It is deleted; the object is as it was last. */
  gone(): void;
}

const RETRY_MS = 2000;

/** Reads an object; from then on `sink` hears of its changes until `signal` is aborted. Throws ApiError where it cannot be read. */
export async function followObject(target: Target, sink: ObjectSink, signal: AbortSignal): Promise<void> {
  const { body } = await call(pathOf(target), { signal });
  sink.changed(body);
  if (target.kind.verbs.includes('watch')) void watch(target, { revision: body.metadata.resourceVersion, sink, signal }).catch(() => {});
}

interface Watching {
  readonly revision: string;
  readonly sink: ObjectSink;
  readonly signal: AbortSignal;
}

/** Ends with the signal, or where the user may not watch. */
async function watch(target: Target, { revision, sink, signal }: Watching): Promise<void> {
  const query = new URLSearchParams({ watch: '1', fieldSelector: `metadata.name=${target.name}`, ...(revision !== '' && { resourceVersion: revision }) });
  let last = revision;
  try {
    const response = await open(`${formatPath(target.kind, target.namespace)}?${query.toString()}`, { signal });
    for await (const line of readLines(response)) {
      if (line === '') continue;
      const { type, object } = JSON.parse(line) as { type: string; object: any };
      if (type === 'ERROR') throw new ApiError(object.message, { code: object.code });
      last = object.metadata.resourceVersion;
      if (type === 'DELETED') sink.gone();
      else sink.changed(object);
    }
  } catch (error) {
    const code = error instanceof ApiError ? error.code : 0;
    if (signal.aborted || code === 403 || code === 405) return;
    if (code === 410) last = '';
  }
  if (signal.aborted) return;
  await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  await watch(target, { revision: last, sink, signal });
}

/** How a text becomes the object. */
export interface WriteOptions {
  /** apply: the text says what this manager wants. replace: the text is the object. create: there is none yet. */
  readonly way: 'apply' | 'replace' | 'create';
  readonly isTrial: boolean;
  /** Takes fields from their managers. */
  readonly force: boolean;
}

const bodies = {
  apply: { method: 'PATCH', type: 'application/apply-patch+yaml' }, replace: { method: 'PUT', type: 'application/yaml' },
  create: { method: 'POST', type: 'application/yaml' },
} as const;

/** Writes an object, or only finds out what the server would store. Throws ApiError. */
export function writeObject(target: Target, text: string, { way, isTrial, force }: WriteOptions): Promise<ApiAnswer> {
  const query = new URLSearchParams({
    fieldManager: MANAGER, fieldValidation: 'Warn', ...(isTrial && { dryRun: 'All' }), ...(way === 'apply' && { force: String(force) }),
  });
  const path = way === 'create' ? formatPath(target.kind, target.namespace) : pathOf(target);
  return call(`${path}?${query.toString()}`, { ...bodies[way], body: text });
}

/** The object, as it is now. Throws ApiError. */
export const readObject = async (target: Target): Promise<any> => (await call(pathOf(target))).body;

/** What happens to the dependents of an object that is deleted. */
export type Propagation = 'Background' | 'Foreground' | 'Orphan';

/** Deletes an object, if it is still the one that was looked at. Throws ApiError. */
export async function deleteObject(target: Target, uid: string, propagationPolicy: Propagation): Promise<void> {
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, preconditions: { uid } };
  await call(pathOf(target), { method: 'DELETE', type: 'application/json', body: JSON.stringify(options) });
}

/** An object by its metadata. */
export interface Mention {
  readonly kind: Kind;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly owners: readonly { readonly uid: string }[];
}

const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';
const MOST = 500;
const TOGETHER = 6;

/** Objects of many kinds by their metadata, the first of each; kinds that the user may not list are passed over. */
export async function mentionObjects(kinds: readonly Kind[], namespace: string, signal: AbortSignal): Promise<Mention[]> {
  const found: Mention[] = [];
  const waiting = [...kinds];
  const work = async (): Promise<void> => {
    for (let kind = waiting.pop(); kind !== undefined && !signal.aborted; kind = waiting.pop()) {
      try {
        const { body } = await call(`${formatPath(kind, namespace)}?limit=${MOST}`, { accept: METADATA, signal });
        for (const { metadata } of body.items) {
          found.push({ kind, name: metadata.name, namespace: metadata.namespace ?? '', uid: metadata.uid, owners: metadata.ownerReferences ?? [] });
        }
      } catch (error) {
        if (signal.aborted) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: TOGETHER }, work));
  return found;
}

/** An event about an object. */
export interface EventItem {
  readonly uid: string;
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly source: string;
  readonly time: string;
}

/** The events about an object, the latest first. Throws ApiError. */
export async function fetchEvents(uid: string, namespace: string, signal: AbortSignal): Promise<EventItem[]> {
  const scope = namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  const { body } = await call(`/api/v1${scope}/events?limit=${MOST}&fieldSelector=${encodeURIComponent(`involvedObject.uid=${uid}`)}`, { signal });
  const items = (body.items as any[]).map(({ metadata, type = '', reason = '', message = '', series, source, ...more }): EventItem => ({
    uid: metadata.uid, type, reason, message, count: series?.count ?? more.count ?? 1, source: more.reportingComponent || source?.component || '',
    time: series?.lastObservedTime ?? more.lastTimestamp ?? more.eventTime ?? metadata.creationTimestamp,
  }));
  return items.sort((a, b) => (a.time < b.time ? 1 : -1));
}
