// For tests of servers: a service over TLS (an identity provider or a webhook on this machine, whose answers the test makes), and what a server warns of.
import { createServer } from 'node:https';
import { systemClock, systemRandom } from '../base/index.ts';
import { createCertificate } from './tls/certificates.ts';
import { type Logger, silentLogger } from './observability/logger.ts';

/** One that runs. */
export interface TestService {
  readonly url: string;
  /** PEM of the authority that its certificate comes from. */
  readonly authority: string;
  /** What it was asked, in order: paths, or bodies where there were any. */
  readonly asked: any[];
  close(): Promise<void>;
}

const LIFETIME_MS = 86_400_000;

/** Starts one; `answer` gets the path and the body; undefined is 500. */
export async function startTestService(answer: (path: string, body: any) => unknown): Promise<TestService> {
  const context = { clock: systemClock, random: systemRandom };
  const authority = createCertificate({ commonName: 'authority', lifetimeMs: LIFETIME_MS }, context);
  const serving = createCertificate({ commonName: 'service', hosts: ['127.0.0.1'], issuer: authority, lifetimeMs: LIFETIME_MS }, context);
  const asked: any[] = [];
  const server = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    request.on('end', () => {
      const body = text === '' ? undefined : JSON.parse(text);
      asked.push(body ?? request.url);
      const found = answer(request.url ?? '', body);
      response.statusCode = found === undefined ? 500 : 200;
      response.end(JSON.stringify(found ?? {}));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as { port: number }).port}`, authority: authority.certificate, asked,
    close: () => new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    }),
  };
}

/** A logger, and what was warned of through it: messages with their errors. */
export function recordWarnings(): { readonly logger: Logger; readonly warnings: readonly string[] } {
  const warnings: string[] = [];
  return { warnings, logger: { ...silentLogger, warn: (message, fields) => void warnings.push(`${message}: ${String(fields?.['error'])}`) } };
}
