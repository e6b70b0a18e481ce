// The spans of a request: one around it, under the name that the reference gives it, one for each filter behind authentication, one for what its verb
// does. A caller of system:masters or system:monitoring may have its request traced; what others ask for is linked to.
import type { Handler, RequestInfo, Response } from '../../endpoints/index.ts';
import type { Filter, Next } from '../filters/filter.ts';
import type { ServerExchange } from '../http/exchange.ts';
import { type ActiveSpan, type SpanAttributes, currentSpan, inSpan, runWithSpan } from './spans.ts';
import type { RequestTracer } from './tracer.ts';

const trustedGroups: ReadonlySet<string> = new Set(['system:masters', 'system:monitoring']);

/** The filter around everything that follows authentication. */
export function traceRequests(tracer: RequestTracer): Filter {
  return (exchange, next) => {
    const { clock, headers, info, method, user } = exchange;
    const span = tracer.begin({
      name: nameRequest(method, info), headers, startedAtMs: clock.now() - (clock.monotonicMs() - exchange.startedMs),
      isTrusted: user.groups.some((group) => trustedGroups.has(group)), attributes: () => describeExchange(exchange),
    });
    if (span === undefined) return next(exchange);
    exchange.onClosed(() => span.end());
    return answerIn(span, exchange, next);
  };
}

async function answerIn(span: ActiveSpan, exchange: ServerExchange, next: Next): Promise<Response> {
  const response = await runWithSpan(span, () => next(exchange));
  span.set({ 'http.response.status_code': response.status });
  return response;
}

/** `GET /api/v1/namespaces/{:namespace}/pods/{:name}/status`; the method alone for what is no resource. */
function nameRequest(method: string, { isResource, prefix, group, version, namespace, resource, name, subresource }: RequestInfo): string {
  if (!isResource) return method;
  const parts = [
    prefix, group, version, ...(namespace === '' ? [] : ['namespaces', '{:namespace}']), resource, name === '' ? '' : '{:name}', subresource,
  ];
  return `${method} /${parts.filter((part) => part !== '').join('/')}`;
}

const protocolOf = ({ headers }: ServerExchange): string => (headers[':method'] === undefined ? '1.1' : '2');

function describeExchange(exchange: ServerExchange): SpanAttributes {
  const { headers, method, path, target, auditId, remoteAddress } = exchange;
  return {
    'http.request.method': method, 'url.scheme': 'https', 'url.path': path, 'http.target': target, 'network.protocol.name': 'http',
    'network.protocol.version': protocolOf(exchange), 'client.address': remoteAddress, 'network.peer.address': remoteAddress,
    'server.address': headers[':authority'] ?? headers['host'] ?? '', 'user_agent.original': headers['user-agent'] ?? '', 'audit-id': auditId,
  };
}

/** A filter whose own work has a span; the rest of the chain is beside it. */
export function traceFilter(name: string, filter: Filter): Filter {
  return (exchange, next) => {
    const span = currentSpan()?.begin({ name });
    return span === undefined ? filter(exchange, next) : passIn(span, filter, { exchange, next });
  };
}

async function passIn(span: ActiveSpan, filter: Filter, { exchange, next }: { readonly exchange: ServerExchange; readonly next: Next }): Promise<Response> {
  let isPassed = false;
  const pass: Next = (passed) => {
    isPassed = true;
    span.end();
    return next(passed);
  };
  try {
    return await filter(exchange, pass);
  } finally {
    if (!isPassed) span.end();
  }
}

const verbNames: Readonly<Record<string, string>> = {
  get: 'Get', list: 'List', watch: 'Watch', create: 'Create', update: 'Update', patch: 'Patch', delete: 'Delete', deletecollection: 'Delete',
};

/** The handler of resources, in a span named by the verb. */
export function traceHandler(handler: Handler): Handler {
  return (exchange) => {
    const { info } = exchange;
    const name = info.isResource ? verbNames[info.verb] : undefined;
    if (name === undefined || currentSpan() === undefined) return handler(exchange);
    return inSpan(() => ({ name: name === 'Watch' && exchange.query.get('sendInitialEvents') === 'true' ? 'WatchList' : name,
      attributes: describeHandling(exchange as ServerExchange) }), () => handler(exchange));
  };
}

function describeHandling(exchange: ServerExchange): SpanAttributes {
  const { auditId, remoteAddress, headers, method, target } = exchange;
  return {
    accept: headers['accept'] ?? '', 'audit-id': auditId, client: remoteAddress, 'api-group': exchange.info.group, 'api-version': exchange.info.version,
    name: exchange.info.name, subresource: exchange.info.subresource, namespace: exchange.info.namespace,
    protocol: protocolOf(exchange) === '2' ? 'HTTP/2.0' : 'HTTP/1.1', resource: exchange.info.resource, scope: scopeOf(exchange.info),
    url: target.split('?', 1)[0] as string, 'user-agent': headers['user-agent'] ?? '', verb: method,
  };
}

const scopeOf = ({ name, namespace }: RequestInfo): string => (name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster');
