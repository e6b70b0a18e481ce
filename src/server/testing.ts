// For tests of servers: a service over TLS (an identity provider or a webhook on this machine, whose answers the test makes), a plugin that is
// called by gRPC, what a server warns of, and what it counts of files that change.
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type IncomingHttpHeaders, type ServerHttp2Stream, createServer as createHttp2Server } from 'node:http2';
import { createServer } from 'node:https';
import { systemClock, systemRandom } from '../base/index.ts';
import { frameMessage } from '../grpc/index.ts';
import { createCertificate } from './tls/certificates.ts';
import { type Logger, silentLogger } from './observability/logger.ts';

/** A server over TLS. */
export interface TestTlsServer {
  readonly url: string;
  /** PEM of the authority that its certificate comes from. */
  readonly authority: string;
  close(): Promise<void>;
}

/** One that runs. */
export interface TestService extends TestTlsServer {
  /** What it was asked, in order: paths, or bodies where there were any. */
  readonly asked: any[];
}

const LIFETIME_MS = 86_400_000;

/** Starts a server on this machine; `answer` gets each request with the text of its body. */
export async function startTlsServer(answer: (request: IncomingMessage, text: string, response: ServerResponse) => void): Promise<TestTlsServer> {
  const context = { clock: systemClock, random: systemRandom };
  const authority = createCertificate({ commonName: 'authority', lifetimeMs: LIFETIME_MS }, context);
  const serving = createCertificate({ commonName: 'service', hosts: ['127.0.0.1'], issuer: authority, lifetimeMs: LIFETIME_MS }, context);
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => answer(request, text, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`, authority: authority.certificate,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}

/** Starts one; `answer` gets the path and the body; undefined is 500. */
export async function startTestService(answer: (path: string, body: any) => unknown): Promise<TestService> {
  const asked: any[] = [];
  const server = await startTlsServer((request, text, response) => {
    const body = text === '' ? undefined : JSON.parse(text);
    asked.push(body ?? request.url);
    const found = answer(request.url ?? '', body);
    response.statusCode = found === undefined ? 500 : 200;
    response.end(JSON.stringify(found ?? {}));
  });
  return { ...server, asked };
}

/** A logger, and what was warned of through it: messages with their errors. */
export function recordWarnings(): { readonly logger: Logger; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  return { warnings, logger: { ...silentLogger, warn: (message, fields) => void warnings.push(`${message}: ${String(fields?.['error'])}`) } };
}

/** What /metrics says of a configuration file: how often it was read again, each way, and whether this content is in use. */
export function readReloads(metrics: string, what: 'authentication' | 'authorization', content: string): (number | boolean)[] {
  const prefix = `apiserver_${what}_config_controller_`;
  const read = (status: string): number[] => ['automatic_reloads_total', 'automatic_reload_last_timestamp_seconds'].map((name) =>
    Number(new RegExp(`^${prefix}${name}\\{apiserver_id_hash="sha256:[0-9a-f]{64}",status="${status}"\\} (\\S+)$`, 'm').exec(metrics)?.[1]));
  const hash = createHash('sha256').update(content).digest('hex');
  const [[success = NaN, usedAt = NaN], [failure = NaN, failedAt = NaN]] = [read('success'), read('failure')];
  return [success, failure, usedAt >= failedAt, metrics.includes(`hash="sha256:${hash}"} 1\n`)];
}

/** The message that answers a call, the code and message of its failure, or what answers in place of both. */
export type TestAnswer = Buffer | readonly [code: number, message: string] | ((stream: ServerHttp2Stream) => void);

/** A server of gRPC on a Unix socket, until it is closed. `answer` is given the method with its service, such as `v2.KeyManagementService/Status`. */
export async function serveCalls(path: string, answer: (method: string, message: Buffer, headers: IncomingHttpHeaders) => TestAnswer):
Promise<{ close(): Promise<void> }> {
  const server = createHttp2Server();
  const sessions = new Set<{ destroy(): void }>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
    stream.on('end', () => respond(stream, answer(String(headers[':path']).slice(1), Buffer.concat(chunks).subarray(5), headers)));
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return {
    close: () => new Promise((resolve) => {
      for (const session of sessions) session.destroy();
      server.close(() => resolve());
    }),
  };
}

function respond(stream: ServerHttp2Stream, answer: TestAnswer): void {
  if (typeof answer === 'function') return answer(stream);
  const isMessage = Buffer.isBuffer(answer);
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
  const trailers = isMessage ? { 'grpc-status': '0' } : { 'grpc-status': String(answer[0]), 'grpc-message': answer[1] };
  stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  if (isMessage) stream.write(frameMessage(answer));
  stream.end();
}
