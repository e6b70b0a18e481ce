// Calls of webhooks that objects name, for admission and for conversion: HTTPS to a URL or to a Service, over connections that are kept and used
// again. Mirrors client-go as upstream configures it for webhooks: HTTP/1.1, redirects followed, 429 and 5xx with Retry-After asked again, answers
// in JSON or YAML whatever their content type says. Failures are worded as client-go words them.
import type { IncomingMessage, RequestOptions } from 'node:http';
import { Agent, request } from 'node:https';
import type { Socket } from 'node:net';
import { type SecureContext, createSecureContext } from 'node:tls';
import { type Clock, type Random, delay } from '../../base/index.ts';
import { YamlError, encodeJson, parseJson, parseYaml } from '../../codec/index.ts';
import type { WebhookClient } from '../../crd/index.ts';
import { describeAnswer, describeConnection } from './describe-failure.ts';
import { type Address, type ServiceReads, type ServiceTarget, findServiceAddress } from './service-address.ts';

/** What this server shows of itself to a webhook. */
export interface WebhookCredentials {
  readonly certificate?: string;
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface WebhookCallerOptions extends ServiceReads {
  readonly clock: Clock;
  readonly random: Pick<Random, 'below'>;
  readonly limitBytes?: number;
}

/** What ends a call early. */
export interface CallLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** What is shown to `host:port`; nothing unless given. */
  readonly findCredentials?: ((hostAndPort: string) => WebhookCredentials) | undefined;
}

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
const DEFAULT_TIMEOUT_MS = 30_000;
/** Largest answer: a batch of converted objects of the largest size that is stored, and some more. */
const DEFAULT_LIMIT_BYTES = 32 * 1024 * 1024;
/** client-go's MaxIdleConnsPerHost, and how long Go keeps a connection that is not used. */
const MAX_FREE_SOCKETS = 25;
const IDLE_MS = 90_000;
/** Authorities and targets whose connections are kept at most. */
const MAX_AGENTS = 200;
/** client-go's bounds. */
const MAX_REDIRECTS = 10;
const MAX_RETRIES = 10;
const HTTPS_PORT = 443;

/** Where a call goes. */
interface CallTarget {
  readonly url: URL;
  /** The host as headers and errors show it: Services with their port always. */
  readonly shownHost: string;
  readonly agent: Agent;
  readonly headers: Readonly<Record<string, string>>;
}

const showUrl = ({ url, shownHost }: CallTarget): string => JSON.stringify(`https://${shownHost}${url.pathname}${url.search}`);

/** Connects to wherever a Service leads at the moment; a connection that is kept stays with its endpoint, as Go's does. */
class ServiceAgent extends Agent {
  readonly #findAddress: () => Promise<Address>;

  constructor(options: ConstructorParameters<typeof Agent>[0], findAddress: () => Promise<Address>) {
    super(options);
    this.#findAddress = findAddress;
  }

