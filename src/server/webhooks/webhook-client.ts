// Calls of webhooks that objects name, for admission and for conversion: HTTPS to a URL or to a Service, over connections that are kept and used
// again. Mirrors client-go as upstream configures it for webhooks: HTTP/1.1, redirects followed, 429 and 5xx with Retry-After asked again, answers
// in JSON or YAML whatever their content type says. Failures are worded as client-go words them.
import { type SecureContext, createSecureContext } from 'node:tls';
import { type Clock, type Random, beginTurn, once } from '../../base/index.ts';
import { YamlError, parseJson, parseYaml, stringifyJson } from '../../codec/index.ts';
import type { WebhookClient } from '../../crd/index.ts';
import { isServerIssuedNow, parseAuthorities } from '../tls/client-certificate.ts';
import { AgentPool, trustOnly } from './agent-pool.ts';
import { describeAnswer, describeConnection } from './describe-failure.ts';
import type { SecureOptions, TrustLeaf } from './dial.ts';
import type { Routed } from './egress.ts';
import { CallEnd, type CallTime, type HttpAnswer, type HttpCall, callBefore, hostOf } from './http-call.ts';
import { KeptConnections } from './kept-connections.ts';
import { type Address, type ServiceReads, type ServiceTarget, findServiceAddress } from './service-address.ts';

/** What this server shows of itself to a webhook. */
export interface WebhookCredentials {
  readonly certificate?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface WebhookCallerOptions extends ServiceReads, Routed {
  readonly clock: Clock;
  readonly random: Pick<Random, 'below'>;
  readonly limitBytes?: number;
}

/** What ends a call early. */
export interface CallLimits extends CallTime {
  /** The time that is stated to the webhook, where it is less than that of the call. */
  readonly leftMs?: number | undefined;
  /** The credentials that `host:port` is shown; nothing unless given. */
  readonly findCredentials?: ((hostAndPort: string) => WebhookCredentials) | undefined;
}

/** Runs before a webhook is called; a rejection is the outcome of the call. `limitMs` is the time that the call may take. */
export type BeforeWebhook = (client: WebhookClient, call: { readonly limitMs: number }) => Promise<void> | void;

/** Calls webhooks. */
export interface WebhookCaller {
  /** Sends a body and answers the parsed answer; rejects with a WebhookCallError. */
  call(client: WebhookClient, body: unknown, limits?: CallLimits): Promise<unknown>;
  /** Closes the connections that are kept. */
  close(): void;
}

/** A call that failed; `code` is that of the answer, 503 where there was none. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
  readonly code: number;
  /** Nothing was sent: what the configuration says cannot be used. */
  readonly isUnusable: boolean;

  constructor(message: string, { code = 503, isUnusable = false }: { readonly code?: number; readonly isUnusable?: boolean } = {}) {
    super(message);
    this.code = code;
    this.isUnusable = isUnusable;
  }
}

/** The reference waits this long for conversions. */
export const DEFAULT_TIMEOUT_MS = 30_000;
/** Largest answer: a batch of converted objects of the largest size that is stored, and some more. */
const DEFAULT_LIMIT_BYTES = 32 * 1024 * 1024;
/** client-go's bounds. */
const MAX_REQUESTS = 10;
const MAX_RETRIES = 10;
const HTTPS_PORT = 443;

