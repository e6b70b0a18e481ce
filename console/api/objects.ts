// One object: read and followed, applied and replaced with a dry run first, deleted; and many at a glance, by their metadata.
import { type Kind, type KindPath, formatPath, selectName } from '../model/index.ts';
import { type ApiAnswer, ApiError, call, open } from './request.ts';
import { pause, readEvents } from './watch.ts';

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
  const read = async (): Promise<string> => {
    const { body } = await call(pathOf(target), { signal });
    sink.changed(body);
    return body.metadata.resourceVersion;
  };
  const revision = await read();
  if (target.kind.verbs.includes('watch')) void watch(target, { revision, read, sink, signal });
}

interface Watching {
  readonly revision: string;
  /** Reads the object again, where the server no longer knows the revision; returns that of the object. */
  readonly read: () => Promise<string>;
  readonly sink: ObjectSink;
  readonly signal: AbortSignal;
}

/** Ends with the signal, or where the user may not watch. */
async function watch(target: Target, { revision, read, sink, signal }: Watching): Promise<void> {
  for (let last = revision; !signal.aborted; await pause(RETRY_MS, signal)) {
    try {
      if (last === '') last = await read();
      const query = new URLSearchParams({ watch: '1', fieldSelector: selectName(target.name), resourceVersion: last });
      const response = await open(`${formatPath(target.kind, target.namespace)}?${query.toString()}`, { signal });
      for await (const { type, object } of readEvents(response)) {
        last = object.metadata.resourceVersion;
        if (type === 'DELETED') sink.gone();
        else sink.changed(object);
      }
    } catch (error) {
      const code = error instanceof ApiError ? error.code : 0;
      if (signal.aborted || code === 403 || code === 405) return;
      if (code === 404) sink.gone();
      if (code === 410) last = '';
    }
  }
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

/** Metadata of an object, as far as it is read. */
export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid: string;
  readonly ownerReferences?: readonly { readonly uid: string }[];
}

/** Which objects of a kind are mentioned. */
export interface MetadataRequest {
  readonly kind: KindPath;
  /** '' for all of them. */
  readonly namespace: string;
  readonly limit: number;
  /** The revision at which they are read; now without one. */
  readonly at?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The metadata of the first objects of a kind. Throws ApiError. */
export async function listMetadata({ kind, namespace, limit, at, signal }: MetadataRequest): Promise<ObjectMetadata[]> {
  const exact = at === undefined ? '' : `&resourceVersion=${at}&resourceVersionMatch=Exact`;
  const { body } = await call(`${formatPath(kind, namespace)}?limit=${limit}${exact}`, { accept: METADATA, signal });
  return (body.items as { readonly metadata: ObjectMetadata }[]).map(({ metadata }) => metadata);
}

/** Objects of many kinds by their metadata, the first of each; kinds that the user may not list are passed over. */
export async function mentionObjects(kinds: readonly Kind[], namespace: string, signal: AbortSignal, at?: number): Promise<Mention[]> {
  const found: Mention[] = [];
  const waiting = [...kinds];
  const work = async (): Promise<void> => {
    for (let kind = waiting.pop(); kind !== undefined && !signal.aborted; kind = waiting.pop()) {
      try {
        const objects = await listMetadata({ kind, namespace, limit: MOST, at, signal });
        for (const { name, namespace: place = '', uid, ownerReferences: owners = [] } of objects) found.push({ kind, name, namespace: place, uid, owners });
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
