// The two places where controllers run: over a server of the same process, and through a kubeconfig. Both answer requests and feed informers.
import { type StatusError, failure, parseFieldSelector, parseLabelSelector } from '../../apimachinery/index.ts';
import { type Clock, delay, systemClock } from '../../base/index.ts';
import { type ReflectedWatch, type ReflectorSource, type StoredObject, buildPredicate } from '../../registry/index.ts';
import { ApiError, type ApiUser, type AskApi, takeBody } from '../api.ts';
import { type Discovery, type KnownResource, discover, resourcePath, splitApiVersion } from '../discovery.ts';
import type { ClusterAccess } from '../../kubeconfig/index.ts';
import { createLocalClient } from '../local-client.ts';
import type { KubernetesObject } from '../objects.ts';
import { type RemoteClient, createRemoteClient } from '../remote-client.ts';
import type { ServerParts } from '../server-access.ts';
import type { KindReference } from './kinds.ts';
import type { KeptObject } from './informer.ts';
import { RemoteWatch } from './remote-watch.ts';

/** What controllers run over. */
export interface Connection {
  readonly clock: Clock;
  readonly ask: AskApi;
  /** The resource of a kind; undefined while none is served. */
  findKind(apiVersion: string, kind: string): Promise<KnownResource | undefined>;
  /** The objects of a kind, for an informer. */
  source(kind: KindReference, resource: KnownResource): ReflectorSource<KeptObject>;
  close(): void;
}

const PAGE_SIZE = 500;
/** Discovery is asked again after this time for a kind that was not there. */
const REDISCOVER_MS = 500;
/** A server that does not answer is asked again after this time. */
const RETRY_MS = 1000;

/** Over a server of this process: requests without a connection, informers that read its cache. */
export function connectLocally(parts: ServerParts, user: ApiUser | undefined, program: string): Connection {
  const { registry, catalog, clock } = parts;
  const client = createLocalClient({ ...parts, connection: {}, program });
  const rowOf = ({ group, plural }: KnownResource) => catalog.findResource(group, plural);
  return {
    clock,
    ask: (request) => client.request({ ...(user !== undefined && { user }), ...request }),
    async findKind(apiVersion, kind) {
      const { group, version } = splitApiVersion(apiVersion);
      const row = catalog.findKind(group, kind);
      if (row?.versions.some(({ name, served }) => served && name === version) !== true) return undefined;
      const { plural, namespaced, verbs } = row;
      return { group, version, kind, plural, namespaced, verbs, subresources: [] };
    },
    source({ namespace = '', labelSelector = '', fieldSelector = '' }, resource) {
      // The row of a custom kind is another one after each change of its definition.
      const describe = () => {
        const row = rowOf(resource);
        if (row === undefined) throw failure(404, 'NotFound', 'the server could not find the requested resource');
        const target = { resource: row, version: resource.version, namespace };
        const { requirements: fields } = parseFieldSelector(fieldSelector);
        return { target, predicate: buildPredicate(row, { labels: parseLabelSelector(labelSelector), fields, version: resource.version }) };
      };
      const keep = (object: StoredObject): KeptObject =>
        ({ namespace: object.namespace, name: object.name, read: () => object.object(resource.version) as unknown as KubernetesObject });
      return {
        async list() {
          const { target, predicate } = describe();
          const { items, revision } = await registry.list(target, { predicate });
          return { items: Array.from(items, keep), revision };
        },
        async watch(revision) {
          const { target, predicate } = describe();
          const watch = await registry.watch(target, { predicate, resourceVersion: String(revision) });
          return {
            take: (limit) => watch.take(limit).map((event) => (event.type === 'BOOKMARK' ? { type: event.type } : { ...event, object: keep(event.object) })),
            onReadable: (wake) => watch.onReadable(wake),
            get end() {
              return watch.end;
            },
            get error() {
              return watch.error;
            },
            close: () => watch.close(),
          };
        },
      };
    },
    close: () => undefined,
  };
}

/** Through a kubeconfig. */
export function connectRemotely(access: ClusterAccess, program: string): Connection {
  const client = createRemoteClient(access, program);
  let discovery: { readonly found: Promise<Discovery>; readonly atMs: number } | undefined;
  const rediscover = (): Promise<Discovery> => {
    const found = discover(client.request);
    found.catch(() => {
      discovery = undefined;
    });
    discovery = { found, atMs: systemClock.monotonicMs() };
    return found;
  };
  return {
    clock: systemClock, ask: client.request,
    async findKind(apiVersion, kind) {
      const known = (await (discovery?.found ?? rediscover())).find(apiVersion, kind);
      if (known !== undefined || systemClock.monotonicMs() - (discovery?.atMs ?? 0) < REDISCOVER_MS) return known;
      return (await rediscover()).find(apiVersion, kind);
    },
    source: (kind, resource) => createRemoteSource(client, kind, resource),
    close: () => client.close(),
  };
}

function createRemoteSource(client: RemoteClient, kind: KindReference, resource: KnownResource): ReflectorSource<KeptObject> {
  const { labelSelector, fieldSelector, namespace } = kind;
  const path = resourcePath(resource, { namespace });
  const selectors = { ...(labelSelector !== undefined && { labelSelector }), ...(fieldSelector !== undefined && { fieldSelector }) };
  const keep = (object: KubernetesObject): KeptObject => {
    // Items of lists say neither their version nor their kind.
    const whole = { apiVersion: kind.apiVersion, kind: kind.kind, ...object };
    return { namespace: object.metadata?.namespace ?? '', name: object.metadata?.name ?? '', read: () => structuredClone(whole) };
  };
  return {
    async list() {
      const items: KeptObject[] = [];
      let next = '';
      for (;;) {
        const query = new URLSearchParams({ ...selectors, limit: String(PAGE_SIZE), ...(next !== '' && { continue: next }) });
        const body = takeStatus(`${path}?${query}`, await client.request({ path: `${path}?${query}` }));
        items.push(...(body.items ?? []).map(keep));
        next = body.metadata?.continue ?? '';
        if (next === '') return { items, revision: Number(body.metadata?.resourceVersion) };
      }
    },
    watch: async (revision): Promise<ReflectedWatch<KeptObject>> => new RemoteWatch({ client, path, query: selectors, revision, keep }),
  };
}

/** The body, and the Status of a refusal as the reflector knows it. */
function takeStatus(path: string, response: Parameters<typeof takeBody>[2]): any {
  try {
    return takeBody('GET', path, response);
  } catch (error) {
    throw error instanceof ApiError ? describeStatus(error) : error;
  }
}

const describeStatus = ({ code, reason, message }: ApiError): StatusError => failure(code, reason, message);

/** Asks until a kind is served, or the signal is aborted. */
export async function awaitKind(connection: Connection, { apiVersion, kind }: KindReference, { signal, onError }: {
  readonly signal: AbortSignal; readonly onError: (error: unknown) => void;
}): Promise<KnownResource | undefined> {
  while (!signal.aborted) {
    try {
      const found = await connection.findKind(apiVersion, kind);
      if (found !== undefined) return found;
      await delay(systemClock, REDISCOVER_MS / 10);
    } catch (error) {
      onError(error);
      await delay(systemClock, RETRY_MS);
    }
  }
  return undefined;
}
