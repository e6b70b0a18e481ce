// One request to another server and its answer, read whole: bounded in size and in time, over a connection that may have been kept.
import { type Agent as HttpAgent, type IncomingHttpHeaders, request as requestPlain } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import type { Clock, Timer } from '../../base/index.ts';
import { currentSpan, inSpan, traceHeaders } from '../tracing/spans.ts';
import { readAnswer } from './read-answer.ts';

/** A request. */
export interface HttpRequest {
  readonly host: string;
  readonly port: number;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** JSON; a text leaves in one piece with the headers. */
  readonly body: Uint8Array | string | undefined;
}

/** Sends requests over connections of its own. */
export interface RequestSender {
  send(request: HttpRequest, end: CallEnd, limitBytes: number): Promise<HttpAnswer>;
}

/** A request and what sends it; over TLS where that is an agent of TLS. */
export interface HttpCall extends HttpRequest {
  readonly agent: Agent | HttpAgent | RequestSender;
  readonly measure?: MeasureCall | undefined;
}

/** Called when a request begins; what it answers is called with the answer, or with undefined where there is none. */
export type MeasureCall = (request: HttpRequest) => (answer: HttpAnswer | undefined) => void;

/** An answer, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** How long a call may last, and the signal of the work that it belongs to. */
export interface CallTime {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The end of one call, which may be several requests: its time is up, or that of the work which it belongs to. */
export class CallEnd {
  readonly #timer: Timer;
  readonly #signal: AbortSignal | undefined;
  #isOver = false;
  #listener: (() => void) | undefined;

  constructor(clock: Clock, { timeoutMs, signal }: CallTime) {
    this.#timer = clock.after(timeoutMs, this.#finish);
    this.#signal = signal;
    if (signal?.aborted === true) this.#isOver = true;
    else signal?.addEventListener('abort', this.#finish);
  }

  /** Has the end reported to one listener, in place of the one before; at once if it has come. */
  report(listener: (() => void) | undefined): void {
    this.#listener = listener;
    if (this.#isOver) listener?.();
  }

  /** The call is done. */
  dispose(): void {
    this.#timer.cancel();
    this.#signal?.removeEventListener('abort', this.#finish);
  }

  readonly #finish = (): void => {
    this.#isOver = true;
    this.#listener?.();
  };
}

/** Address and port of a URL, as calls name them. */
export const hostOf = ({ hostname, port, protocol }: URL): Pick<HttpCall, 'host' | 'port'> => ({
  host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'http:' ? 80 : 443)),
});

/** Whether a request failed because the other side had closed a connection while it was kept, which says nothing about that side. */
export function isStale(error: unknown): boolean {
  const { code, wasKept } = error as { readonly code?: string; readonly wasKept?: boolean };
  return wasKept === true && (code === 'ECONNRESET' || code === 'EPIPE');
}

/** One request, in a span of the trace at hand, which the other server may continue. */
async function callOnce(call: HttpCall, end: CallEnd, limitBytes: number): Promise<HttpAnswer> {
  const { method, host, port, path } = call;
  const finish = call.measure?.(call);
  return inSpan(() => ({ name: `HTTP ${method}`, kind: 'client',
    attributes: { 'http.request.method': method, 'server.address': host, 'server.port': port, 'url.path': path.split('?', 1)[0] as string } }), async () => {
    const trace = traceHeaders();
    const sent = trace === undefined ? call : { ...call, headers: { ...call.headers, ...trace } };
    const answer = await sendOnce(sent, end, limitBytes).catch((error: unknown) => {
      finish?.(undefined);
      throw error;
    });
    finish?.(answer);
    currentSpan()?.set({ 'http.response.status_code': answer.status });
    return answer;
  });
}

function sendOnce(call: HttpCall, end: CallEnd, limitBytes: number): Promise<HttpAnswer> {
  if ('send' in call.agent) return call.agent.send(call, end, limitBytes);
  const { headers, body, agent, ...options } = call;
  const request = agent instanceof Agent ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    // Node says nothing of the body of a DELETE by itself.
    const content = body !== undefined && { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
    const sending = request({ ...options, agent, headers: { ...headers as Record<string, string>, ...content } }, (response) => {
      readAnswer(response, limitBytes).then((answer) => {
        end.report(undefined);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: answer });
      }, reject);
    });
    sending.on('error', (error: Error) => reject(Object.assign(error, { wasKept: sending.reusedSocket })));
    end.report(() => sending.destroy(Object.assign(new Error('the call lasted too long'), { name: 'TimeoutError' })));
    sending.end(body);
  });
}

/** Makes a request, once more where its connection was stale; rejects with the error of the connection as it is, or when the answer is too large. */
export async function callBefore(end: CallEnd, call: HttpCall, limitBytes: number): Promise<HttpAnswer> {
  try {
    return await callOnce(call, end, limitBytes);
  } catch (error) {
    if (!isStale(error)) throw error;
    return callOnce(call, end, limitBytes);
  }
}

/** The same for a call that is one request. */
export async function callWithin(call: HttpCall, { clock, limitBytes, ...time }: CallTime & { readonly clock: Clock; readonly limitBytes: number }):
Promise<HttpAnswer> {
  const end = new CallEnd(clock, time);
  try {
    return await callBefore(end, call, limitBytes);
  } finally {
    end.dispose();
  }
}
