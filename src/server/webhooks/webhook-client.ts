// Calls of webhooks that objects name (conversion): a URL, or a Service that is found through its EndpointSlices, its external name or its
// cluster IP. HTTPS only, no redirects, one answer of bounded size in bounded time. Failures are worded as client-go words them.
import { type RequestOptions, request } from 'node:https';
import type { KubeObject } from '../../apimachinery/index.ts';
import { catchMaybe } from '../../base/index.ts';
import { encodeJson, parseJson } from '../../codec/index.ts';
import { type Catalog, type Registry, everything } from '../../registry/index.ts';
import type { WebhookClient } from '../../crd/index.ts';

interface WebhookCallerOptions {
  readonly registry: Pick<Registry, 'get' | 'list'>;
  readonly catalog: Pick<Catalog, 'find'>;
  /** The reference waits 30 s for conversions. */
  readonly timeoutMs?: number;
  readonly limitBytes?: number;
}

/** Sends a body to a webhook and answers the parsed answer. */
type CallWebhook = (client: WebhookClient, body: unknown) => Promise<unknown>;

const defaultTimeoutMs = 30_000;
/** Largest answer: a batch of objects of the largest size that is stored, and some more. */
const defaultLimitBytes = 32 * 1024 * 1024;

interface Address {
  readonly host: string;
  readonly port: number;
}

interface ServicePort {
  readonly name?: string;
  readonly port: number;
}

interface ServiceSpec {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly externalName?: string;
  readonly ports?: readonly ServicePort[];
}

interface Slice {
  readonly endpoints?: readonly { readonly addresses?: readonly string[]; readonly conditions?: { readonly ready?: boolean } }[];
  readonly ports?: readonly { readonly name?: string; readonly port?: number }[];
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

async function readSpec({ registry, catalog }: WebhookCallerOptions, namespace: string, name: string): Promise<ServiceSpec> {
  const resource = catalog.find('', 'v1', 'services');
  if (resource === undefined) throw new Error(`service "${name}" not found`);
  const object = await catchMaybe(() => registry.get({ resource, version: 'v1', namespace, name }, { resourceVersion: '0' }), () => {
    throw new Error(`service "${name}" not found`);
  });
  return (object.object('v1')['spec'] ?? {}) as ServiceSpec;
}

/** A ready endpoint of the Service, by its slices. */
async function findEndpoint(
  options: WebhookCallerOptions, at: { readonly namespace: string; readonly name: string }, portName: string,
): Promise<Address | undefined> {
  const resource = options.catalog.find('discovery.k8s.io', 'v1', 'endpointslices');
  if (resource === undefined) return undefined;
  const list = await options.registry.list({ resource, version: 'v1', namespace: at.namespace }, { predicate: everything, resourceVersion: '0' });
  for (const item of list.items) {
    if (item.labels?.['kubernetes.io/service-name'] !== at.name) continue;
    const slice = item.object('v1') as KubeObject & Slice;
    const port = slice.ports?.find(({ name = '' }) => name === portName)?.port;
    const host = slice.endpoints?.find(({ conditions }) => conditions?.ready !== false)?.addresses?.[0];
    if (port !== undefined && host !== undefined) return { host, port };
  }
  return undefined;
}

async function resolveService(options: WebhookCallerOptions, { name, namespace, port = 443 }: NonNullable<WebhookClient['service']>): Promise<Address> {
  const { type, clusterIP, externalName, ports = [] } = await readSpec(options, namespace, name);
  if (type === 'ExternalName') return { host: externalName ?? '', port };
  const found = ports.find((each) => each.port === port);
  if (found === undefined) throw new Error(`no service port ${port} found for service "${name}"`);
  const endpoint = await findEndpoint(options, { namespace, name }, found.name ?? '');
  if (endpoint !== undefined) return endpoint;
  if (clusterIP === undefined || clusterIP === '' || clusterIP === 'None') throw new Error(`no endpoints available for service "${name}"`);
  return { host: clusterIP, port };
}

/** What client-go says of an answer that is no success. */
function describeFailure(status: number, text: string): string {
  try {
    const { kind, message } = JSON.parse(text) as { kind?: string; message?: string };
    if (kind === 'Status' && message !== undefined && message !== '') return message;
  } catch {
    // Not a Status: the text itself is told.
  }
  if (status >= 300 && status < 400) return `the server responded with the status code ${status} but did not return more information`;
  if (status === 404) return 'the server could not find the requested resource';
  if (status === 401) return 'the server has asked for the client to provide credentials';
  if (status === 403) return 'unknown';
  if (status >= 500) return `an error on the server (${JSON.stringify(text.slice(0, 2048) || 'unknown')}) has prevented the request from succeeding`;
  return `the server responded with the status code ${status} but did not return more information`;
}

const untrusted = new Set(['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY']);

/** A failure of the connection as Go's client names it. */
function describeConnection(error: Error & { readonly code?: string; readonly address?: string; readonly port?: number }): string {
  const { code, address, port, name } = error;
  const dial = `dial tcp ${address?.includes(':') === true ? `[${address}]` : address}:${port}: connect`;
  if (code === 'ECONNREFUSED' && address !== undefined) return `${dial}: connection refused`;
  if (code === 'ECONNRESET') return 'EOF';
  if (code !== undefined && untrusted.has(code)) return 'tls: failed to verify certificate: x509: certificate signed by unknown authority';
  if (name === 'AbortError' || name === 'TimeoutError') return 'context deadline exceeded';
  return error.message;
}

function post(options: RequestOptions, body: Uint8Array, { limitBytes, url }: { readonly limitBytes: number; readonly url: string }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => reject(new Error(`Post ${JSON.stringify(url)}: ${describeConnection(error)}`));
    const call = request(options, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > limitBytes) call.destroy(new Error(`the answer is larger than ${limitBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('error', fail);
      response.on('end', () => {
        const status = response.statusCode ?? 0;
        const bytes = Buffer.concat(chunks);
        if (status < 200 || status > 299) return reject(new Error(describeFailure(status, bytes.toString('utf8'))));
        try {
          return resolve(parseJson(bytes).value);
        } catch (error) {
          return reject(new Error(`couldn't get version/kind; json parse error: ${messageOf(error)}`));
        }
      });
    });
    call.on('error', fail);
    call.end(body);
  });
}

