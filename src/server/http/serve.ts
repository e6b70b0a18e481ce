// Runs one request from head to last byte, whatever its protocol. What breaks in it breaks this request only.
import { type MaybePromise, catchMaybe, mapMaybe } from '../../base/index.ts';
import type { Response } from '../../endpoints/index.ts';
import { describeError } from '../observability/logger.ts';
import type { HttpExchange, Wire } from './exchange.ts';
import type { ListenerState } from './listener-state.ts';
import { UpgradedResponse } from './tunnel.ts';
import { type Upgrade, isEventStream, writeWebSocket } from './websocket.ts';
import { writeResponse } from './write-response.ts';

const badTarget = new TextEncoder().encode('400 Bad Request');

/** Serves a request; `exchange` is undefined when its target cannot be decoded. */
export function serve(state: ListenerState, exchange: HttpExchange | undefined, wire: Wire, upgrade?: Upgrade): void {
  if (exchange === undefined) {
    wire.start(400, ['content-type', 'text/plain; charset=utf-8'], false);
    wire.finish(badTarget);
    return;
  }
  const link = state.active.add(exchange);
  exchange.onClosed(() => {
    state.callers.note(exchange.connection, exchange.user.name);
    state.active.remove(link);
    if (state.active.size === 0) state.onIdle?.();
  });
  state.turns.begin(exchange.connection, exchange.startedMs, () => {
    if (!exchange.disconnected) run(state, exchange, { wire, upgrade });
  });
}

function run(state: ListenerState, exchange: HttpExchange, { wire, upgrade }: { readonly wire: Wire; readonly upgrade: Upgrade | undefined }): void {
  void catchMaybe(() => {
    const answer = state.options.handler(exchange);
    // A watch ends late: most users are known in this turn.
    state.callers.note(exchange.connection, exchange.user.name);
    return mapMaybe(answer, (response) => send(exchange, response, upgrade));
  }, (error) => {
    const { path, auditId, disconnected } = exchange;
    if (!disconnected) state.options.logger.error('a response was cut off', { path, auditId, ...describeError(error) });
    wire.destroy();
  });
}

function send(exchange: HttpExchange, response: Response, upgrade: Upgrade | undefined): MaybePromise<void> {
  if (response instanceof UpgradedResponse) {
    if (exchange.disconnected || upgrade === undefined) return response.discard();
    exchange.wire.announce?.();
    return response.join(exchange, upgrade);
  }
  if (exchange.disconnected) return;
  if (upgrade?.request === undefined || !isEventStream(exchange, response)) return writeResponse(exchange, response);
  exchange.wire.announce?.();
  return writeWebSocket(exchange, response, { ...upgrade, request: upgrade.request });
}
