// The whole API as one handler: documents at the top, then resources. StatusErrors of every handler become answers here; those of filters
// become answers in the filters.
import { StatusError } from '../apimachinery/index.ts';
import { type MaybePromise, catchMaybe, takeTurn } from '../base/index.ts';
import { Broadcasts } from './watch/broadcast.ts';
import type { EndpointsDependencies, EndpointsParts } from './dependencies.ts';
import { EncodedEventCache } from './watch/encoded-event-cache.ts';
import { Discovery } from './discovery/discovery.ts';
import { checkGet, routeNotFound } from './response/errors.ts';
import type { Exchange, Handler, Response } from './exchange.ts';
import { mergeGroups } from './remote/remote-apis.ts';
import { OpenApi } from './openapi/openapi.ts';
import { WriteThrottle } from './watch/write-throttle.ts';
import { cborMedia, JSON_TYPE, plainMedia } from './request/media.ts';
import { checkAccept, checkDocumentType } from './request/negotiate.ts';
import { splitPath } from './request/request-info.ts';
import { respondError, respondNotFoundText, respondRawJson } from './response/respond.ts';
import { routeResource } from './request/router.ts';
import { EncodedChunkCache } from './response/encoded-chunk-cache.ts';

/** Paths that `/` always lists, besides those of groups. */
const ownPaths = ['/api', '/apis', '/apis/', '/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'];

/** Paths without their first segment, or without a group, which are never served. */
const emptyBeginning = /^(?:\/apis)?\/\//;

function rootPaths({ catalog, remote, otherPaths = [] }: EndpointsDependencies): string[] {
  const groups = mergeGroups(catalog, remote).flatMap(({ name, versions }) =>
    (name === '' ? versions.map((version) => `/api/${version}`) : [`/apis/${name}`, ...versions.map((version) => `/apis/${name}/${version}`)]));
  return [...new Set([...ownPaths, ...groups, ...otherPaths])].sort();
}

/** Whether an error is one of the documents or of the router, both of which know no CBOR; the router's have empty details. */
function isOfRoute({ info }: Exchange, { status: { details } }: StatusError): boolean {
  return !info.isResource || (details !== undefined && Object.keys(details).length === 0);
}

/** Errors that quote values of so many characters are written in a turn of their own: to find them has taken as long as that does. */
const LONG_MESSAGE = 2 ** 18;

class Endpoints {
  readonly #dependencies: EndpointsParts;
  readonly #discovery: Discovery;
  readonly #openapi: OpenApi;

  constructor(dependencies: EndpointsDependencies) {
    const writeThrottle = new WriteThrottle(dependencies.clock);
    const encodedChunks = new EncodedChunkCache(dependencies.clock);
    const encodedEvents = new EncodedEventCache();
    const media = dependencies.servesCbor === true ? cborMedia : plainMedia;
    this.#dependencies = { ...dependencies, media, encodedChunks, encodedEvents, writeThrottle, broadcasts: new Broadcasts(writeThrottle) };
    this.#discovery = new Discovery(this.#dependencies);
    this.#openapi = new OpenApi(this.#dependencies);
  }

  handle(exchange: Exchange): MaybePromise<Response> {
    return catchMaybe(() => this.#route(exchange), (error) => {
      if (!(error instanceof StatusError)) throw error;
      const { schemas, media } = this.#dependencies;
      const respond = (): Response => respondError(exchange, error, { schemas, media: isOfRoute(exchange, error) ? plainMedia : media });
      return error.message.length > LONG_MESSAGE ? takeTurn(exchange.clock).then(respond) : respond();
    });
  }

  #route(exchange: Exchange): MaybePromise<Response> {
    if (emptyBeginning.test(exchange.path)) return respondNotFoundText(exchange);
    if (exchange.info.isResource) return routeResource(exchange, this.#partsFor(exchange));
    const segments = splitPath(exchange.path);
    const [top = '', second = '', third = ''] = segments;
    if (top === 'openapi') return this.#openapi.answer(exchange);
    if (top === 'api' && segments.length <= 2) return this.#answerApi(exchange, second);
    if (top === 'apis' && segments.length <= 3) return this.#answerApis(exchange, second, third);
    if (top === 'version') return this.#answerVersion(exchange, segments.length);
    if (segments.length === 0 || (top === 'index.html' && segments.length === 1)) {
      return respondRawJson(exchange, { paths: rootPaths(this.#dependencies) });
    }
    return respondNotFoundText(exchange);
  }

  #partsFor({ registry }: Exchange): EndpointsParts {
    return registry === undefined ? this.#dependencies : { ...this.#dependencies, registry };
  }

  #answerApi(exchange: Exchange, version: string): MaybePromise<Response> {
    return version === '' ? this.#discovery.answerRoot(exchange, true) : this.#discovery.answerGroupVersion(exchange, { group: '', version });
  }

  #answerApis(exchange: Exchange, group: string, version: string): MaybePromise<Response> {
    if (group === '') return this.#discovery.answerRoot(exchange, false);
    return version === '' ? this.#discovery.answerGroup(exchange, group) : this.#discovery.answerGroupVersion(exchange, { group, version });
  }

  #answerVersion(exchange: Exchange, depth: number): Response {
    if (depth > 1) throw routeNotFound();
    checkGet(exchange);
    checkDocumentType(exchange, [JSON_TYPE]);
    checkAccept(exchange, [JSON_TYPE]);
    return respondRawJson(exchange, this.#dependencies.versionInfo);
  }
}

/** Builds the handler of everything below `/api`, `/apis`, `/openapi`, `/version` and `/`. */
export function createEndpoints(dependencies: EndpointsDependencies): Handler {
  const endpoints = new Endpoints(dependencies);
  return (exchange) => endpoints.handle(exchange);
}
