// The servers behind APIServices: requests are sent to them with the identity of their user, they are asked whether they answer, and their
// discovery and OpenAPI documents are kept for this server's. The controller of APIServices says which there are (controllers/aggregation/).
import { equalJson } from '../../apimachinery/index.ts';
import type { AggregatedApi, AggregatedApis, AggregatedContent } from '../../controllers/index.ts';
import type { Clock, Random, Timer } from '../../base/index.ts';
import {
  type Exchange, type RemoteApis, type RemoteDiscovery, type RemoteVersion, type Response, convertLegacyResources, describeUser, encodePath, encodeQuery,
  forwardHeaders, readAggregatedResources, readOpenApiIndex,
} from '../../endpoints/index.ts';
import { type Current, type KeyPairTexts, readKeyPair } from '../config-files/followed-files.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { formatLabels, renderGauge } from '../metrics/metric.ts';
import type { ServerOptions } from '../options/options.ts';
import type { Dial } from '../webhooks/dial.ts';
import { describeConnection } from '../webhooks/describe-failure.ts';
import { type HttpAnswer, type HttpCall, callWithin } from '../webhooks/http-call.ts';
import { parseAnswer } from '../webhooks/read-answer.ts';
import { type Address, type ServiceReads, findServiceAddress } from '../webhooks/service-address.ts';
import { type Question, listContents } from './aggregated-content.ts';
import { answerPlainText, forwardRequest, passAnswer, passRequest } from './forward.ts';
import { Upstreams } from './upstream.ts';

interface AggregatorOptions extends ServiceReads {
  readonly clock: Clock;
  readonly random: Pick<Random, 'below'>;
  /** The client certificate for the servers; undefined where there is none. */
  readonly credentials: Current<KeyPairTexts> | undefined;
  readonly refusesRedirects: boolean;
  /** Opens the connections; undefined: as usual. */
  readonly dial: Dial | undefined;
  /** Whether clients reach this server by TLS. */
  readonly isSecure: boolean;
}

/** One APIService with the documents of its server. */
interface Entry {
  readonly api: AggregatedApi;
  readonly version: RemoteVersion;
  /** Documents as they were last read, by path and with their bytes: what has not changed keeps its place in this server's documents. */
  readonly documents: Map<string, { readonly body: Buffer; readonly parsed: unknown }>;
  isAsking: boolean;
  /** The APIService has changed while its server was asked. */
  isOutdated: boolean;
  /** Brings the next round; undefined while its server is asked. */
  timer?: Timer;
}

/** How long documents are good for, as in the reference. */
const REFRESH_MS = 60_000;
const discoveryTypes = ['v2', 'v2beta1'].map((version) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`).join(',');
const discoveryUser = { name: 'system:kube-aggregator', groups: [] };
const probeUser = { name: 'system:kube-aggregator', groups: ['system:masters'] };
const openapiUser = { name: 'system:aggregator', groups: [] };
const HTTPS_PORT = 443;

const nameOf = ({ group, version }: { readonly group: string; readonly version: string }): string => `${version}.${group}`;

/** Parsing a document of this size takes 40 ms. */
const DOCUMENT_LIMIT_BYTES = 4 * 1024 * 1024;
/** The reference's limit for its probes. */
const DOCUMENT_TIMEOUT_MS = 5_000;

const formatHost = ({ host, port }: Address): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** A Location on the server behind becomes absolute; others stay as they are. */
function rewriteLocation(location: string, host: string): string {
  return location.startsWith('/') && !location.startsWith('//') ? `https://${host}${location}` : location;
}

/** The servers behind APIServices. */
export class Aggregator implements RemoteApis, AggregatedApis {
  readonly #options: AggregatorOptions;
  readonly #upstreams: Upstreams;
  readonly #entries = new Map<string, Entry>();
  /** Names of APIServices that this server serves: always available. */
  readonly #local = new Set<string>();
  #versions: readonly RemoteVersion[] | undefined;
  #generation = 0;
  readonly #asking = new AbortController();

  constructor(options: AggregatorOptions) {
    this.#options = options;
    this.#upstreams = new Upstreams(options.dial);
  }

  get generation(): number {
    return this.#generation;
  }