  override createConnection(options: RequestOptions, callback?: (error: Error | null, socket: Socket) => void): undefined {
    const connect = super.createConnection.bind(this) as (options: RequestOptions) => Socket;
    this.#findAddress().then(
      (address) => callback?.(null, connect({ ...options, ...address })),
      (error: unknown) => callback?.(error as Error, undefined as unknown as Socket),
    );
    return undefined;
  }
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** One request to a URL; rejects with errors of the connection as they are. */
function send(target: CallTarget, { method, body, limits, limitBytes }: {
  readonly method: string; readonly body: Uint8Array | undefined; readonly limits: { readonly signal: AbortSignal }; readonly limitBytes: number;
}): Promise<Answer> {
  const { url, shownHost, agent, headers } = target;
  return new Promise((resolve, reject) => {
    const call = request({
      host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || HTTPS_PORT), method, path: `${url.pathname}${url.search}`, agent,
      signal: limits.signal,
      headers: {
        host: shownHost, 'user-agent': 'kube-apiserver-admission', accept: 'application/json, */*', ...headers,
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': body.length }),
      },
    }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > limitBytes) call.destroy(new Error(`the answer is larger than ${limitBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }));
    });
    call.on('error', (error: Error) => reject(Object.assign(error, { wasKept: call.reusedSocket })));
    call.end(body);
  });
}

/** A connection that the other side has closed while it was kept says nothing about the webhook. */
const isStale = (error: unknown): boolean => {
  const { code, wasKept } = error as { readonly code?: string; readonly wasKept?: boolean };
  return wasKept === true && (code === 'ECONNRESET' || code === 'EPIPE');
};

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const keepsMethod = (status: number): boolean => status === 307 || status === 308;

/** Go joins paths: doubled and trailing slashes are removed. */
const cleanPath = (path: string): string => path.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');

/** Seconds that an answer asks to wait before the next try; undefined where it does not. */
function readWait({ status, headers }: Answer): number | undefined {
  const text = headers['retry-after'];
  return (status === 429 || status >= 500) && text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

async function decodeAnswer({ headers, status, body }: Answer): Promise<unknown> {
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
  readonly #agents = new Map<string, Agent>();

  constructor(options: WebhookCallerOptions) {
    this.#options = options;
  }

  async call(client: WebhookClient, body: unknown, limits: CallLimits = { timeoutMs: DEFAULT_TIMEOUT_MS }): Promise<unknown> {
    const { timeoutMs, signal } = limits;
    const target = this.#findTarget(client, limits);
    const ended = AbortSignal.timeout(Math.ceil(timeoutMs));
    const ends = { signal: signal === undefined ? ended : AbortSignal.any([ended, signal]) };
    const sent = encodeJson(body);
    for (let retries = 0; ; retries++) {
      const answer = await this.#follow(target, sent, ends);
      if (answer.status >= 200 && answer.status <= 206) return decodeAnswer(answer);
      const waitSeconds = retries < MAX_RETRIES ? readWait(answer) : undefined;
      if (waitSeconds === undefined) {
        const { message, code } = describeAnswer({ status: answer.status, contentType: answer.headers['content-type'] ?? '', body: answer.body });
        throw new WebhookCallError(message, { code });
      }
      await this.#wait(waitSeconds * 1000, ends.signal);
    }
  }

  close(): void {
    for (const agent of this.#agents.values()) agent.destroy();
    this.#agents.clear();
  }

  async #wait(ms: number, signal: AbortSignal): Promise<void> {
    const late = new Promise<never>((_resolve, reject) => {
      const end = (): void => reject(new WebhookCallError('context deadline exceeded'));
      if (signal.aborted) end();
      else signal.addEventListener('abort', end, { once: true });
    });
    await Promise.race([delay(this.#options.clock, ms), late]);
  }

  async #follow(target: CallTarget, body: Uint8Array, limits: { readonly signal: AbortSignal }): Promise<Answer> {
    const { limitBytes = DEFAULT_LIMIT_BYTES } = this.#options;
    let [at, method, sent] = [target, 'POST', body as Uint8Array | undefined];
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#sendTwice(at, { method, body: sent, limits, limitBytes });
      const { location } = answer.headers;
      if (!REDIRECTS.has(answer.status) || location === undefined) return answer;
      if (redirects === MAX_REDIRECTS) throw new WebhookCallError(`Post ${showUrl(at)}: stopped after ${MAX_REDIRECTS} redirects`);
      if (!keepsMethod(answer.status)) [method, sent] = ['GET', undefined];
      const next = URL.canParse(location, at.url.href) ? new URL(location, at.url.href) : undefined;
      if (next?.protocol !== 'https:') throw new WebhookCallError(`Post ${JSON.stringify(location)}: unsupported protocol scheme`);
      at = { ...at, url: next, shownHost: next.host };
    }
  }

  /** Sends; once more over a new connection when the one that was kept turns out to be closed. */
  async #sendTwice(target: CallTarget, sending: Parameters<typeof send>[1]): Promise<Answer> {
    try {
      return await send(target, sending).catch((error: unknown) => {
        if (isStale(error)) return send(target, sending);
        throw error;
      });
    } catch (error) {
      const { method } = sending;
      const verb = method === 'POST' ? 'Post' : 'Get';
      throw new WebhookCallError(`${verb} ${showUrl(target)}: ${describeConnection(error as Error)}`);
    }
  }

  #findTarget({ url, service, caBundle = '' }: WebhookClient, { timeoutMs, findCredentials }: CallLimits): CallTarget {
    const host = service === undefined ? undefined : `${service.name}.${service.namespace}.svc`;
    const parsed = new URL(service === undefined ? (url ?? '') : `https://${host}:${service.port ?? HTTPS_PORT}${service.path ?? '/'}`);
    const port = Number(parsed.port || HTTPS_PORT);
    parsed.pathname = cleanPath(parsed.pathname);
    parsed.search = `?timeout=${Math.ceil(timeoutMs / 1000)}s`;
    const hostAndPort = `${parsed.hostname}:${port}`;
    const credentials = findCredentials?.(hostAndPort) ?? {};
    const agent = this.#findAgent(`${service === undefined ? '' : hostAndPort}\n${credentials.certificate ?? ''}\n${caBundle}`, () => {
      const secureContext = createContext(caBundle, credentials);
      const options = { keepAlive: true, maxFreeSockets: MAX_FREE_SOCKETS, timeout: IDLE_MS, secureContext };
      if (service === undefined || host === undefined) return new Agent(options);
      const target: ServiceTarget = { namespace: service.namespace, name: service.name, port };
      const { random } = this.#options;
      return new ServiceAgent({ ...options, servername: host }, () => findServiceAddress(this.#options, target, (count) => random.below(count)));
    });
    return { url: parsed, shownHost: service === undefined ? parsed.host : hostAndPort, agent, headers: credentials.headers ?? {} };
  }

  #findAgent(key: string, create: () => Agent): Agent {
    const known = this.#agents.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#agents;
    if (oldest !== undefined && this.#agents.size >= MAX_AGENTS) {
      this.#agents.delete(oldest[0]);
      oldest[1].destroy();
    }
    const made = create();
    this.#agents.set(key, made);
    return made;
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

function createContext(caBundle: string, { certificate, key }: WebhookCredentials): SecureContext {
  return createSecureContext({
    ...(caBundle !== '' && { ca: readAuthorities(caBundle) }),
    ...(certificate !== undefined && { cert: certificate }), ...(key !== undefined && { key }),
  });
}

/** Makes the caller. */
export function createWebhookCaller(options: WebhookCallerOptions): WebhookCaller {
  return new KeptCaller(options);
}
