// Paths that lead to containers, nodes and services: exec, attach, port-forward, log, proxy. Here is decided where each leads and what the
// reference says of what is not there; the connections themselves are made by functions of the server (backends.ts).
import { type KubeObject, badRequest, failure, forbidden, isGlobalUnicast, notFound } from '../../apimachinery/index.ts';
import { type Connect, type RequestInfo, type Response, encodeQuery } from '../../endpoints/index.ts';
import { type User } from '../../auth/index.ts';
import { type Target, findCurrent } from '../../registry/index.ts';
import type { Backends, Location, Translation } from './backends.ts';
import { chooseContainer } from './containers.ts';
import { type Kubelet, type KubeletOptions, checkProxyable, findKubelet } from './kubelets.ts';
import { readLogOptions } from './log-options.ts';
import { type EndpointReads, chooseEndpoint } from './service-endpoints.ts';

type Request = Parameters<Connect>[0];

/** What connections are made of. */
export interface ConnectionsDependencies extends EndpointReads {
  readonly backends: Backends;
  readonly kubelets: KubeletOptions;
  /** Whether logs may be asked for by stream (the feature gate PodLogsQuerySplitStreams). */
  readonly splitsLogStreams: boolean;
  /** Why a user may not do what the info says; undefined where that is allowed. */
  readonly findRefusal: (user: User, info: RequestInfo) => Promise<string | undefined>;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly containers?: readonly { readonly ports?: readonly { readonly containerPort: number }[] }[];
  readonly [field: string]: unknown;
}

const proxyMethods: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
const methodsOf: Readonly<Record<string, ReadonlySet<string>>> = { log: new Set(['GET']), proxy: proxyMethods };
const streamMethods: ReadonlySet<string> = new Set(['GET', 'POST']);

