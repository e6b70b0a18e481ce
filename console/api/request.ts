// Requests to the Kubernetes API of this origin, as the user of the session, and as another user where one is tried.
import { noteRefused, sessionHeaders } from './session.ts';

/** A Status that is the answer, or a connection that failed (code 0). */
export class ApiError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: unknown;

  constructor(message: string, { code = 0, reason = '', details }: { code?: number; reason?: string; details?: unknown } = {}) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

/** One request. */
export interface ApiRequest {
  readonly method?: string;
  readonly accept?: string;
  /** Sent as it is. */
  readonly body?: string;
  readonly type?: string;
  readonly signal?: AbortSignal | undefined;
  /** Speaks as the user of the session even where another one is tried. */
  readonly asSelf?: boolean;
  /** The address names the content. */
  readonly mayCache?: boolean;
}

/** What came. */
export interface ApiAnswer {
  readonly body: any;
  /** Texts of Warning headers. */
  readonly warnings: readonly string[];
}

let tried: { readonly user: string; readonly groups: readonly string[] } | undefined;

/** Makes every request as another user from now on (impersonation); undefined: as oneself. */
export function tryAs(user: string | undefined, groups: readonly string[] = []): void {
  tried = user === undefined ? undefined : { user, groups };
}

/** The user that is tried. */
export const triedUser = (): string | undefined => tried?.user;

function makeHeaders({ accept = 'application/json', type, asSelf = false }: ApiRequest): Headers {
  const headers = new Headers({ accept, ...sessionHeaders(), ...(type !== undefined && { 'content-type': type }) });
  if (tried !== undefined && !asSelf) {
    headers.set('impersonate-user', tried.user);
    for (const group of tried.groups) headers.append('impersonate-group', group);
  }
  return headers;
}

/** Sends a request and answers the response once its status is good. Throws ApiError. */
export async function open(path: string, request: ApiRequest = {}): Promise<Response> {
  const { method = 'GET', body, signal } = request;
  let response: Response;
  try {
    response = await fetch(path, {
      method, headers: makeHeaders(request), cache: request.mayCache === true ? 'default' : 'no-store',
      ...(body !== undefined && { body }), ...(signal !== undefined && { signal }),
    });
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new ApiError('the server does not answer');
  }
  if (response.ok) return response;
  if (response.status === 401) noteRefused();
  throw await readError(response);
}

async function readError(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    const { message = text, reason = '', details } = JSON.parse(text) as { message?: string; reason?: string; details?: unknown };
    return new ApiError(message, { code: response.status, reason, details });
  } catch {
    return new ApiError(text.slice(0, 500) || `the server answers ${response.status}`, { code: response.status });
  }
}

/** Texts of a Warning header: 299 - "text", each with its quotes escaped. */
export function readWarnings(header: string | null): string[] {
  return (header ?? '').split('299 - "').slice(1).map((part) => {
    let text = '';
    for (let at = 0; at < part.length && part[at] !== '"'; at += 1) text += part[part[at] === '\\' ? (at += 1) : at] ?? '';
    return text;
  });
}

/** Sends a request and reads its answer as JSON. Throws ApiError. */
export async function call(path: string, request: ApiRequest = {}): Promise<ApiAnswer> {
  const response = await open(path, request);
  return { body: await response.json(), warnings: readWarnings(response.headers.get('warning')) };
}
