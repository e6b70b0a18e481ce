// What a server traces, as --tracing-config-file says it; the SDK loads only where there is one.
import type { Handler } from '../../endpoints/index.ts';
import type { Store } from '../../storage/index.ts';
import { readTextFile } from '../data-directory.ts';
import type { Filter } from '../filters/filter.ts';
import { findRoot } from '../open-store.ts';
import type { ServerOptions } from '../options/options.ts';

/** The tracing of one server. */
export interface Tracing {
  /** Around everything that follows authentication. */
  readonly filter: Filter;
  traceFilter(name: string, filter: Filter): Filter;
  traceHandler(handler: Handler): Handler;
  traceStore(store: Store): Store;
  stop(): Promise<void>;
}

/** Undefined where the options name no configuration. Throws StartError for one that cannot be used. */
export async function createTracing(options: ServerOptions, serverId: string): Promise<Tracing | undefined> {
  const { tracingConfigFile: path, clock, logger, etcdServers } = options;
  if (path === '') return undefined;
  const { readTracingConfiguration } = await import('./configuration.ts');
  const settings = await readTracingConfiguration(readTextFile('--tracing-config-file', path));
  const [{ createRequestTracer }, requests, { traceStore }] =
    await Promise.all([import('./tracer.ts'), import('./trace-requests.ts'), import('./trace-store.ts')]);
  const tracer = createRequestTracer({ settings, clock, logger, serverId });
  return {
    filter: requests.traceRequests(tracer), traceFilter: requests.traceFilter, traceHandler: requests.traceHandler,
    traceStore: (store) => traceStore(store, { root: findRoot(options), isEtcd: etcdServers.length > 0 }),
    stop: () => tracer.stop(),
  };
}