function checkMethod({ subresource, exchange: { method } }: Request): void {
  if ((methodsOf[subresource] ?? streamMethods).has(method)) return;
  throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

/** The parts of `name`, `name:port` and `scheme:name:port`. */
function splitId(id: string, kind: string): { readonly scheme: string; readonly name: string; readonly port: string } {
  const parts = id.split(':');
  const [scheme = '', name = '', port = ''] = parts.length < 3 ? ['', ...parts] : parts;
  if (parts.length <= 3 && name !== '' && ['', 'http', 'https'].includes(scheme)) return { scheme, name, port };
  throw badRequest(`invalid ${kind} request ${JSON.stringify(id)}`);
}

const schemeOf = (scheme: string): Location['scheme'] => (scheme === 'https' ? 'https' : 'http');

async function getObject({ registry }: EndpointReads, target: Target, name: string): Promise<KubeObject> {
  return (await registry.get({ ...target, name }, {})).object(target.version);
}

/** The kubelet of a node. The message for one that is not there names the resource of the request, as the reference's does. */
async function getKubelet(dependencies: ConnectionsDependencies, target: Target, node: string): Promise<Kubelet> {
  const { registry, catalog, kubelets } = dependencies;
  const resource = catalog.find('', target.version, 'nodes');
  const found = resource && await findCurrent(registry, { resource, version: target.version, namespace: '', name: node });
  if (found === undefined) throw notFound({ group: '', resource: target.resource.plural }, node);
  return findKubelet(found.object(target.version), kubelets);
}

/** A pod without a node has said nothing yet. */
async function answerLog({ exchange, target, name }: Request, dependencies: ConnectionsDependencies): Promise<Response> {
  const options = readLogOptions(name, exchange.query, { splitsStreams: dependencies.splitsLogStreams });
  const spec = ((await getObject(dependencies, target, name))['spec'] ?? {}) as PodSpec;
  const container = chooseContainer(name, spec, options.container);
  if (!spec.nodeName) return { status: 204, headers: {}, body: new Uint8Array(0) };
  const { host, port } = await getKubelet(dependencies, target, spec.nodeName);
  return dependencies.backends.streamLog(exchange, {
    scheme: 'https', host, port, path: `/containerLogs/${target.namespace}/${name}/${container}`, query: options.query,
    trust: options.skipsVerification ? 'unverified kubelet' : 'kubelet',
  }, name);
}

/** WebSockets begin with a GET: a user with the right to read must not get streams by it. */
async function requireCreate({ exchange: { user, info } }: Request, { findRefusal }: ConnectionsDependencies): Promise<void> {
  if (info.verb === 'create') return;
  const refusal = await findRefusal(user, { ...info, verb: 'create' });
  if (refusal !== undefined) throw forbidden({ group: info.group, resource: info.resource }, info.name, refusal);
}

interface StreamOptions extends KubeObject {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
  readonly container?: string;
  readonly command?: readonly string[];
  readonly ports?: readonly number[];
}

/** Options as the kubelet reads them. */
function queryOf({ stdin, stdout, stderr, tty, command = [], ports = [] }: StreamOptions): string {
  const flags = Object.entries({ input: stdin, output: stdout, error: stderr, tty }).filter(([, value]) => value === true).map(([key]) => [key, '1'] as const);
  return encodeQuery([...flags, ...command.map((each) => ['command', each] as const), ...(ports.length > 0 ? [['port', ports.join()] as const] : [])]);
}

/** What a client that speaks WebSocket needs of this server, by the protocols that it names. */
function chooseTranslation({ exchange: { headers }, subresource }: Request, options: StreamOptions): Translation {
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((protocol) => protocol.trim());
  if (headers['upgrade']?.toLowerCase() !== 'websocket') return { type: 'pass' };
  if (subresource === 'portforward') {
    return { type: protocols.some((protocol) => protocol.startsWith('SPDY/3.1+') && protocol.endsWith('.k8s.io')) ? 'tunnel' : 'pass' };
  }
  if (!protocols.includes('v5.channel.k8s.io')) return { type: 'pass' };
  const { stdin = false, stdout = false, stderr = false, tty = false } = options;
  return { type: 'channels', streams: { stdin, stdout, stderr, tty } };
}

async function connectStreams(request: Request, dependencies: ConnectionsDependencies): Promise<Response> {
  const { exchange, target, name, subresource } = request;
  const options = (request.options ?? {}) as StreamOptions;
  await requireCreate(request, dependencies);
  const spec = ((await getObject(dependencies, target, name))['spec'] ?? {}) as PodSpec;
  const isForward = subresource === 'portforward';
  const container = isForward ? '' : chooseContainer(name, spec, options.container ?? '');
  if (!spec.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  const { host, port, speaksWebSocket } = await getKubelet(dependencies, target, spec.nodeName);
  const path = isForward ? `/portForward/${target.namespace}/${name}` : `/${subresource}/${target.namespace}/${name}/${container}`;
  const location: Location = { scheme: 'https', host, port, path, query: queryOf(options), trust: 'kubelet' };
  return dependencies.backends.connect(exchange, location, speaksWebSocket ? { type: 'pass' } : chooseTranslation(request, options));
}

async function locatePod({ target, name: id }: Request, dependencies: ConnectionsDependencies): Promise<Omit<Location, 'path' | 'query'>> {
  const { scheme, name, port } = splitId(id, 'pod');
  const pod = await getObject(dependencies, target, name);
  const { containers = [] } = (pod['spec'] ?? {}) as PodSpec;
  const { podIP, podIPs = [] } = (pod['status'] ?? {}) as { podIP?: string; podIPs?: readonly { readonly ip: string }[] };
  const host = podIPs[0]?.ip ?? podIP ?? '';
  if (!isGlobalUnicast(host)) throw badRequest('address not allowed');
  const first = containers.flatMap(({ ports = [] }) => ports.slice(0, 1))[0]?.containerPort;
  return { scheme: schemeOf(scheme), host, port: port === '' && first !== undefined ? String(first) : port, trust: 'anyone' };
}

async function locateNode({ target, name: id }: Request, dependencies: ConnectionsDependencies): Promise<Omit<Location, 'path' | 'query'>> {
  const { scheme, name, port } = splitId(id, 'node');
  const kubelet = await getKubelet(dependencies, target, name);
  await checkProxyable(kubelet.host, dependencies.backends);
  if (port === '' || port === kubelet.port) return { scheme: 'https', host: kubelet.host, port: kubelet.port, trust: 'kubelet' };
  return { scheme: schemeOf(scheme), host: kubelet.host, port, trust: 'anyone' };
}

async function locateService({ target, name: id }: Request, dependencies: ConnectionsDependencies): Promise<Omit<Location, 'path' | 'query'>> {
  const { scheme, name, port } = splitId(id, 'service');
  return { scheme: schemeOf(scheme), ...await chooseEndpoint(dependencies, target, { name, port, id }), trust: 'anyone' };
}

const locators: Readonly<Record<string, typeof locatePod>> = { pods: locatePod, nodes: locateNode, services: locateService };

async function proxy(request: Request, dependencies: ConnectionsDependencies): Promise<Response> {
  const { exchange, target, options } = request;
  const location = await (locators[target.resource.plural] as typeof locatePod)(request, dependencies);
  return dependencies.backends.proxy(exchange, { ...location, path: String(options?.['path'] ?? ''), query: '' });
}

/** The handler of connections, for createEndpoints. Objects of proxies may be named `scheme:name:port`. */
export function createConnections(dependencies: ConnectionsDependencies): Connect {
  return async (request) => {
    checkMethod(request);
    if (request.subresource === 'proxy') return proxy(request, dependencies);
    return request.subresource === 'log' ? answerLog(request, dependencies) : connectStreams(request, dependencies);
  };
}
