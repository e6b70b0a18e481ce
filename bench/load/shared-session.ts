// Requesters that share one HTTP/2 session, as those of one client-go client do: their answers come together.
import { type ClientHttp2Session, connect } from 'node:http2';
import type { Address, Answer, Call } from './connection.ts';

/** What sends one request after the other. */
export interface Requester {
  send(call: Call): Promise<Pick<Answer, 'status' | 'totalMs'>>;
  close(): void;
}

/** So many requesters on one new session; the last that closes ends it. */
export function shareSession({ url, token }: Address, count: number): Requester[] {
  const session = connect(url, { rejectUnauthorized: false });
  session.setMaxListeners(0);
  let open = count;
  const close = (): void => {
    open -= 1;
    if (open === 0) session.destroy();
  };
  return Array.from({ length: count }, () => ({ send: ({ path }) => get(session, path, token), close }));
}

function get(session: ClientHttp2Session, path: string, token: string): Promise<Pick<Answer, 'status' | 'totalMs'>> {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const stream = session.request({ ':path': path, authorization: `Bearer ${token}`, accept: 'application/json' });
    let status = 0;
    stream.on('response', (head) => {
      status = Number(head[':status']);
    });
    stream.on('error', reject);
    stream.on('end', () => resolve({ status, totalMs: performance.now() - startedMs }));
    stream.resume();
  });
}
