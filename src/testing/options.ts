// The options of a test server.
import type { AdmissionHook } from '../admission/index.ts';
import type { Clock } from '../base/index.ts';
import type { ApiUser } from '../client/index.ts';
import type { ConvertObject, Logger, ServerOptions } from '../server/index.ts';
import type { Fault } from './faults/fault.ts';
import type { Manifests } from './manifests/documents.ts';

/** A caller of the API. */
export interface TestUser extends ApiUser {
  /** The bearer token; one is made when absent. */
  readonly token?: string;
}

/** Options of `createTestServer`; each has a default. */
export interface TestServerOptions {
  /** A file of `pintle storage snapshot`: the server begins with its objects. */
  readonly snapshot?: string;
  /** Definitions, established before the server is handed over. */
  readonly crds?: Manifests;
  /** Objects that are there at the start: applied in the order of kinds that need each other, statuses included. */
  readonly manifests?: Manifests;
  /** Namespaces that are there at the start, besides the four that every server has. */
  readonly namespaces?: readonly string[];
  /** Users with tokens, by name or with their groups; `kubeconfigFor` makes others at any time. */
  readonly users?: readonly (string | TestUser)[];
  /** Admission hooks that run in this process. */
  readonly admission?: readonly AdmissionHook[];
  /** Conversions of custom kinds, by the name of the definition; `*` for all others. */
  readonly conversions?: Readonly<Record<string, ConvertObject>>;
  /** `manual`: time stands still until `server.advance`; a time: the same, from then on; or a clock of your own. By default the clock of the machine. */
  readonly clock?: 'manual' | Date | string | Clock;
  /**
   * Makes uids, generated names, times and resource versions repeat: two runs of a script get the same answers. The time stands at 2026-01-01 unless
   * `clock` says otherwise, timers run, and writes are answered when the controllers have done what follows from them.
   */
  readonly seed?: number | string;
  /** Faults that are there from the start. */
  readonly faults?: readonly Fault[];
  /** `false` serves plain HTTP. */
  readonly tls?: boolean;
  /** Keeps the bodies of requests and answers in `server.requests`. */
  readonly recordBodies?: boolean;
  /** A file that gets a JSON line for each request. */
  readonly requestLog?: string;
  readonly logger?: Logger;
  /** Any other option of `createServer`. */
  readonly server?: Omit<Partial<ServerOptions>,
    'clock' | 'random' | 'logger' | 'admission' | 'conversions' | 'tls' | 'dataDir' | 'etcdServers' | 'datastoreEndpoint'>;
}
