// OpenAPI over HTTP. The v3 index has a hash for each document, made from the document's inputs, so that a document is built only when a client
// reads it. A response to the present hash may be cached for a year; a request with another hash is redirected.
import { type Steps, finishSteps } from '../../base/index.ts';
import { parseAccept } from '../../codec/index.ts';
import type { EndpointsParts } from '../dependencies.ts';
import { toHex } from '../discovery/discovery.ts';
import { encodeText } from '../response/encoding.ts';
import type { Exchange, Response } from '../exchange.ts';
import { JSON_TYPE, TEXT_TYPE } from '../request/media.ts';
import { customDefinitions } from './openapi-custom.ts';
import { encodeJsonInSteps } from './json-steps.ts';
import { DocumentCache, type EncodedDocument } from './openapi-documents.ts';
import { operationsOf, plainOperations } from './openapi-operations.ts';
import { encodeDocumentV2, encodeDocumentV3 } from './openapi-proto.ts';
import { openApiV2Document } from './openapi-v2.ts';
import { DefinitionWriter, type DocumentSource, groupVersionDocument, plainDocument, rootDocument } from './openapi-v3.ts';
import type { Resource } from '../../registry/index.ts';
import { mergeSwagger } from '../remote/remote-swagger.ts';
import { splitPath } from '../request/request-info.ts';
import {
  acceptsGzip, GZIP_MIN_BYTES, gzipHeaders, headersFor, respondBytes, respondNotFoundText, respondText, respondUnchanged,
} from '../response/respond.ts';

type Json = Record<string, unknown>;

const V3_PROTOBUF = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';
const V2_PROTOBUF = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const YEAR_MS = 365 * 24 * 3600 * 1000;

/** The media type of the answer: JSON, or protobuf by its name or its old spelling; undefined when neither is acceptable. */
function chooseType(accept: string | undefined, protobuf: string): string | undefined {
  if (accept === undefined || accept === '') return JSON_TYPE;
  const old = protobuf.replace(/\.v(\d)\.v1\.0/, '.v$1@v1.0');
  for (const { type, subtype } of parseAccept(accept)) {
    const name = `${type}/${subtype}`;
    if (name === '*/*' || name === 'application/*' || name === JSON_TYPE) return JSON_TYPE;
    if (name === protobuf || name === old) return protobuf;
  }
  return undefined;
}

interface Answer {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly etag: string;
  readonly get: () => Promise<EncodedDocument>;
}

interface DocumentHash {
  readonly resources: readonly Resource[];
  readonly hash: string;
}

const areSame = (some: readonly Resource[], others: readonly Resource[]): boolean =>
  some.length === others.length && some.every((resource, i) => resource === others[i]);

/** Resources by each `group/version` that serves them. */
function groupByVersion(resources: readonly Resource[]): Map<string, Resource[]> {
  const groups = new Map<string, Resource[]>();
  for (const resource of resources) {
    for (const { name, served } of resource.versions) {
      if (!served) continue;
      const key = `${resource.group}/${name}`;
      const known = groups.get(key);
      if (known === undefined) groups.set(key, [resource]);
      else known.push(resource);
    }
  }
  return groups;
}

/** The OpenAPI documents of what the catalog serves. */
export class OpenApi {
  readonly #dependencies: EndpointsParts;
  readonly #source: DocumentSource;
  readonly #documents: DocumentCache;
  /** By path of the document: its hash, and the resources that it is made from. */
  #hashes = new Map<string, DocumentHash>();
  #generation = '';
  readonly #startedMs: number;

  constructor(dependencies: EndpointsParts) {
    const { schemas, catalog, media, versionInfo, clock, publishesEnums: hasEnums } = dependencies;
    this.#dependencies = dependencies;
    this.#source = { schemas, catalog, media, writer: new DefinitionWriter(schemas, hasEnums), hasEnums, gitVersion: versionInfo.gitVersion };
    this.#documents = new DocumentCache(dependencies);
    this.#startedMs = clock.now();
  }

  /** Everything below `/openapi`. */
  async answer(exchange: Exchange): Promise<Response> {
    this.#refresh();
    const path = exchange.path;
    if (path === '/openapi/v2') return this.#answerV2(exchange);
    if (path === '/openapi/v3') return this.#answerIndex(exchange);
    return path.startsWith('/openapi/v3/') ? this.#answerV3(exchange, splitPath(path).slice(2).join('/')) : respondNotFoundText(exchange);
  }

