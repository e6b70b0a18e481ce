// Discovery over HTTP: `/api`, `/apis`, `/apis/{group}`, group versions; aggregated discovery, with ETag, at the roots. Bodies are kept until
// the catalog changes: encoding and hashing the aggregated `/apis` takes 0.7 ms, `/api/v1` 0.4 ms.
import { trimEnd } from '../../base/index.ts';
import { notAcceptable } from '../../apimachinery/index.ts';
import { negotiate as negotiateType } from '../../codec/index.ts';
import type { EndpointsParts } from '../dependencies.ts';
import { aggregatedDiscovery, apiGroup, apiGroupList, apiResourceList, apiVersions, resourcesOf } from './discovery-data.ts';
import type { GroupVersion } from '../remote/remote-apis.ts';
import { encodeBody } from '../response/encoding.ts';
import { checkGet, notServed } from '../response/errors.ts';
import type { Exchange, Response } from '../exchange.ts';
import { formTypes, type Form, type Media, plainMedia } from '../request/media.ts';
import { checkAccept, checkDocumentType, wantsPretty } from '../request/negotiate.ts';
import { headersFor, respondBytes, respondNotFoundText, respondUnchanged } from '../response/respond.ts';

const AGGREGATED_PARAMETERS = 'g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const AGGREGATED_SCHEMA = 'io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList';
const META_PREFIX = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
const textForms: readonly Form[] = ['json', 'yaml'];

interface Document {
  readonly body: Uint8Array;
  readonly etag: string;
}

/** The discovery documents of one catalog. */
export class Discovery {
  readonly #dependencies: EndpointsParts;
  /** Documents of the catalog's present generation, by path and encoding; there are at most six for each group version. */
  readonly #documents = new Map<string, Document>();
  #generation = '';

  constructor(dependencies: EndpointsParts) {
    this.#dependencies = dependencies;
  }

  /** `/api` (core) and `/apis`; `/apis/` has the legacy document alone. */
  async answerRoot(exchange: Exchange, core: boolean): Promise<Response> {
    const form = exchange.path === '/apis/' ? undefined : aggregatedForm(exchange.headers['accept']);
    if (core) {
      checkGet(exchange);
      checkDocumentType(exchange, plainMedia.objectTypes);
    }
    if (form !== undefined) return this.#answerAggregated(exchange, core, form);
    if (core) checkAccept(exchange, plainMedia.objectTypes);
    return core
      ? this.#answer(exchange, 'APIVersions', () => apiVersions(this.#dependencies.catalog, this.#dependencies.serverAddress()))
      : this.#answer(exchange, 'APIGroupList', () => apiGroupList(this.#dependencies.catalog, this.#dependencies.remote));
  }

  /** `/apis/{group}`. */
  async answerGroup(exchange: Exchange, group: string): Promise<Response> {
    if (apiGroup(this.#dependencies, group) === undefined) return respondNotFoundText(exchange);
    return this.#answer(exchange, 'APIGroup', () => apiGroup(this.#dependencies, group));
  }

  /** `/api/v1` and `/apis/{group}/{version}`. */
  async answerGroupVersion(exchange: Exchange, groupVersion: GroupVersion): Promise<Response> {
    const { catalog, hashes, media, remote } = this.#dependencies;
    const resources = catalog.resources().filter(({ group }) => group === groupVersion.group);
    const served = catalog.groups().some(({ name, versions }) => name === groupVersion.group && versions.includes(groupVersion.version));
    const isBuiltIn = resourcesOf(catalog, groupVersion.group, groupVersion.version).some(({ custom }) => !custom);
    if (!isBuiltIn && remote.find(groupVersion.group, groupVersion.version) !== undefined) return remote.forward(exchange, groupVersion);
    if (!served) return notServed(exchange, resources);
    if (resources.some(({ custom }) => !custom)) {
      checkGet(exchange);
      checkDocumentType(exchange, media.objectTypes);
      checkAccept(exchange, media.objectTypes);
    }
    const make = (): unknown => apiResourceList(catalog, hashes, groupVersion);
    return this.#answer(exchange, 'APIResourceList', make, resources.every(({ custom }) => custom) ? plainMedia : media);
  }

  /** Upstream's CBOR is in the documents of group versions alone. */
  async #answer(exchange: Exchange, kind: string, make: () => unknown, { forms, objectTypes }: Media = plainMedia): Promise<Response> {
    const schema = this.#dependencies.schemas.definition(`${META_PREFIX}${kind}`);
    const form = negotiateType(exchange.headers['accept'], schema ? forms : textForms)?.type as Form | undefined;
    if (form === undefined) throw notAcceptable(objectTypes);
    const encode = (as: Form, pretty: boolean): Document => this.#document(`${trimEnd(exchange.path, '/')} ${as} ${pretty}`,
      () => encodeBody({ value: withVersion(make(), as), schema }, as, pretty));
    const { body } = encode(form, form === 'json' && wantsPretty(exchange));
    if (exchange.audit?.wantsResponse) exchange.audit.recordResponseJson(encode('json', false).body);
    return respondBytes(exchange, this.#dependencies, { status: 200, contentType: formTypes[form], body: [body] });
  }

  async #answerAggregated(exchange: Exchange, core: boolean, form: Form): Promise<Response> {
    const schema = this.#dependencies.schemas.definition(AGGREGATED_SCHEMA);
    const encode = (as: Form, pretty: boolean): Document => this.#document(`aggregated ${core} ${as} ${pretty}`,
      () => encodeBody({ value: aggregatedDiscovery(this.#dependencies, core), schema }, as, pretty));
    const { body, etag } = encode(form, form === 'json' && wantsPretty(exchange));
    const headers: Record<string, string | readonly string[]> = { ...headersFor(exchange, `${formTypes[form]};${AGGREGATED_PARAMETERS}`),
      'cache-control': 'public', vary: 'Accept', etag };
    if (exchange.headers['if-none-match'] === etag) return respondUnchanged(headers);
    if (exchange.audit?.wantsResponse) exchange.audit.recordResponseJson(encode('json', false).body);
    const response = await respondBytes(exchange, this.#dependencies, { status: 200, contentType: '', body: [body] });
    const vary = response.headers['content-encoding'] ? 'Accept, Accept-Encoding' : 'Accept';
    return { ...response, headers: { ...response.headers, ...headers, vary } };
  }

  #document(key: string, make: () => Uint8Array): Document {
    const { catalog, hashes, remote } = this.#dependencies;
    const generation = `${catalog.generation} ${remote.generation}`;
    if (generation !== this.#generation) this.#documents.clear();
    this.#generation = generation;
    let found = this.#documents.get(key);
    if (!found) {
      const body = make();
      found = { body, etag: `"${toHex(hashes.sha512(body))}"` };
      this.#documents.set(key, found);
    }
    return found;
  }
}

/** Protobuf envelopes have an apiVersion even where the JSON of the core group has none. */
function withVersion(value: unknown, form: Form): unknown {
  return form === 'protobuf' ? { apiVersion: 'v1', ...(value as object) } : value;
}

/** Upper-case hexadecimal, as ETags are written. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('').toUpperCase();
}

/** The encoding of aggregated discovery, if any clause of the header asks for it; undefined for the legacy documents. */
function aggregatedForm(accept: string | undefined): Form | undefined {
  if (accept === undefined || accept === '') return undefined;
  const found = negotiateType(accept, plainMedia.forms, (_, transform) =>
    transform?.kind === 'APIGroupDiscoveryList' && transform.group === 'apidiscovery.k8s.io' && transform.version === 'v2');
  return found?.type as Form | undefined;
}
