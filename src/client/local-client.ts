// Requests to a server in this process, without a connection: as the administrator, or as any other user.
import { encodeJson } from '../codec/index.ts';
import type { Clock } from '../base/index.ts';
import type { Handler } from '../endpoints/index.ts';
import { requestLocally } from '../server/index.ts';
import { ApiError, type ApiRequest, type ApiResponse, type ApiUser, contentTypeOf, describeResponse, takeBody } from './api.ts';

/** Asks the server. */
export interface LocalClient {
  request(request: ApiRequest): Promise<ApiResponse>;
  /** The object that is answered; rejects with ApiError for any other answer. PATCH applies. */
  read(method: string, path: string, body?: unknown): Promise<any>;
  /** The same, and undefined in place of an answer of 404. */
  readUnlessAbsent(method: string, path: string): Promise<any>;
}

const administrator: ApiUser = { name: 'kubernetes-admin', groups: ['system:masters'] };

/** A client of the handler; `connection` is what its requests come by, `program` what they are called. */
export function createLocalClient({ handler, clock, connection, program }: {
  readonly handler: Handler; readonly clock: Clock; readonly connection: object; readonly program: string;
}): LocalClient {
  let count = 0;
  const request = async ({ method = 'GET', path, body, headers, user = administrator }: ApiRequest): Promise<ApiResponse> => {
    const answer = await requestLocally({
      method, target: path, body: encodeBody(body),
      headers: { accept: 'application/json', 'user-agent': program, ...(body !== undefined && { 'content-type': contentTypeOf(method) }), ...headers },
      user: { commonName: user.name, organizations: user.groups ?? [], authorized: true, ...(user.uid !== undefined && { uid: user.uid }) },
    }, { handler, clock, connection, auditId: `local-${++count}` });
    return describeResponse(answer.status, answer.headers, answer.body);
  };
  const read = async (method: string, path: string, body?: unknown): Promise<any> => takeBody(method, path, await request({ method, path, body }));
  return {
    request, read,
    readUnlessAbsent: (method, path) => read(method, path).catch((error: unknown) => {
      if (!(error instanceof ApiError && error.code === 404)) throw error;
    }),
  };
}

/** A body as it is sent. */
export function encodeBody(body: unknown): Uint8Array | undefined {
  if (body === undefined || body instanceof Uint8Array) return body;
  return typeof body === 'string' ? new TextEncoder().encode(body) : encodeJson(body);
}
