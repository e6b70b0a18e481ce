// Helpers of this room's tests: hand-made resources over a registry on a memory store, and exchanges without a socket.
import { parseYaml } from '../codec/index.ts';
import type { Field, KubeObject, Schema, SchemaSet, SchemaType } from '../apimachinery/index.ts';
import { createManualClock, type ManualClock, systemRandom } from '../base/index.ts';
import { type Catalog, createCatalog, createRegistry, type OwnedRegistry, type Resource } from '../registry/index.ts';
import { createMemoryStore } from '../storage/index.ts';
import { createEndpoints } from './endpoints.ts';
import type { EndpointsDependencies } from './dependencies.ts';
import { noRemoteApis } from './remote/remote-apis.ts';
import type { Exchange, Handler, Response, Sink } from './exchange.ts';
import { parseRequestInfo } from './request/request-info.ts';

const scalar = (type: SchemaType, format?: string): Schema => ({ type, ...(format !== undefined && { format }) });
const text = scalar('string');
const mapOf = (items: Schema): Schema => ({ type: 'map', items });
const listOf = (items: Schema): Schema => ({ type: 'array', items });

/** A struct; fields whose name ends in `!` have no omitempty. */
function struct(fields: Record<string, Schema>, name?: string): Schema {
  const entries = Object.entries(fields).map(([key, schema], index): [string, Field] => {
    const plain = key.replace('!', '');
    return [plain, { name: plain, schema, required: false, omitEmpty: !key.endsWith('!'), pointer: false, number: index + 1 }];
  });
  return { type: 'object', fields: new Map(entries), ...(name && { name }) };
}

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const metadata = struct({
  name: text, generateName: text, namespace: text, selfLink: text, uid: text, resourceVersion: text, generation: scalar('integer', 'int64'),
  creationTimestamp: scalar('string', 'time'), deletionTimestamp: scalar('string', 'time'), deletionGracePeriodSeconds: scalar('integer', 'int64'),
  labels: mapOf(text), annotations: mapOf(text), ownerReferences: listOf(scalar('any')), finalizers: listOf(text),
  managedFields: listOf(scalar('any')),
}, `${META}ObjectMeta`);
const deleteOptions = struct({
  kind: text, apiVersion: text, propagationPolicy: text, dryRun: listOf(text), gracePeriodSeconds: scalar('integer', 'int64'),
  orphanDependents: scalar('boolean'), preconditions: struct({ uid: text, resourceVersion: text }),
});
const definitions = new Map<string, Schema>([[`${META}ObjectMeta`, metadata], [`${META}DeleteOptions`, deleteOptions]]);
const schemas: SchemaSet = {
  definition: (name) => definitions.get(name), forKind: () => undefined, describe: () => undefined, names: () => [...definitions.keys()],
};

/** Makes a resource, with defaults for everything that a test does not set. */
export function makeResource(spec: Partial<Resource> & { readonly kind: string; readonly plural: string }, fields: Record<string, Schema> = {}): Resource {
  const schema = struct({ kind: text, apiVersion: text, 'metadata!': metadata, ...fields });
  const name = {
    name: 'Name', type: 'string', format: 'name', description: '', priority: 0, cell: (object: KubeObject) => object.metadata.name ?? '',
  } as const;
  return {
    group: '', listKind: `${spec.kind}List`, singular: spec.kind.toLowerCase(), shortNames: [], categories: [], namespaced: true,
    versions: [{ name: 'v1', served: true, schema, columns: [name] }], storageVersion: 'v1',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'], subresources: [], nameRule: 'dns-subdomain',
    selectableFields: {}, createOnUpdate: false, unconditionalUpdate: true, returnsDeleted: false, defaultPropagation: 'Background',
    tracksGeneration: false, custom: false, storagePrefix: spec.plural, strategy: {}, ...spec,
  };
}

