// A small HTTP client for tests: JSON in, JSON out, over HTTP/1.1 with a bearer token. Certificates of test servers are not verified.
import { Agent, request as requestHttps } from 'node:https';
import { request as requestHttp } from 'node:http';

/** What to ask. */
export interface ClientRequest {
  readonly method?: string;
  readonly path: string;
  /** An object is sent as JSON, a string or bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Bearer token; null sends none. */
  readonly token?: string | null;
}

/** What came back. `body` is parsed when it is JSON. */
export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly bytes: Uint8Array;
  readonly body: any;
}

/** Sends requests to one server. */
export interface TestClient {
  request(request: ClientRequest): Promise<ClientResponse>;
  close(): void;
}

/** A client whose requests carry `token` unless they say otherwise. */
export function createTestClient(url: string, token: string): TestClient {
  const { protocol } = new URL(url);
  const agent = protocol === 'https:' ? new Agent({ keepAlive: true, rejectUnauthorized: false }) : undefined;
  return {
    close: () => agent?.destroy(),
    request: (request) => new Promise((resolve, reject) => {
      const payload = encodePayload(request.body);
      const bearer = request.token === undefined ? token : request.token;
      const headers = {
        ...(payload !== undefined && { 'content-type': defaultType(request.method), 'content-length': String(payload.length) }),
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...request.headers,
      };
      const options = { method: request.method ?? 'GET', headers, ...(agent !== undefined && { agent }) };
      const sent = (agent === undefined ? requestHttp : requestHttps)(`${url}${request.path}`, options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const bytes = Buffer.concat(chunks);
          const text = bytes.toString('utf8');
          // The events of a watch are texts of their own.
          const json = response.headers['content-type']?.startsWith('application/json') === true && text !== '' && !/[?&]watch=/.test(request.path);
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, bytes, body: json ? JSON.parse(text) : undefined });
        });
      });
      sent.on('error', reject);
      sent.end(payload);
    }),
  };
}

function encodePayload(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

const defaultType = (method: string | undefined): string => (method === 'PATCH' ? 'application/merge-patch+json' : 'application/json');
