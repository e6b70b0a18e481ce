// Requests of the test server's own, without a connection: as the administrator, or as any other user.
import { encodeJson } from '../codec/index.ts';
import type { Clock } from '../base/index.ts';
import type { Handler } from '../endpoints/index.ts';
import { requestLocally } from '../server/index.ts';
import type { KubernetesObject } from './objects.ts';
import type { TestUser } from './options.ts';

/** What to ask of the server. */
export interface TestRequest {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** Sent as JSON; texts and bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller; the administrator when absent. */
  readonly user?: TestUser;
}

/** The answer. */
export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Parsed where it is JSON. */
  readonly body: any;
}

/** An answer with a code from 400 on, as an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  /** The Status that was answered. */
  readonly status: KubernetesObject;

  constructor(request: string, response: TestResponse) {
    const status = (response.body ?? {}) as KubernetesObject;
    super(`${request}: ${(status['message'] as string | undefined) ?? response.text}`);
    this.code = response.status;
    this.reason = (status['reason'] as string | undefined) ?? '';
    this.status = status;
  }
}

/** Asks the server. */
export interface LocalClient {
  request(request: TestRequest): Promise<TestResponse>;
  /** The object that is answered; rejects with ApiError for any other answer. PATCH applies. */
  read(method: string, path: string, body?: unknown): Promise<any>;
  /** The same, and undefined in place of an answer of 404. */
  readUnlessAbsent(method: string, path: string): Promise<any>;
}

const administrator: TestUser = { name: 'kubernetes-admin', groups: ['system:masters'] };
const types: Readonly<Record<string, string>> = { PATCH: 'application/apply-patch+yaml' };

/** A client of the handler; `connection` is what its requests come by. */
export function createLocalClient({ handler, clock, connection }: {
  readonly handler: Handler; readonly clock: Clock; readonly connection: object;
}): LocalClient {
  let count = 0;
  const request = async ({ method = 'GET', path, body, headers, user = administrator }: TestRequest): Promise<TestResponse> => {
    const answer = await requestLocally({
      method, target: path, body: encodeBody(body),
      headers: { accept: 'application/json', 'user-agent': 'pintle-testing', ...(body !== undefined && { 'content-type': types[method] ?? 'application/json' }),
        ...headers },
      user: { commonName: user.name, organizations: user.groups ?? [], authorized: true, ...(user.uid !== undefined && { uid: user.uid }) },
    }, { handler, clock, connection, auditId: `local-${++count}` });
    const text = Buffer.from(answer.body).toString('utf8');
    const isJson = answer.headers['content-type']?.startsWith('application/json') === true && text !== '';
    return { status: answer.status, headers: answer.headers, text, body: isJson ? JSON.parse(text) : undefined };
  };
  const read = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await request({ method, path, body });
    if (response.status >= 400) throw new ApiError(`${method} ${path}`, response);
    return response.body;
  };
  return {
    request, read,
    readUnlessAbsent: (method, path) => read(method, path).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }),
  };
}

function encodeBody(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return typeof body === 'string' ? new TextEncoder().encode(body) : encodeJson(body);
}