/** An API under test. */
export interface TestApi {
  readonly handler: Handler;
  readonly registry: OwnedRegistry;
  readonly catalog: Catalog;
  readonly clock: ManualClock;
  /** Sends a request; a string body is sent as it is, anything else as JSON. */
  send(request: TestRequest): Promise<TestAnswer>;
  close(): void;
}
export interface TestRequest {
  readonly method?: string;
  /** Path with its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}
interface TestAnswer {
  readonly status: number;
  readonly headers: Response['headers'];
  readonly text: string;
  /** Parsed when it is JSON. */
  readonly json: any;
  readonly response: Response;
}

/** A sink that remembers all chunks; while `behind` is set, each write reports a receiver that is behind, until `catchUp`. */
export class TestSink implements Sink {
  readonly controller = new AbortController();
  readonly signal: AbortSignal = this.controller.signal;
  readonly chunks: string[] = [];
  behind = false;
  #waiting: (() => void)[] = [];

  write(chunk: Uint8Array): boolean {
    this.chunks.push(new TextDecoder().decode(chunk));
    return !this.behind;
  }
  drained(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
  catchUp(): void {
    this.behind = false;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
  /** The lines written so far. */
  get lines(): any[] {
    return this.chunks.join('').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as unknown);
  }
}

const encode = (body: unknown): Uint8Array => new TextEncoder().encode(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body));

function makeExchange({ method = 'GET', path, body, headers = {} }: TestRequest, clock: ManualClock): Exchange {
  const url = new URL(path, 'http://test');
  const line = { method, path: decodeURIComponent(url.pathname), query: url.searchParams };
  return {
    ...line, headers: { 'user-agent': 'tests/1', ...headers }, readBody: async () => encode(body),
    signal: new AbortController().signal, aborted: false, clock,
    remoteAddress: '127.0.0.1', auditId: 'a', info: parseRequestInfo(line), user: { name: 'admin', groups: ['system:masters'] }, warnings: [],
  };
}

async function readAnswer(response: Response): Promise<TestAnswer> {
  const { status, headers, body } = response;
  const bytes = typeof body === 'function' ? new Uint8Array(0) : body instanceof Uint8Array ? body : Buffer.concat(body as Uint8Array[]);
  const answer = new TextDecoder().decode(bytes);
  const isJson = String(headers['content-type']).startsWith('application/json') && answer !== '';
  return { status, headers, text: answer, json: isJson ? JSON.parse(answer) : undefined, response };
}

/** Builds an API of ConfigMaps, Namespaces and one custom kind. */
export function createTestApi(more: Partial<EndpointsDependencies> = {}): TestApi {
  const clock = createManualClock();
  const configMaps = makeResource({ kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'] }, { data: mapOf(text), immutable: scalar('boolean') });
  const nodes = makeResource({ kind: 'Node', plural: 'nodes', namespaced: false });
  const widgets = makeResource({ kind: 'Widget', plural: 'widgets', group: 'example.com', custom: true }, {
    part: { ...struct({ kind: text, apiVersion: text, metadata }), embeddedResource: true } });
  const catalog = createCatalog([configMaps, nodes, widgets]);
  const store = createMemoryStore({ clock });
  const admission = { mutate: async () => undefined, validate: async () => undefined };
  const registry = createRegistry({ store, catalog, clock, random: systemRandom, admission, trackUpdate: () => undefined });
  const hash = (bytes: Uint8Array): Uint8Array => Uint8Array.from([bytes.length & 255, ...bytes.subarray(0, 15)]);
  const handler = createEndpoints({
    remote: noRemoteApis,
    registry, admission, catalog, schemas, clock, random: systemRandom, hashes: { sha256: hash, sha512: hash }, parseYaml: (bytes) => parseYaml(bytes),
    gzip: async (bytes) => bytes, gzipStream: (chunks) => chunks,
    publishesEnums: true, versionInfo: { major: '1', minor: '36', gitVersion: 'v1.36.2' }, serverAddress: () => 'test:6443', ...more,
  });
  const send = async (request: TestRequest): Promise<TestAnswer> => readAnswer(await handler(makeExchange(request, clock)));
  return { handler, registry, catalog, clock, send, close: () => void registry.close?.() };
}