/** The target of a call. */
interface CallTarget extends Pick<HttpCall, 'host' | 'port'> {
  /** The host as headers and errors show it: Services with their port always. */
  readonly shownHost: string;
  /** Path and query. */
  readonly path: string;
  readonly agent: KeptConnections;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a configuration and the credentials for it say, read once; the agent is looked up for each call, as the pool forgets. */
interface KnownTarget {
  readonly target: Omit<CallTarget, 'agent'>;
  readonly findCredentials: CallLimits['findCredentials'];
  readonly agentKey: string;
  readonly makeAgent: () => KeptConnections;
}

const urlOf = ({ shownHost, path }: CallTarget): string => `https://${shownHost}${path}`;

interface Sending extends Pick<HttpCall, 'method' | 'body' | 'measure'> {
  readonly limitBytes: number;
}

async function sendBefore(end: CallEnd, target: CallTarget, { method, body, measure, limitBytes }: Sending): Promise<HttpAnswer> {
  const { host, port, path, agent, headers } = target;
  try {
    return await callBefore(end, { host, port, method, path, agent, headers, body, measure }, limitBytes);
  } catch (error) {
    const verb = method === 'POST' ? 'Post' : 'Get';
    throw new WebhookCallError(`${verb} ${JSON.stringify(urlOf(target))}: ${describeConnection(error as Error)}`);
  }
}

const redirectCodes: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const keepsMethod = (status: number): boolean => status === 307 || status === 308;

/** Go joins paths: doubled and trailing slashes are removed. */
const cleanPath = (path: string): string => path.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');

/** Seconds that an answer asks to wait before the next try; undefined where it does not. */
function readWait({ status, headers }: HttpAnswer): number | undefined {
  const text = headers['retry-after'];
  return (status === 429 || status >= 500) && text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

async function decodeAnswer({ headers, status, body }: HttpAnswer): Promise<unknown> {
  if (body.length === 0) {
    throw new WebhookCallError(`0-length response with status code: ${status} and content type: ${headers['content-type'] ?? ''}`);
  }
  try {
    return /^\s*\{/.test(body.subarray(0, 64).toString('latin1')) ? parseJson(body).value : (await parseYaml(body)).value;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new WebhookCallError(error instanceof YamlError ? why : `couldn't get version/kind; json parse error: ${why}`);
  }
}

class KeptCaller implements WebhookCaller {
  readonly #options: WebhookCallerOptions;
  readonly #pool = new AgentPool<KeptConnections>();
  /** By what configurations say, and the credentials of the plugin that calls: reading it costs more than looking it up. */
  readonly #targets = new WeakMap<WebhookClient, KnownTarget>();

  constructor(options: WebhookCallerOptions) {
    this.#options = options;
  }

  async call(client: WebhookClient, body: unknown, limits: CallLimits = { timeoutMs: DEFAULT_TIMEOUT_MS }): Promise<unknown> {
    const { target: base, agentKey, makeAgent } = this.#recallTarget(client, limits.findCredentials);
    const agent = this.#pool.agentFor(agentKey, makeAgent);
    const target = { ...base, agent, path: `${base.path}?timeout=${Math.ceil(Math.min(limits.timeoutMs, limits.leftMs ?? Infinity) / 1000)}s` };
    const sent = stringifyJson(body);
    const end = new CallEnd(this.#options.clock, limits);
    try {
      for (let retries = 0; ; retries++) {
        const answer = await this.#follow(target, sent, end);
        beginTurn(this.#options.clock);
        if (answer.status >= 200 && answer.status <= 206) return await decodeAnswer(answer);
        const waitSeconds = retries < MAX_RETRIES ? readWait(answer) : undefined;
        if (waitSeconds === undefined) {
          const { message, code } = describeAnswer({ status: answer.status, contentType: answer.headers['content-type'] ?? '', body: answer.body });
          throw new WebhookCallError(message, { code });
        }
        await this.#wait(waitSeconds * 1000, end);
      }
    } finally {
      end.dispose();
    }
  }

  close(): void {
    this.#pool.close();
  }

  #wait(ms: number, end: CallEnd): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#options.clock.after(ms, () => {
        end.report(undefined);
        resolve();
      });
      end.report(() => {
        timer.cancel();
        reject(new WebhookCallError('context deadline exceeded'));
      });
    });
  }

