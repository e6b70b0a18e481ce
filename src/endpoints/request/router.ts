// Routes requests on resources to their handlers. The catalog decides at this moment which resources exist; built-in APIs and custom resources
// answer differently to paths and methods that do not exist (response/errors.ts).
import { methodNotSupported, notFound } from '../../apimachinery/index.ts';
import { type MaybePromise, createTimeSlice, runStepsInSlices } from '../../base/index.ts';
import { type Resource, type ResourceVerb, versionIn } from '../../registry/index.ts';
import { negotiateRequest, subresourceOf } from './resource-request.ts';
import { handleConnect } from '../verbs/connect.ts';
import { handleCreate } from '../verbs/create.ts';
import { handleDelete, handleDeleteCollection } from '../verbs/delete.ts';
import type { EndpointsParts, ResourceHandler, ResourceRequest } from '../dependencies.ts';
import { methodNotAllowed, namelessPath, notServed, routeNotFound } from '../response/errors.ts';
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

/** An HTTP method of a route: the verb that the resource must have, and the handler. */
interface Method {
  readonly verb: ResourceVerb;
  readonly handle: ResourceHandler;
}

/** How long a schema may be compiled in one turn. */
const TURN_MS = 12;

const objectMethods: Readonly<Record<string, Method>> = {
  GET: { verb: 'get', handle: handleGet }, PUT: { verb: 'update', handle: handleUpdate },
  PATCH: { verb: 'patch', handle: handlePatch }, DELETE: { verb: 'delete', handle: handleDelete },
};
const objectVerbs = new Set(Object.values(objectMethods).map(({ verb }) => verb));
const collectionMethods: Readonly<Record<string, Method>> = {
  GET: { verb: 'list', handle: handleList }, POST: { verb: 'create', handle: handleCreate },
  DELETE: { verb: 'deletecollection', handle: handleDeleteCollection },
};
const subresourceMethods: Readonly<Record<string, Method>> = { ...objectMethods, POST: { verb: 'create', handle: handleCreate } };

/** Whether the path has the old `/watch/` prefix below its version. */
function isOldWatch({ verb, path, prefix, parts }: RequestInfo): boolean {
  if (verb !== 'watch') return false;
  const segments = splitPath(path);
  return segments[prefix === 'api' ? 2 : 3] === 'watch' && parts.length > 0 && segments.length > (prefix === 'api' ? 3 : 4);
}

/** The namespace in the path; '' for cluster-scoped resources, undefined when the path does not fit the resource's scope. */
function scopeOf(resource: Resource, info: RequestInfo): string | undefined {
  const isNamespaces = resource.group === '' && resource.plural === 'namespaces';
  const namespace = isNamespaces && info.parts.length > 1 ? '' : info.namespace;
  if (resource.namespaced) return namespace === '' && info.parts.length > 1 ? undefined : namespace;
  return namespace === '' ? '' : undefined;
}

async function handleOldWatch(request: ResourceRequest): Promise<Response> {
  const { exchange, resource } = request;
  if (exchange.method !== 'GET') throw methodNotAllowed();
  if (!resource.verbs.includes('watch')) throw routeNotFound();
  if (!resource.custom) warnOfDeprecation(request);
  const representation = negotiateRequest(request, true);
  // The path makes it a watch; its options are validated as those of a list, unless the query has `watch` as well.
  return handleWatch(request, await readCollectionOptions(request), representation);
}

function refuseMethod(request: ResourceRequest): Error {
  const { resource, exchange } = request;
  if (!resource.custom) return methodNotAllowed();
  return methodNotSupported({ group: resource.group, resource: resource.plural }, exchange.info.verb);
}

function methodOf(request: ResourceRequest, methods: Readonly<Record<string, Method>>, verbs: readonly string[]): Method {
  // Upstream treats HEAD as GET for custom resources only.
  const name = request.exchange.method === 'HEAD' && request.resource.custom ? 'GET' : request.exchange.method;
  const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
  if (!method || !verbs.includes(method.verb)) throw refuseMethod(request);
  return method;
}

function handleSubresource(request: ResourceRequest): MaybePromise<Response> {
  const { resource, exchange, name, dependencies } = request;
  const subresource = subresourceOf(request);
  if (!subresource) {
    if (resource.custom) throw notFound({ group: resource.group, resource: resource.plural }, name);
    throw routeNotFound();
  }
  if (subresource.connect || (subresource.name === 'log' && dependencies.connect)) {
    return handleConnect(request, subresource);
  }
  if (exchange.info.parts.length > 3) throw routeNotFound();
  const method = methodOf(request, subresourceMethods, subresource.verbs);
  requireName(request, method.verb);
  return handleMethod(request, method);
}

