// One line per suite: the hooks of a test runner start a server, bring its state back before each test, and stop it.
import type { TestServerOptions } from './options.ts';
import { type TestServer, createTestServer } from './test-server.ts';

type Hook = (run: () => Promise<void>) => unknown;

/**
 * The hooks of a test runner: the module `vitest`, `@jest/globals` or `node:test`, or `globalThis` where the runner puts its hooks there.
 */
export interface TestHooks {
  readonly beforeAll?: Hook;
  readonly before?: Hook;
  readonly beforeEach?: Hook;
  readonly afterAll?: Hook;
  readonly after?: Hook;
}

/** Options of `useTestServer`. */
export interface SuiteOptions extends TestServerOptions {
  /** `reset` (the default): each test begins with the state of the start, no faults and no requests; `share`: tests see what others left. */
  readonly each?: 'reset' | 'share';
}

/** A server for the tests of a suite; it can be used from the first hook on. Files that run side by side have servers of their own. */
export function useTestServer(hooks: TestHooks, { each = 'reset', ...options }: SuiteOptions = {}): TestServer {
  const { beforeAll = hooks.before, afterAll = hooks.after, beforeEach } = hooks;
  if (beforeAll === undefined || afterAll === undefined || beforeEach === undefined) {
    throw new TypeError('useTestServer needs the hooks of a test runner: import * as vitest from \'vitest\', then useTestServer(vitest)');
  }
  let server: TestServer | undefined;
  beforeAll(async () => {
    server = await createTestServer(options);
  });
  if (each === 'reset') beforeEach(async () => prepareTest(server as TestServer, options));
  afterAll(async () => server?.close());
  return new Proxy({} as TestServer, {
    get(_, name) {
      if (server === undefined) throw new Error('the server of the suite starts in its first hook');
      const value: unknown = Reflect.get(server, name, server);
      return typeof value === 'function' ? value.bind(server) : value;
    },
    set: (_, name, value) => Reflect.set(server as TestServer, name, value, server),
  });
}

async function prepareTest(server: TestServer, { faults = [] }: TestServerOptions): Promise<void> {
  server.faults.clear();
  if (server.hasChanged) await server.reset();
  for (const fault of faults) server.faults.add(fault);
  server.clearRequests();
}
