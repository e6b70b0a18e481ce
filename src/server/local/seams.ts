// What a server lets others put in place of its own parts, and what it shows to them: the testing room, and the processes of `--workers`. A server
// of one process that people run has none of it.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AuthenticateToken } from '../../auth/index.ts';
import type { Random } from '../../base/index.ts';
import type { Handler } from '../../endpoints/index.ts';
import type { StorageHealth, Store } from '../../storage/index.ts';
import type { Filter } from '../filters/filter.ts';
import type { Listener } from '../http/listener.ts';
import type { Pki } from '../tls/pki.ts';
import type { ServiceAccountKeys } from '../tls/service-account-keys.ts';
import type { Api } from '../compose.ts';
import type { BeforeWebhook } from '../webhooks/webhook-client.ts';

/** Parts of a server that come from outside. */
export interface Seams {
  /** Closed with the server. */
  readonly store?: Store;
  /** Certificates; valid by the real clock, whatever the server's clock says. */
  readonly pki?: Pki;
  readonly keys?: ServiceAccountKeys;
  /** Users besides those of the options. */
  readonly tokens?: AuthenticateToken;
  /** Numbers of connections and requests, apart from those of objects. */
  readonly transportRandom?: Random;
  /** A filter around every request, and one around those whose user is known. */
  readonly observe?: Filter;
  readonly disturb?: Filter;
  /** The port that the `kubernetes` Service leads to, in place of the real one. */
  readonly advertisedPort?: number;
  /** The state in the store is complete: controllers begin when this resolves, and nothing waits for them. */
  readonly woken?: Promise<void>;
  /** Runs before each call of an admission or conversion webhook; a rejection is the outcome of the call. */
  readonly beforeWebhook?: BeforeWebhook;
  /** Receives the parts of the server before it accepts connections. */
  readonly expose?: (parts: ExposedParts) => void;
  /** Stands for listening: connections are accepted elsewhere, and may be given to the listener. Resolves with the port. */
  readonly openPort?: (listener: Pick<Listener, 'accept'>) => Promise<number>;
  /** The faults of the store. */
  readonly health?: StorageHealth;
  /** Other processes write to the audit log as well. */
  readonly sharesAuditLog?: boolean;
  /** Present where another process owns the store, and does all that is done once for a store (processes/). */
  readonly owner?: OwnerOfStore;
}

/** The process that owns the store, as a process sees it that serves connections. */
export interface OwnerOfStore {
  /** Adds what the other processes of the server have counted to the metrics of this one. */
  joinMetrics(text: string): Promise<string>;
  /** Records the use of a token from a Secret. */
  noteTokenUse(secret: KubeObject): void;
  /** Asks for the next file of the audit log, where so many bytes more are too many. */
  askRotation(bytes: number): void;
}

/** The parts of a server that tests use without a connection. */
export interface ExposedParts {
  readonly api: Api;
  /** The filters and everything behind them. */
  readonly handler: Handler;
  /** The Store itself: calls of another process are measured there. */
  readonly store: Store;
  /** The metrics of this process. */
  readonly renderMetrics: () => Promise<string>;
  /** Records the use of a token from a Secret. */
  readonly noteTokenUse: (secret: KubeObject) => void;
  /** Begins the next file of the audit log for another process, where so many bytes more are too many. */
  readonly rotateAudit: (bytes: number) => void;
}