  versions(): readonly RemoteVersion[] {
    return (this.#versions ??= [...this.#entries.values()].map(({ version }) => version));
  }

  find(group: string, version: string): RemoteVersion | undefined {
    return this.#entries.size === 0 ? undefined : this.#entries.get(nameOf({ group, version }))?.version;
  }

  /** An APIService with a Service is there as it is now: where that changes how its server is met, the server is asked for its documents. */
  set(api: AggregatedApi): void {
    const { group, version, groupPriority, versionPriority } = api;
    const known = this.#entries.get(nameOf(api));
    if (known !== undefined && equalJson(known.api, api)) return;
    known?.timer?.cancel();
    const entry: Entry = {
      api, documents: known?.documents ?? new Map(), isAsking: known?.isAsking ?? false, isOutdated: known?.isAsking ?? false,
      version: {
        group, version, groupPriority, versionPriority, discovery: known?.version.discovery, openApiV3: known?.version.openApiV3 ?? new Map(),
        openApiV2: known?.version.openApiV2,
      },
    };
    this.#replace(entry, true);
    if (!entry.isAsking) void this.#ask(nameOf(api));
  }

  remove(group: string, version: string): void {
    const name = nameOf({ group, version });
    this.#entries.get(name)?.timer?.cancel();
    if (!this.#entries.delete(name)) return;
    this.#versions = undefined;
    this.#generation += 1;
  }

  setLocal(name: string, isLocal: boolean): void {
    if (isLocal) this.#local.add(name);
    else this.#local.delete(name);
  }

  listUndiscovered(): string[] {
    return this.versions().filter(({ discovery }) => discovery?.isFresh !== true).map(({ group, version }) => `${group}/${version}`);
  }

  listContents(): AggregatedContent[] {
    return [...this.#entries.values()].flatMap(({ api, version }) => listContents(version, async (question) => {
      const { answer } = await this.#fetch(api, question);
      return answer;
    }));
  }

  /** Asks for the discovery document of a group version; the answer is why that failed. */
  async probe(api: AggregatedApi): Promise<string | undefined> {
    const path = `/apis/${api.group}/${api.version}`;
    let url = path;
    try {
      const { address, answer } = await this.#fetch(api, { path, user: probeUser });
      url = `https://${formatHost(address)}${path}`;
      if (answer.status >= 200 && answer.status < 300) return undefined;
      return `failing or missing response from ${url}: bad status from ${url}: ${answer.status}`;
    } catch (error) {
      const { backend } = error as { readonly backend?: Address };
      if (backend !== undefined) url = `https://${formatHost(backend)}${path}`;
      return `failing or missing response from ${url}: Get ${JSON.stringify(url)}: ${describeConnection(error as Error)}`;
    }
  }

