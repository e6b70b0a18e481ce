// What the parts of a listener share: its options, and the requests, connections and sessions that are open.
import type { Socket } from 'node:net';
import type { ServerHttp2Session } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock, LinkedList, Random } from '../../base/index.ts';
import type { Handler } from '../../endpoints/index.ts';
import type { Logger } from '../observability/logger.ts';
import type { BodyReader } from './bodies.ts';
import type { HttpExchange } from './exchange.ts';
import type { Callers, ConnectionEnds, RequestIntake, RequestTurns } from './turns.ts';
import type { ResponseBatcher } from './response-batcher.ts';

/** What both protocols need. */
export interface ProtocolOptions {
  readonly maxStreamsPerConnection: number;
  /** Streams of one connection that a client may give up before they are answered, per ten seconds; 1000 by default. */
  readonly maxResets?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly handler: Handler;
  /** Called before the first byte of an answer leaves: once for all answers that leave together. */
  readonly beforeAnswer?: (() => void) | undefined;
  readonly countHandshakeError?: (() => void) | undefined;
}

/** The state of one listener. */
export interface ListenerState {
  readonly options: ProtocolOptions;
  readonly active: LinkedList<HttpExchange>;
  /** TCP connections. */
  readonly sockets: Set<Socket>;
  /** Connections whose handshake is done. */
  readonly secureSockets: Set<TLSSocket>;
  readonly sessions: Set<ServerHttp2Session>;
  readonly responseBatcher: ResponseBatcher;
  readonly callers: Callers;
  readonly turns: RequestTurns;
  readonly intake: RequestIntake;
  readonly bodies: BodyReader;
  readonly ends: ConnectionEnds;
  /** Requests over HTTP/1.1 that came behind others on their connection and have not begun. */
  pipelined: number;
  stopping: boolean;
  /** Called whenever the last active request has ended, while the listener stops. */
  onIdle: (() => void) | undefined;
  /** Called whenever the last connection has ended, while the listener stops. */
  onEmpty: (() => void) | undefined;
}