  async #follow(target: CallTarget, body: string, end: CallEnd): Promise<HttpAnswer> {
    const { limitBytes = DEFAULT_LIMIT_BYTES, egress: { measure } } = this.#options;
    let [at, method, sent] = [target, 'POST', body as string | undefined];
    for (let requests = 1; ; requests++) {
      const answer = await sendBefore(end, at, { method, body: sent, limitBytes, measure });
      const { location } = answer.headers;
      if (!redirectCodes.has(answer.status) || location === undefined) return answer;
      if (requests === MAX_REQUESTS) throw new WebhookCallError(`Post ${JSON.stringify(location)}: stopped after ${MAX_REQUESTS} redirects`);
      if (!keepsMethod(answer.status)) [method, sent] = ['GET', undefined];
      const next = URL.canParse(location, urlOf(at)) ? new URL(location, urlOf(at)) : undefined;
      if (next?.protocol !== 'https:') throw new WebhookCallError(`Post ${JSON.stringify(location)}: unsupported protocol scheme`);
      at = { ...at, ...hostOf(next), shownHost: next.host, path: `${next.pathname}${next.search}`, headers: { ...at.headers, host: next.host } };
    }
  }

  #recallTarget(client: WebhookClient, findCredentials: CallLimits['findCredentials']): KnownTarget {
    const known = this.#targets.get(client);
    if (known?.findCredentials === findCredentials && known !== undefined) return known;
    const found = this.#findTarget(client, findCredentials);
    this.#targets.set(client, found);
    return found;
  }

  #findTarget({ url, service, caBundle = '' }: WebhookClient, findCredentials: CallLimits['findCredentials']): KnownTarget {
    const name = service === undefined ? undefined : `${service.name}.${service.namespace}.svc`;
    const parsed = new URL(service === undefined ? (url ?? '') : `https://${name}:${service.port ?? HTTPS_PORT}${service.path ?? '/'}`);
    const { host, port } = hostOf(parsed);
    const hostAndPort = `${parsed.hostname}:${port}`;
    const credentials = findCredentials?.(hostAndPort) ?? {};
    const agentKey = `${service === undefined ? '' : hostAndPort}\n${credentials.certificate ?? ''}\n${caBundle}`;
    const makeAgent = (): KeptConnections => {
      const { clock, random, egress } = this.#options;
      const secure = secureOptions(caBundle, credentials, clock);
      if (service === undefined || name === undefined) return new KeptConnections(secure, { clock, dial: egress.controlplane });
      const aim: ServiceTarget = { namespace: service.namespace, name: service.name, port };
      const findAddress = (): Promise<Address> => findServiceAddress(this.#options, aim, (count) => random.below(count));
      return new KeptConnections({ ...secure, servername: name }, { clock, findAddress, dial: egress.cluster });
    };
    const shownHost = service === undefined ? parsed.host : hostAndPort;
    const headers = { host: shownHost, 'user-agent': 'kube-apiserver-admission', accept: 'application/json, */*', ...credentials.headers };
    const target = { host, port, shownHost, path: cleanPath(parsed.pathname), headers };
    return { target, findCredentials, agentKey, makeAgent };
  }
}

/** Certificates in PEM, of which there must be one. */
function readAuthorities(caBundle: string): string {
  const text = Buffer.from(caBundle, 'base64').toString('utf8');
  const why = !text.includes('-----BEGIN ') ? 'unable to parse bytes as PEM block'
    : text.includes('-----BEGIN CERTIFICATE-----') ? undefined : 'no valid certificate authority data seen';
  if (why === undefined) return text;
  throw new WebhookCallError(`could not get REST client: unable to load root certificates: ${why}`, { code: 400, isUnusable: true });
}

/** How webhooks of a configuration are verified: by the system's authorities where it has none. */
function secureOptions(caBundle: string, { certificate, key }: WebhookCredentials, clock: Clock): SecureOptions {
  const authorities = caBundle === '' ? '' : readAuthorities(caBundle);
  const createContext = (trusted: string): SecureContext => createSecureContext({
    ...(trusted !== '' && trustOnly(trusted)), ...(certificate !== undefined && { cert: certificate }), ...(key !== undefined && { key }),
  });
  const secureContext = createContext(authorities);
  if (authorities === '') return { secureContext };
  const issuers = once(() => parseAuthorities([authorities]));
  const trustLeaf: TrustLeaf = (leaf) =>
    (isServerIssuedNow(leaf, issuers(), clock.now()) ? createContext(`${authorities}\n${leaf.toString()}`) : undefined);
  return { secureContext, trustLeaf };
}

/** Makes the caller. */
export function createWebhookCaller(options: WebhookCallerOptions): WebhookCaller {
  return new KeptCaller(options);
}