  #refresh(): void {
    const { catalog, remote } = this.#dependencies;
    const generation = `${catalog.generation} ${remote.generation}`;
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#documents.clear();
    const served = groupByVersion(catalog.resources());
    const before = this.#hashes;
    this.#hashes = new Map();
    for (const path of this.#paths()) {
      const { group, version } = groupVersionOf(path) ?? { group: '', version: '' };
      const resources = served.get(`${group}/${version}`) ?? [];
      const known = before.get(path);
      this.#hashes.set(path, known !== undefined && areSame(known.resources, resources) ? known : { resources, hash: this.#hashOf(path, resources) });
    }
  }

  *#paths(): Iterable<string> {
    const { catalog } = this.#dependencies;
    const builtin = new Set(catalog.resources().filter(({ custom }) => !custom).map(({ group }) => group));
    yield* ['api', 'apis', ...Object.keys(plainOperations)];
    for (const { name, versions } of catalog.groups()) {
      const prefix = name === '' ? 'api' : `apis/${name}`;
      if (name !== '' && builtin.has(name)) yield prefix;
      for (const version of versions) yield `${prefix}/${version}`;
    }
  }

  /** The hash of a document's inputs: the release, whether enums are published, its operations, and the fingerprints or schemas of its custom kinds. */
  #hashOf(path: string, resources: readonly Resource[]): string {
    const { catalog, hashes, versionInfo, publishesEnums } = this.#dependencies;
    const groupVersion = groupVersionOf(path);
    const custom = resources.filter((resource) => resource.custom);
    const known = custom.every(({ fingerprint }) => fingerprint !== undefined);
    const parts = groupVersion
      ? [resources.every((resource) => resource.custom) ? [] : operationsOf(this.#source, groupVersion).map(({ id }) => id), resources.length,
        known ? custom.map(({ plural, fingerprint }) => [plural, fingerprint]) : finishSteps(customDefinitions(catalog, groupVersion))]
      : [];
    return toHex(hashes.sha512(encodeText(JSON.stringify([versionInfo.gitVersion, publishesEnums, path, ...parts]))));
  }

  #document(path: string): Steps<Json> {
    const groupVersion = groupVersionOf(path);
    if (groupVersion) return groupVersionDocument(this.#source, groupVersion);
    const plain = plainOperations[path];
    return plain === undefined ? rootDocument(this.#source, path) : plainDocument(this.#source, plain);
  }

  async #answerIndex(exchange: Exchange): Promise<Response> {
    const entries = [...this.#hashes].sort(([a], [b]) => (a < b ? -1 : 1));
    const others = this.#dependencies.remote.versions().flatMap(({ openApiV3 }) => [...openApiV3]).filter(([path]) => !this.#hashes.has(path));
    const addresses = [...entries.map(([path, { hash }]) => [path, `/openapi/v3/${path}?hash=${hash}`] as const), ...others];
    const paths = Object.fromEntries(addresses.map(([path, serverRelativeURL]) => [path, { serverRelativeURL }]));
    return respondBytes(exchange, this.#dependencies, { status: 200, contentType: TEXT_TYPE, body: [encodeText(JSON.stringify({ paths }))] });
  }

  async #answerV3(exchange: Exchange, path: string): Promise<Response> {
    const hash = this.#hashes.get(path)?.hash;
    if (hash === undefined) return this.#answerRemote(exchange, path);
    const type = chooseType(exchange.headers['accept'], V3_PROTOBUF);
    if (type === undefined) return respondText(exchange, 406, '');
    const asked = exchange.query.get('hash');
    const headers = { ...headersFor(exchange, type), vary: 'Accept', etag: `"${hash}"` };
    if (asked !== null && asked !== '' && asked !== hash) {
      return { status: 301, headers: { ...headers, location: `/openapi/v3/${path}?hash=${hash}` }, body: new Uint8Array(0) };
    }
    const forever = asked === hash && { 'cache-control': 'public, immutable', expires: new Date(this.#dependencies.clock.now() + YEAR_MS).toUTCString() };
    return this.#send(exchange, { headers: { ...headers, ...forever }, etag: `"${hash}"`, get: () => this.#bytes(exchange, { key: `v3 ${path}`, type,
      make: () => this.#document(path) }) });
  }

  /** Documents of other servers are read there. */
  async #answerRemote(exchange: Exchange, path: string): Promise<Response> {
    const { remote } = this.#dependencies;
    const owner = remote.versions().find(({ openApiV3 }) => openApiV3.has(path));
    if (owner !== undefined) return remote.forward(exchange, owner);
    return { status: 404, headers: {}, body: new Uint8Array(0) };
  }

  async #answerV2(exchange: Exchange): Promise<Response> {
    const type = chooseType(exchange.headers['accept'], V2_PROTOBUF);
    if (type === undefined) return respondText(exchange, 406, '');
    const { remote, hashes } = this.#dependencies;
    const versions = remote.versions();
    const marks = versions.some(({ openApiV2 }) => openApiV2 !== undefined) ? [`remote ${remote.generation}`] : [];
    const hash = toHex(hashes.sha512(encodeText([...[...this.#hashes.values()].map(({ hash: each }) => each), ...marks].join(' '))));
    const etag = `"${hash}"`;
    const headers = {
      ...headersFor(exchange, type), vary: 'Accept-Encoding, Accept', etag, 'last-modified': new Date(this.#startedMs).toUTCString(),
    };
    const source = this.#source;
    const make = function* (): Steps<Json> {
      return yield* mergeSwagger(yield* openApiV2Document(source), versions);
    };
    return this.#send(exchange, { headers, etag, get: () => this.#bytes(exchange, { key: 'v2', type, make }) });
  }

  /** The bytes of a document in the media type that the client asked for. */
  #bytes(exchange: Exchange, { key, type, make }: { readonly key: string; readonly type: string; readonly make: () => Steps<Json> }): Promise<EncodedDocument> {
    return this.#documents.get(`${key} ${type}`, exchange, function* () {
      const document = yield* make();
      if (type === V3_PROTOBUF) return yield* encodeDocumentV3(document);
      return type === V2_PROTOBUF ? yield* encodeDocumentV2(document) : yield* encodeJsonInSteps(document);
    });
  }

  async #send(exchange: Exchange, { headers, etag, get }: Answer): Promise<Response> {
    if (exchange.headers['if-none-match'] === etag) return respondUnchanged(headers);
    const document = await get();
    if (document.bytes.length <= GZIP_MIN_BYTES || !acceptsGzip(exchange)) return { status: 200, headers, body: document.bytes };
    return { status: 200, headers: { ...headers, 'content-encoding': gzipHeaders['content-encoding'] }, body: await document.gzip() };
  }
}

/** The group version of a document's path; undefined for the roots. */
function groupVersionOf(path: string): { group: string; version: string } | undefined {
  const [prefix, first, second] = path.split('/');
  if (prefix === 'api' && first !== undefined) return { group: '', version: first };
  return prefix === 'apis' && second !== undefined ? { group: first as string, version: second } : undefined;
}
