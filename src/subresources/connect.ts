// Paths that lead to containers, nodes and services: exec, attach, port-forward, log, proxy. Nothing runs behind this server, so each of
// them ends in the reference's answer to what is not there: no such object, no such container, no host yet, and then no connection.
import { type KubeObject, badRequest, failure, internalError, invalid, invalidValue, notFound } from '../apimachinery/index.ts';
import type { Connect, Response } from '../endpoints/index.ts';
import { type Catalog, type Registry, findCurrent } from '../registry/index.ts';

type Request = Parameters<Connect>[0];

const tunnels = new Set(['exec', 'attach', 'portforward']);
const containerLists = ['containers', 'initContainers', 'ephemeralContainers'];

interface PodSpec {
  readonly nodeName?: string;
  readonly [list: string]: unknown;
}

const namesIn = (spec: PodSpec, list: string): string[] => ((spec[list] ?? []) as { name: string }[]).map(({ name }) => name);

/** The container that is meant; throws when that is none, or not clear. */
function checkContainer(pod: string, spec: PodSpec, wanted: string): void {
  const all = containerLists.flatMap((list) => namesIn(spec, list));
  if (wanted !== '') {
    if (!all.includes(wanted)) throw badRequest(`container ${wanted} is not valid for pod ${pod}`);
    return;
  }
  const containers = namesIn(spec, 'containers');
  if (all.length <= 1) return;
  const others = [['initContainers', 'init'], ['ephemeralContainers', 'debug']].map(([list = '', kind = '']) => [kind, namesIn(spec, list)] as const)
    .filter(([, names]) => names.length > 0).map(([kind, names]) => ` or one of the ${kind} containers: [${names.join(' ')}]`).join('');
  throw badRequest(`a container name must be specified for pod ${pod}, choose one of: [${containers.join(' ')}]${others}`);
}

const countOptions = ['tailLines', 'limitBytes'];

function checkLogOptions(pod: string, query: URLSearchParams): void {
  const errors = countOptions.flatMap((option) => {
    const text = query.get(option);
    if (text === null) return [];
    if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
    const least = option === 'limitBytes' ? 1 : 0;
    return Number(text) < least ? [invalidValue(option, Number(text), least === 1 ? 'must be greater than 0' : 'must be greater than or equal to 0')] : [];
  });
  if (errors.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, pod, errors);
}

/** A pod without a node has said nothing yet. */
function answerLog(pod: string, spec: PodSpec, query: URLSearchParams): Response {
  checkLogOptions(pod, query);
  checkContainer(pod, spec, query.get('container') ?? '');
  if (spec.nodeName) throw internalError(`nodes are not reached from here: there are no logs of pod ${pod}`);
  return { status: 204, headers: {}, body: new Uint8Array(0) };
}

function answerPod({ name, subresource, exchange }: Request, pod: KubeObject): Response {
  const spec = (pod['spec'] ?? {}) as PodSpec;
  if (subresource === 'log') return answerLog(name, spec, exchange.query);
  if (!tunnels.has(subresource)) throw badRequest('address not allowed');
  if (subresource !== 'portforward') checkContainer(name, spec, exchange.query.get('container') ?? '');
  if (!spec.nodeName) throw badRequest(`pod ${name} does not have a host assigned`);
  throw internalError(`error dialing backend: nodes are not reached from here, ${spec.nodeName} included`);
}

function checkMethod({ subresource, exchange: { method } }: Request): void {
  const isAllowed = subresource === 'log' ? method === 'GET' : tunnels.has(subresource) ? method === 'GET' || method === 'POST' : true;
  if (!isAllowed) throw failure(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

const noEndpoints = (service: string): Error => failure(503, 'ServiceUnavailable', `no endpoints available for service ${JSON.stringify(service)}`);

/** A service is what its endpoints say: one without that object is not found, whether or not it is there itself. */
async function refuseService(
  { target, name }: Request, { service, port }: { service: string; port: string }, { registry, catalog }: Dependencies,
): Promise<never> {
  if (/^[+-]?\d+$/.test(port)) {
    const { ports = [] } = ((await registry.get({ ...target, name: service }, {})).object(target.version)['spec'] ?? {}) as { ports?: { port: number }[] };
    const isServed = ports.some((one) => one.port === Number(port));
    if (!isServed) throw failure(503, 'ServiceUnavailable', `no service port ${Number(port)} found for service ${JSON.stringify(service)}`);
  }
  const endpoints = catalog.find('', target.version, 'endpoints');
  const found = endpoints && await findCurrent(registry, { ...target, resource: endpoints, name: service });
  if (found === undefined) throw notFound({ group: '', resource: 'services' }, service);
  const { subsets = [] } = found.object(target.version) as { subsets?: unknown[] };
  throw noEndpoints(subsets.length === 0 ? service : name);
}

interface Dependencies {
  readonly registry: Registry;
  readonly catalog: Catalog;
}

/** The handler of connections, for createEndpoints. Proxied services may be named `scheme:name:port`. */
export function createConnections(dependencies: Dependencies): Connect {
  return async (request) => {
    checkMethod(request);
    const { target, name } = request;
    const [scheme = '', plain, last] = name.split(':');
    const [parent, port] = plain === undefined ? [scheme, ''] : last === undefined ? [scheme, plain] : [plain, last];
    if (target.resource.plural === 'services') return refuseService(request, { service: parent, port }, dependencies);
    const isPod = target.resource.plural === 'pods';
    const found = await dependencies.registry.get({ ...target, name: isPod && request.subresource !== 'proxy' ? name : parent }, {});
    if (isPod) return answerPod(request, found.object(target.version));
    throw internalError(`error dialing backend: nodes are not reached from here, ${parent} included`);
  };
}
