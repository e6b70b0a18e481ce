// How the API is asked: one function, whether the server is in this process or elsewhere.
import type { KubernetesObject } from './objects.ts';

/** A caller of the API. */
export interface ApiUser {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** What to ask of the server. */
export interface ApiRequest {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  /** Sent as JSON; texts and bytes as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller; the user of the connection when absent. */
  readonly user?: ApiUser;
}

/** The answer. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** Parsed where it is JSON. */
  readonly body: any;
}

/** Asks the server; resolves for every answer, rejects where there is none. */
export type AskApi = (request: ApiRequest) => Promise<ApiResponse>;

/** An answer with a code from 400 on, as an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number;
  readonly reason: string;
  /** The Status that was answered. */
  readonly status: KubernetesObject;

  constructor(request: string, response: ApiResponse) {
    const status = (response.body ?? {}) as KubernetesObject;
    super(`${request}: ${(status['message'] as string | undefined) ?? response.text}`);
    this.code = response.status;
    this.reason = (status['reason'] as string | undefined) ?? '';
    this.status = status;
  }
}

/** The media type of a body that the method usually has: PATCH applies. */
export const contentTypeOf = (method: string): string => (method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json');

/** The answer as an object; throws ApiError for codes from 400 on. */
export function takeBody(method: string, path: string, response: ApiResponse): any {
  if (response.status >= 400) throw new ApiError(`${method} ${path}`, response);
  return response.body;
}

/** An answer's text with what it means. */
export function describeResponse(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): ApiResponse {
  const text = Buffer.from(body).toString('utf8');
  const isJson = headers['content-type']?.startsWith('application/json') === true && text !== '';
  return { status, headers, text, body: isJson ? JSON.parse(text) : undefined };
}
