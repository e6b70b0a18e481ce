// How programs reach into a server of their own process: its handler for requests, its registry for informers. Servers register themselves here.
import type { Clock } from '../base/index.ts';
import type { Handler } from '../endpoints/index.ts';
import type { Catalog, Registry } from '../registry/index.ts';

/** The parts of a server that programs of its process use. */
export interface ServerParts {
  readonly handler: Handler;
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
}

/** Something that runs over a server and must begin again when the server does. */
export interface Attached {
  start(): void;
  stop(): Promise<void>;
}

/** A server as its process sees it. */
export interface ServerAccess {
  /** The parts of this moment. */
  readonly parts: () => ServerParts;
  readonly attached: Set<Attached>;
}

const servers = new WeakMap<object, ServerAccess>();

/** Makes the parts of a server known to this process. */
export function registerServer(server: object, parts: () => ServerParts): ServerAccess {
  const access = { parts, attached: new Set<Attached>() };
  servers.set(server, access);
  return access;
}

/** The access to a server that was registered; throws TypeError for anything else. */
export function findServer(server: object): ServerAccess {
  const access = servers.get(server);
  if (access === undefined) throw new TypeError('this is no server of this process');
  return access;
}

/** Stops all that runs over a server. */
export const stopAttached = async ({ attached }: ServerAccess): Promise<void> => {
  await Promise.all(Array.from(attached, (one) => one.stop()));
};
