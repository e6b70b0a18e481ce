// Requests and watches over HTTP or HTTPS, with what a kubeconfig says.
import { Agent as PlainAgent, type ClientRequest, type IncomingMessage, type RequestOptions, request as requestPlain } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import { type ApiRequest, type ApiResponse, type ApiUser, contentTypeOf, describeResponse } from './api.ts';
import type { ClusterAccess } from '../kubeconfig/index.ts';
import { encodeBody } from './local-client.ts';

/** A server elsewhere. */
export interface RemoteClient {
  /** Rejects where there is no answer. `user` is impersonated. */
  request(request: ApiRequest): Promise<ApiResponse>;
  /** The lines of a watch, until either side ends it. An answer other than 200 is one element of `{ type: 'ERROR', object: Status }`. */
  watch(path: string, signal: AbortSignal): AsyncIterable<{ readonly type: string; readonly object: any }>;
  /** Ends the connections that are kept. */
  close(): void;
}

const MAX_CONNECTIONS = 16;
/** A line of a watch is one object; none is nearly as long. */
const LINE_LIMIT = 64 * 2 ** 20;

/** A client of the server that `access` leads to. */
export function createRemoteClient(access: ClusterAccess, program: string): RemoteClient {
  const isPlain = access.url.startsWith('http:');
  const kept = { keepAlive: true, maxSockets: Infinity, maxFreeSockets: MAX_CONNECTIONS };
  const agent = isPlain ? new PlainAgent(kept) : new Agent({
    ...kept, rejectUnauthorized: access.verifies, ...(access.authorities !== undefined && { ca: access.authorities }),
    ...(access.serverName !== undefined && { servername: access.serverName }),
  });
  const send = async ({ method = 'GET', path, body, headers, user }: ApiRequest, signal?: AbortSignal): Promise<IncomingMessage> => {
    const { certificate, key, headers: own } = await access.credentials();
    const bytes = encodeBody(body);
    const options: RequestOptions & { cert?: string; key?: string } = {
      method, agent, headers: {
        accept: 'application/json', 'user-agent': program, ...own, ...impersonationOf(user), ...(bytes !== undefined && { 'content-type': contentTypeOf(method),
          'content-length': String(bytes.length) }), ...headers,
      },
      ...(signal !== undefined && { signal }), ...(certificate !== undefined && { cert: certificate }), ...(key !== undefined && { key }),
    };
    return new Promise((resolve, reject) => {
      const call: ClientRequest = (isPlain ? requestPlain : requestSecure)(`${access.url}${path}`, options, resolve);
      call.on('error', reject);
      call.end(bytes);
    });
  };
  return {
    async request(request) {
      const response = await send(request);
      const chunks: Uint8Array[] = [];
      for await (const chunk of response) chunks.push(chunk as Uint8Array);
      return describeResponse(response.statusCode ?? 0, flatten(response), Buffer.concat(chunks));
    },
    async *watch(path, signal) {
      const response = await send({ path }, signal);
      if (response.statusCode !== 200) {
        const chunks: Uint8Array[] = [];
        for await (const chunk of response) chunks.push(chunk as Uint8Array);
        yield { type: 'ERROR', object: describeResponse(response.statusCode ?? 0, flatten(response), Buffer.concat(chunks)).body };
        return;
      }
      for await (const line of readLines(response)) yield JSON.parse(line) as { type: string; object: any };
    },
    close: () => agent.destroy(),
  };
}

function impersonationOf(user: ApiUser | undefined): Record<string, string | string[]> {
  if (user === undefined) return {};
  return {
    'impersonate-user': user.name, ...(user.groups !== undefined && user.groups.length > 0 && { 'impersonate-group': [...user.groups] }),
    ...(user.uid !== undefined && { 'impersonate-uid': user.uid }),
  };
}

const flatten = ({ headers }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value ?? '']));

async function* readLines(response: IncomingMessage): AsyncGenerator<string> {
  response.setEncoding('utf8');
  let rest: string[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<string>) {
    const parts = chunk.split('\n');
    for (const part of parts.slice(0, -1)) {
      const line = [...rest, part].join('');
      [rest, length] = [[], 0];
      if (line !== '') yield line;
    }
    const last = parts.at(-1) as string;
    rest.push(last);
    length += last.length;
    if (length > LINE_LIMIT) throw new Error('an event of the watch is too long');
  }
}
