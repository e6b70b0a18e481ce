// The streams of an HTTP/2 session by their numbers, which Node keeps in a Map of its own: the one structure of a session that its requests enter and
// leave. See PassingMap for what a Map does to them. 30,000 gets by 64 clients on one session, after 10,000 creates, with Node's Map and with this
// one: 204 and 4 MB moved among the old objects, 590 and 135 ms of pauses, 3 and 0 full collections.
import type { ServerHttp2Session } from 'node:http2';
import { PassingMap } from '../../base/index.ts';

/** What a session knows of its streams. */
interface SessionState {
  streams?: { readonly size: number };
  pendingStreams?: { readonly size: number };
}

/** Numbers of streams are keys, and streams that have none yet are keys and values. */
class StreamTable extends PassingMap<unknown, unknown> {
  add(stream: unknown): this {
    return this.set(stream, stream);
  }
}

/** Replaces the tables of a session that has no streams yet; a Node that keeps them otherwise is left as it is. */
export function replaceStreamTables(session: ServerHttp2Session): void {
  const symbol = Object.getOwnPropertySymbols(session).find(({ description }) => description === 'state');
  if (symbol === undefined) return;
  const state = (session as unknown as Record<symbol, SessionState | undefined>)[symbol];
  if (state?.streams?.size !== 0 || state.pendingStreams?.size !== 0) return;
  state.streams = new StreamTable();
  state.pendingStreams = new StreamTable();
}