  async forward(exchange: Exchange, target: { readonly group: string; readonly version: string }): Promise<Response> {
    const api = this.#entries.get(nameOf(target))?.api;
    const address = api?.isAvailable === true ? await this.#findAddress(api).catch(() => undefined) : undefined;
    if (api === undefined || address === undefined) return answerPlainText(503, 'service unavailable');
    const request = exchange as ServerExchange;
    const host = formatHost(address);
    const query = encodeQuery(exchange.query);
    const headers = forwardHeaders({ ...exchange, path: exchange.path, headers: request.headerValues(), host, isSecure: this.#options.isSecure });
    headers.set('audit-id', [exchange.auditId]);
    headers.set('host', [host]);
    for (const [name, values] of describeUser(exchange.user)) headers.set(name, values);
    try {
      const rules = { refusesRedirects: this.#options.refusesRedirects, rewriteLocation: (location: string) => rewriteLocation(location, host) };
      return await forwardRequest(request, {
        ...passRequest(request), scheme: 'https', ...address, path: `${encodePath(exchange.path)}${query === '' ? '' : `?${query}`}`, headers,
        agent: this.#agentFor(api), answer: (incoming) => passAnswer(request, incoming, rules),
      });
    } catch (error) {
      return answerPlainText(503, `error trying to reach service: ${describeConnection(error as Error)}`);
    }
  }

  /** Which APIServices are unavailable, as lines. */
  renderMetrics(): string[] {
    const sample = (name: string, isAvailable: boolean): [string, number] => [formatLabels({ name }), isAvailable ? 0 : 1];
    const samples = [...[...this.#local].map((name) => sample(name, true)), ...[...this.#entries].map(([name, { api }]) => sample(name, api.isAvailable))];
    return renderGauge({
      name: 'aggregator_unavailable_apiservice', stability: 'ALPHA',
      help: 'Gauge of APIServices which are marked as unavailable broken down by APIService name.',
    }, samples);
  }

  stopAsking(): void {
    this.#asking.abort();
    for (const { timer } of this.#entries.values()) timer?.cancel();
  }

  /** Closes the connections. */
  stop(): void {
    this.stopAsking();
    this.#entries.clear();
    this.#options.credentials?.stop();
    this.#upstreams.close();
  }

  #agentFor({ service, authorities, skipsVerification }: AggregatedApi) {
    const serverName = `${service.name}.${service.namespace}.svc`;
    return this.#upstreams.agentFor({ authorities, skipsVerification, serverName, ...this.#options.credentials?.value });
  }

  #findAddress({ service: { namespace, name, port = HTTPS_PORT } }: AggregatedApi): Promise<Address> {
    return findServiceAddress(this.#options, { namespace, name, port }, (count) => this.#options.random.below(count));
  }

  async #fetch(
    api: AggregatedApi, { path, user, accept, method = 'GET', body }: Question,
  ): Promise<{ readonly address: Address; readonly answer: HttpAnswer }> {
    const address = await this.#findAddress(api);
    const headers: Record<string, string | readonly string[]> = { host: formatHost(address), ...(accept !== undefined && { accept }) };
    for (const [name, values] of describeUser(user)) headers[name] = values;
    try {
      const { clock } = this.#options;
      const host = address.host.replace(/^\[|\]$/g, '');
      const call: HttpCall = { host, port: address.port, method, path, headers, body, agent: this.#agentFor(api) };
      const answer = await callWithin(call, { clock, timeoutMs: DOCUMENT_TIMEOUT_MS, signal: this.#asking.signal, limitBytes: DOCUMENT_LIMIT_BYTES });
      return { address, answer };
    } catch (error) {
      throw Object.assign(error as Error, { backend: address });
    }
  }

  #replace(entry: Entry, isChanged: boolean): void {
    this.#entries.set(nameOf(entry.api), entry);
    if (!isChanged) return;
    this.#versions = undefined;
    this.#generation += 1;
  }

  /** Asks until nothing has changed meanwhile, and later again. */
  async #ask(name: string): Promise<void> {
    for (;;) {
      const entry = this.#entries.get(name);
      if (entry === undefined || this.#asking.signal.aborted) return;
      entry.isAsking = true;
      entry.isOutdated = false;
      const { documents } = entry;
      const found = await this.#askDocuments(entry);
      const latest = this.#entries.get(name);
      // One that has been removed meanwhile, even if it is back, has no part in what this round has found.
      if (latest?.documents !== documents) return;
      const { isOutdated, version } = latest;
      const isSame = version.discovery?.isFresh === found.discovery?.isFresh && version.discovery?.document === found.discovery?.document
        && version.openApiV2 === found.openApiV2 && sameEntries(version.openApiV3, found.openApiV3);
      this.#replace({ api: latest.api, documents, version: isSame ? version : { ...version, ...found }, isAsking: isOutdated, isOutdated: false }, !isSame);
      if (!isOutdated) break;
    }
    const asked = this.#entries.get(name);
    if (asked !== undefined && !this.#asking.signal.aborted) asked.timer = this.#options.clock.after(REFRESH_MS, () => void this.#ask(name));
  }

  async #askDocuments(entry: Entry): Promise<Pick<RemoteVersion, 'discovery' | 'openApiV3' | 'openApiV2'>> {
    const { api, version } = entry;
    const stale: RemoteDiscovery = { resources: [], document: undefined, ...version.discovery, isFresh: false };
    const discovery = await this.#askDiscovery(entry).catch(() => stale);
    if (!api.isAvailable) return { ...version, discovery };
    const openApiV3 = await this.#askJson(entry, { path: '/openapi/v3', user: openapiUser }).then(readOpenApiIndex, () => version.openApiV3);
    const openApiV2 = await this.#askJson(entry, { path: '/openapi/v2', user: openapiUser, accept: 'application/json' })
      .then((document) => document as RemoteVersion['openApiV2'], () => version.openApiV2);
    return { discovery, openApiV3, openApiV2 };
  }

  async #askDiscovery(entry: Entry): Promise<RemoteDiscovery> {
    const { api } = entry;
    const { answer } = await this.#fetch(api, { path: '/apis', user: probeUser, accept: discoveryTypes });
    if (answer.status === 200 && answer.headers['content-type']?.includes('as=APIGroupDiscoveryList') === true) {
      const document = parseKept(entry, '/apis', answer);
      const resources = readAggregatedResources(document, api);
      if (resources !== undefined) return { resources, document, isFresh: true };
    }
    const path = `/apis/${api.group}/${api.version}`;
    const document = await this.#askJson(entry, { path, user: discoveryUser, accept: 'application/json' });
    const resources = convertLegacyResources(document);
    if (resources === undefined) throw new Error(`${path} is no list of resources`);
    return { resources, document, isFresh: true };
  }

  async #askJson(entry: Entry, question: Question): Promise<unknown> {
    const { answer } = await this.#fetch(entry.api, question);
    if (answer.status !== 200) throw new Error(`${question.path} answers ${answer.status}`);
    return parseKept(entry, question.path, answer);
  }
}

/** The same value for the same bytes. */
function parseKept({ documents }: Entry, path: string, { body }: HttpAnswer): unknown {
  const known = documents.get(path);
  if (known?.body.equals(body) === true) return known.parsed;
  const parsed = parseAnswer(body);
  documents.set(path, { body, parsed });
  return parsed;
}

function sameEntries(some: ReadonlyMap<string, string>, others: ReadonlyMap<string, string>): boolean {
  return some.size === others.size && [...some].every(([path, address]) => others.get(path) === address);
}

/** Makes the aggregator of a server. Throws StartError when its client certificate cannot be read. */
export function createAggregator(
  options: ServerOptions, reads: Pick<ServiceReads, 'registry' | 'catalog'> & { readonly dial: Dial | undefined },
): Aggregator {
  const { clock, random, logger, tls } = options;
  const credentials = readKeyPair(
    { flag: '--proxy-client-cert-file', path: options.proxyClientCertFile }, { flag: '--proxy-client-key-file', path: options.proxyClientKeyFile },
    { what: 'the client certificate for servers behind APIServices', options: { clock, logger } },
  );
  return new Aggregator({
    ...reads, clock, random, credentials, requiresEndpoints: options.enableAggregatorRouting, isSecure: tls,
    refusesRedirects: options.aggregatorRejectForwardingRedirect,
  });
}