/** Makes the caller. */
export function createWebhookCaller(options: WebhookCallerOptions): CallWebhook {
  const { timeoutMs = defaultTimeoutMs, limitBytes = defaultLimitBytes } = options;
  return async ({ url, service, caBundle }, body) => {
    const dns = service === undefined ? undefined : `${service.name}.${service.namespace}.svc`;
    const target = new URL(service === undefined ? (url ?? '') : `https://${dns}:${service.port ?? 443}${service.path ?? '/'}`);
    const shown = `${service === undefined ? url : `https://${dns}:${service.port ?? 443}${service.path ?? '/'}`}?timeout=${timeoutMs / 1000}s`;
    const sent = encodeJson(body);
    const address = service === undefined ? { host: target.hostname.replace(/^\[|\]$/g, ''), port: Number(target.port || 443) }
      : await resolveService(options, service).catch((error: unknown) => {
        throw new Error(`Post ${JSON.stringify(shown)}: ${messageOf(error)}`);
      });
    return post({
      ...address, ...(dns !== undefined && { servername: dns }), method: 'POST', path: `${target.pathname}?timeout=${timeoutMs / 1000}s`, agent: false,
      signal: AbortSignal.timeout(timeoutMs), ...(caBundle !== undefined && caBundle !== '' && { ca: Buffer.from(caBundle, 'base64').toString('utf8') }),
      headers: { host: target.host, accept: 'application/json, */*', 'content-type': 'application/json', 'content-length': sent.length },
    }, sent, { limitBytes, url: shown });
  };
}
