// Paths to handlers. What exists is what the catalog serves at this moment; built-in APIs and custom resources differ in what they answer
// to what does not exist (errors.ts).
import { badRequest, methodNotSupported, notFound } from '../../apimachinery/index.ts';
import type { MaybePromise } from '../../base/index.ts';
import type { Resource, ResourceVerb } from '../../registry/index.ts';
import { negotiateCall, subresourceOf } from './resource-request.ts';
import { handleConnect } from '../verbs/connect.ts';
import { handleCreate } from '../verbs/create.ts';
import { handleDelete, handleDeleteCollection } from '../verbs/delete.ts';
import type { ResourceRequest, EndpointsParts } from '../dependencies.ts';
import { methodNotAllowed, notServed, respondUnavailable, routeNotFound } from '../response/errors.ts';
import type { Exchange, RequestInfo, Response } from '../exchange.ts';
import { handleGet } from '../verbs/get.ts';
import { handleList } from '../verbs/list.ts';
import { readCollectionOptions } from './list-options.ts';
import { handlePatch, patchType } from '../verbs/patch.ts';
import { handleBySize } from './large-requests.ts';
import { splitPath } from './request-info.ts';
import { respondNotFoundText } from '../response/respond.ts';
import { handleUpdate } from '../verbs/update.ts';
import { handleWatch } from '../verbs/watch.ts';

type CallHandler = (call: ResourceRequest) => MaybePromise<Response>;

/** A method of a kind of route: the verb that the row must have, and who does it. */
interface Method {
  readonly verb: ResourceVerb;
  readonly handle: CallHandler;
}

const NAMELESS = 'name must be provided';

const OBJECT_METHODS: Readonly<Record<string, Method>> = {
  GET: { verb: 'get', handle: handleGet }, PUT: { verb: 'update', handle: handleUpdate },
  PATCH: { verb: 'patch', handle: handlePatch }, DELETE: { verb: 'delete', handle: handleDelete },
};
const COLLECTION_METHODS: Readonly<Record<string, Method>> = {
  GET: { verb: 'list', handle: handleList }, POST: { verb: 'create', handle: handleCreate },
  DELETE: { verb: 'deletecollection', handle: handleDeleteCollection },
};
const SUBRESOURCE_METHODS: Readonly<Record<string, Method>> = { ...OBJECT_METHODS, POST: { verb: 'create', handle: handleCreate } };

/** Whether the path has the old `/watch/` prefix below its version. */
function isOldWatch({ verb, path, prefix, parts }: RequestInfo): boolean {
  if (verb !== 'watch') return false;
  const segments = splitPath(path);
  return segments[prefix === 'api' ? 2 : 3] === 'watch' && parts.length > 0 && segments.length > (prefix === 'api' ? 3 : 4);
}

/** The namespace that the path is in; '' for cluster-scoped rows, undefined when the path does not fit the row's scope. */
function scopeOf(resource: Resource, info: RequestInfo): string | undefined {
  const isNamespaces = resource.group === '' && resource.plural === 'namespaces';
  const namespace = isNamespaces ? '' : info.namespace;
  if (resource.namespaced) return namespace === '' && info.parts.length > 1 ? undefined : namespace;
  return namespace === '' ? '' : undefined;
}

async function handleOldWatch(call: ResourceRequest): Promise<Response> {
  const { exchange, resource } = call;
  if (exchange.method !== 'GET') throw methodNotAllowed();
  if (!resource.verbs.includes('watch')) throw routeNotFound();
  negotiateCall(call, true);
  // The path forces the watch; the options are checked as those of a list, unless they say `watch` themselves.
  return handleWatch(call, readCollectionOptions(call));
}

function refuseMethod(call: ResourceRequest): Error {
  const { resource, exchange } = call;
  if (!resource.custom) return methodNotAllowed();
  return methodNotSupported({ group: resource.group, resource: resource.plural }, exchange.info.verb);
}

