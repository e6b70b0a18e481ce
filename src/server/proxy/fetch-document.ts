// A document of another server, read whole: bounded in size and time.
import { type Agent, request } from 'node:https';
import type { Clock } from '../../base/index.ts';
import { readAnswer } from '../webhooks/read-answer.ts';

/** Parsing a document of this size takes 40 ms. */
const LIMIT_BYTES = 4 * 1024 * 1024;
/** The reference's limit for its probes. */
const TIMEOUT_MS = 5_000;

/** A document and its place. */
interface DocumentRequest {
  readonly host: string;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly agent: Agent;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** An answer, whatever its status. */
export interface DocumentAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** Fetches one; rejects with the error of the connection, or when the answer is too large or too late. */
export function fetchDocument({ host, port, path, headers, agent, clock, signal }: DocumentRequest): Promise<DocumentAnswer> {
  return new Promise((resolve, reject) => {
    const call = request({ host: host.replace(/^\[|\]$/g, ''), port, path, headers: headers as Record<string, string>, agent, signal }, (response) => {
      readAnswer(response, LIMIT_BYTES).then((body) => resolve({
        status: response.statusCode ?? 0, contentType: response.headers['content-type'] ?? '', body,
      }), reject);
    });
    const timer = clock.after(TIMEOUT_MS, () => call.destroy(Object.assign(new Error('context deadline exceeded'), { name: 'TimeoutError' })));
    call.on('close', () => timer.cancel());
    call.on('error', reject);
    call.end();
  });
}
