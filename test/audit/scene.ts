// What asides look at, and the requests that they send.
import type { ClientRequest, ClientResponse } from '../../src/test-support/index.ts';
import type { Peer } from '../differential/servers.ts';
import type { Place } from './place.ts';
import type { Streams } from './streams.ts';

/** A server that is looked at, and what stands beside it. */
export interface Scene {
  readonly peer: Peer;
  readonly place: Place;
  readonly etcd: string;
  readonly otherEtcd: string;
  /** The program that is asked; this server where none is given. */
  readonly program: string | undefined;
  readonly streams: Streams;
  signalEtcd(name: NodeJS.Signals): void;
}

/** A step of a case that is no plain request: it is given what follows its word. */
export type Aside = (scene: Scene, rest: string, request: ClientRequest) => Promise<ClientResponse> | unknown;

/** The request with what stands for things of the place. */
export const fillRequest = (place: Place, request: ClientRequest): ClientRequest => JSON.parse(place.fill(JSON.stringify(request))) as ClientRequest;