function methodOf(call: ResourceRequest, methods: Readonly<Record<string, Method>>, verbs: readonly string[]): Method {
  // Only the multiplexer of custom resources takes HEAD for GET.
  const name = call.exchange.method === 'HEAD' && call.resource.custom ? 'GET' : call.exchange.method;
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method || !verbs.includes(method.verb)) throw refuseMethod(call);
  return method;
}

function handleSubresource(call: ResourceRequest): MaybePromise<Response> {
  const { resource, exchange, name, dependencies } = call;
  const subresource = subresourceOf(call);
  if (!subresource) {
    if (resource.custom) throw notFound({ group: resource.group, resource: resource.plural }, name);
    throw routeNotFound();
  }
  if (subresource.connect || (subresource.name === 'log' && dependencies.connect)) {
    return handleConnect(call, subresource);
  }
  if (exchange.info.parts.length > 3) throw routeNotFound();
  return handleMethod(call, methodOf(call, SUBRESOURCE_METHODS, subresource.verbs));
}

/** Writes of single objects may be large. */
function handleMethod(call: ResourceRequest, { verb, handle }: Method): MaybePromise<Response> {
  const isWrite = verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete';
  return isWrite ? handleBySize(call, handle) : handle(call);
}

/** Custom resources have one handler for paths with and without a name: a creation takes its name from the body, other writes need one. */
function nameOfCustom(call: ResourceRequest): ResourceRequest {
  const { resource: { custom, verbs }, exchange: { method }, name } = call;
  if (!custom) return call;
  const isPatch = method === 'PATCH' && verbs.includes('patch');
  if (name === '' && isPatch) patchType(call);
  if (name === '' && (isPatch || (method === 'PUT' && verbs.includes('update')))) throw badRequest(NAMELESS);
  return method === 'POST' && name !== '' && verbs.includes('create') ? { ...call, name: '' } : call;
}

/** Across namespaces there is only reading. */
function collectionVerbs({ namespaced, verbs }: Resource, namespace: string): readonly string[] {
  return namespaced && namespace === '' ? verbs.filter((verb) => verb === 'list') : verbs;
}

function isBeyondReading({ resource, target, exchange }: ResourceRequest): boolean {
  return resource.custom && resource.namespaced && target.namespace === '' && exchange.method !== 'GET' && exchange.method !== 'HEAD';
}

function dispatch(call: ResourceRequest): MaybePromise<Response> {
  // The caller was only asked for the verb of the old prefix, which has no routes any more: no method means anything below it.
  if (call.exchange.info.verb === 'proxy') throw call.resource.custom ? refuseMethod(call) : routeNotFound();
  if (isOldWatch(call.exchange.info)) return handleOldWatch(call);
  if (call.subresource !== '') return handleSubresource(call);
  // Custom resources have no such route at all, nor has what is never listed.
  if (call.name === '' && isBeyondReading(call)) return respondNotFoundText(call.exchange);
  const named = nameOfCustom(call);
  if (named.name !== '') return handleMethod(named, methodOf(named, OBJECT_METHODS, named.resource.verbs));
  if (call.resource.namespaced && call.target.namespace === '' && !call.resource.verbs.includes('list')) throw routeNotFound();
  return handleMethod(named, methodOf(named, COLLECTION_METHODS, collectionVerbs(named.resource, named.target.namespace)));
}

/** Handles a request below a group version. */
export function routeResource(exchange: Exchange, dependencies: EndpointsParts): MaybePromise<Response> {
  const { info } = exchange;
  const { catalog } = dependencies;
  const resource = catalog.find(info.group, info.version, info.resource);
  if (!resource && dependencies.isRemote?.(info.group, info.version)) return respondUnavailable();
  if (!resource) return notServed(exchange, catalog.resources().filter(({ group }) => group === info.group));
  const namespace = scopeOf(resource, info);
  if (namespace === undefined) return resource.custom ? respondNotFoundText(exchange) : notServed(exchange, [resource]);
  const warning = resource.versions.find(({ name }) => name === info.version)?.deprecationWarning;
  if (warning) exchange.warnings.push(warning);
  return dispatch({
    exchange, dependencies, resource, target: { resource, version: info.version, namespace }, name: info.parts[1] ?? '', subresource: info.parts[2] ?? '',
  });
}
