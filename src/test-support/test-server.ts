// A server for one test: in memory, on a free port, with static tokens for an administrator and two users without rights.
import { type RunningServer, type ServerOptions, startServer } from '../server/index.ts';
import { type ClientRequest, type ClientResponse, type TestClient, createTestClient } from './client.ts';
import { eventually } from './wait.ts';

/** Tokens that every test server knows: `admin-token` (system:masters), `alice-token` (devs), `bob-token` (ops). */
export const testTokens = [
  { token: 'admin-token', user: { name: 'admin', uid: 'admin-uid', groups: ['system:masters'] } },
  { token: 'alice-token', user: { name: 'alice', uid: 'alice-uid', groups: ['devs'] } },
  { token: 'bob-token', user: { name: 'bob', uid: 'bob-uid', groups: ['ops'] } },
] as const;

/** A server with a client of its administrator. */
export interface TestServer extends RunningServer {
  request(request: ClientRequest): Promise<ClientResponse>;
  readonly client: TestClient;
}

/** Starts one; resolves when its namespaces exist. The caller closes it. */
export async function startTestServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const server = await startServer({ ...options, tokens: [...testTokens, ...(options.tokens ?? [])] });
  await server.ready;
  const client = createTestClient(server.url, 'admin-token');
  return {
    ...server,
    client,
    request: (request) => client.request(request),
    close() {
      client.close();
      return server.close();
    },
  };
}

/** Asks until the answer passes `until`; rejects after `timeoutMs`. */
export async function requestUntil(
  server: Pick<TestServer, 'request'>, request: ClientRequest, options: { readonly until: (response: ClientResponse) => boolean; readonly timeoutMs?: number },
): Promise<ClientResponse> {
  let response: ClientResponse | undefined;
  await eventually(async () => {
    response = await server.request(request);
    if (!options.until(response)) throw new Error(`${request.path} did not get there: ${response.status} ${response.text.slice(0, 500)}`);
  }, options.timeoutMs);
  return response as ClientResponse;
}
