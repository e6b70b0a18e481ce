// Where the rooms meet: store, catalog, registry, admission and endpoints become one handler. Nobody else knows them all.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { createAdmissionChain } from '../admission/index.ts';
import { loadSchemas, trackUpdate } from '../apimachinery/index.ts';
import type { Authenticate, Authorize } from '../auth/index.ts';
import { type Handler, type Response, createEndpoints, respondError } from '../endpoints/index.ts';
import { type Catalog, type Registry, createCatalog, createRegistry } from '../registry/index.ts';
import { createBuiltinResources, groupPriorities, schemaData } from '../resources/index.ts';
import type { Store } from '../storage/index.ts';
import type { ServerExchange } from './exchange.ts';
import type { ServerOptions } from './options.ts';
import { createReviews } from './reviews.ts';
import { kubernetesVersion } from './version.ts';

/** The API behind the filters. */
export interface Api {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly handler: Handler;
  readonly respondError: (exchange: ServerExchange, error: unknown) => Response;
}

export interface ApiOptions {
  readonly options: ServerOptions;
  readonly store: Store;
  readonly authenticate: Authenticate;
  readonly authorize: Authorize;
  /** host:port that discovery names; known once the port is open. */
  readonly serverAddress: () => string;
  /** Paths outside the API that `/` lists. */
  readonly otherPaths: readonly string[];
}

const gzipAsync = promisify(gzip);
const hash = (algorithm: string) => (bytes: Uint8Array) => createHash(algorithm).update(bytes).digest();

/** Makes the API over a Store. */
export function composeApi({ options, store, authenticate, authorize, serverAddress, otherPaths }: ApiOptions): Api {
  const { clock, random } = options;
  const schemas = loadSchemas(schemaData);
  const priorities = Object.fromEntries(groupPriorities.map(({ group, priority }) => [group, priority]));
  const catalog = createCatalog(createBuiltinResources(schemas), priorities);
  const admission = createAdmissionChain();
  const registry = createRegistry({ store, catalog, clock, random, admission, trackUpdate });
  const handler = createEndpoints({
    registry, catalog, schemas, clock, random, serverAddress, otherPaths,
    version: kubernetesVersion,
    hashes: { sha256: hash('sha256'), sha512: hash('sha512') },
    gzip: (bytes) => gzipAsync(bytes, { level: constants.Z_BEST_SPEED }),
    special: createReviews({ authenticate, authorize, clock }),
    minRequestTimeoutSeconds: options.minRequestTimeoutSeconds,
  });
  return { registry, catalog, handler, respondError: (exchange, error) => respondError(exchange, error, schemas) };
}