/** Throws the 400 of a path with an empty name; the type of a patch is looked at before. */
function requireName(request: ResourceRequest, verb: ResourceVerb): void {
  if (request.name !== '') return;
  if (verb === 'patch') patchType(request);
  throw namelessPath();
}

/** Upstream warns of deprecated custom versions at any method, of built-in ones where the path has the method. */
function warnOfDeprecation({ exchange, resource, target: { version } }: ResourceRequest): void {
  const warning = versionIn(resource, version)?.deprecationWarning;
  if (!warning) return;
  exchange.warnings.push(warning);
  exchange.audit?.recordDeprecation(warning);
}

/** Calls the handler, for writes of single objects by size. */
function handleMethod(request: ResourceRequest, { verb, handle }: Method): MaybePromise<Response> {
  if (!request.resource.custom) warnOfDeprecation(request);
  const isWrite = verb === 'create' || verb === 'update' || verb === 'patch' || verb === 'delete';
  return isWrite ? handleBySize(request, handle) : handle(request);
}

/** Upstream has one handler for custom resources with and without a name in the path: a create takes its name from the body, other writes need one. */
function nameOfCustom(request: ResourceRequest): ResourceRequest {
  const { resource: { custom, verbs }, exchange: { method }, name } = request;
  if (!custom) return request;
  const verb = method === 'PATCH' ? 'patch' : method === 'PUT' ? 'update' : undefined;
  if (verb !== undefined && verbs.includes(verb)) requireName(request, verb);
  return method === 'POST' && name !== '' && verbs.includes('create') ? { ...request, name: '' } : request;
}

/** Collections across all namespaces can only be listed. */
function collectionVerbs({ namespaced, verbs }: Resource, namespace: string): readonly string[] {
  return namespaced && namespace === '' ? verbs.filter((verb) => verb === 'list') : verbs;
}

function isWriteAcrossNamespaces({ resource, target, exchange }: ResourceRequest): boolean {
  return resource.custom && resource.namespaced && target.namespace === '' && exchange.method !== 'GET' && exchange.method !== 'HEAD';
}

function dispatch(request: ResourceRequest): MaybePromise<Response> {
  // Authorization has allowed the verb `proxy` of the old prefix and no other, so no method below it may have an effect.
  if (request.exchange.info.verb === 'proxy') throw request.resource.custom ? refuseMethod(request) : routeNotFound();
  if (isOldWatch(request.exchange.info)) return handleOldWatch(request);
  if (request.subresource !== '') return handleSubresource(request);
  // Upstream has no such route for custom resources.
  if (request.name === '' && isWriteAcrossNamespaces(request)) return respondNotFoundText(request.exchange);
  const named = nameOfCustom(request);
  // Kinds that are only created, such as reviews, have no path with a name.
  if (named.name !== '' && !named.resource.verbs.some((verb) => objectVerbs.has(verb))) throw routeNotFound();
  if (named.name !== '') return handleMethod(named, methodOf(named, objectMethods, named.resource.verbs));
  if (request.resource.namespaced && request.target.namespace === '' && !request.resource.verbs.includes('list')) throw routeNotFound();
  return handleMethod(named, methodOf(named, collectionMethods, collectionVerbs(named.resource, named.target.namespace)));
}

/** Handles a request below a group version. */
export function routeResource(exchange: Exchange, dependencies: EndpointsParts): MaybePromise<Response> {
  const { info } = exchange;
  const { catalog } = dependencies;
  const resource = catalog.find(info.group, info.version, info.resource);
  // An APIService that names another server wins over a definition of custom resources.
  const mayBeRemote = resource === undefined || resource.custom;
  if (mayBeRemote && dependencies.remote.find(info.group, info.version) !== undefined) return dependencies.remote.forward(exchange, info);
  if (!resource) return notServed(exchange, catalog.resources().filter(({ group }) => group === info.group));
  const namespace = scopeOf(resource, info);
  if (namespace === undefined) return resource.custom ? respondNotFoundText(exchange) : notServed(exchange, [resource]);
  const request = {
    exchange, dependencies, resource, target: { resource, version: info.version, namespace }, name: info.parts[1] ?? '', subresource: info.parts[2] ?? '',
  };
  if (resource.custom) warnOfDeprecation(request);
  const steps = resource.prepare?.(info.version);
  return steps === undefined ? dispatch(request) : runStepsInSlices(steps, createTimeSlice(exchange.clock, TURN_MS)).then(() => dispatch(request));
}
