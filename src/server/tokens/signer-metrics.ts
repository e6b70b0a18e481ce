// The metrics of the program that signs service account tokens, under upstream's names.
import type { Clock } from '../../base/index.ts';
import { type ObserveCall, PluginError } from '../../grpc/index.ts';
import { type MetricRegistry, type MetricSpec, formatLabels } from '../metrics/metric.ts';

/** Counts what the signer does. */
export interface SignerMetrics {
  readonly observe: ObserveCall;
  signed(error?: unknown): void;
  fetched(outcome: { readonly dataSeconds: number } | { readonly error: unknown }): void;
}

const bounds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const spec = (name: string, help: string): MetricSpec => ({ name: `apiserver_externaljwt_${name}`, help, stability: 'ALPHA' });

/** The name of the status of a failure, which may be the cause of another. */
function codeOf(error: unknown): string {
  if (error === undefined) return 'OK';
  for (let at: unknown = error; at instanceof Error; at = at.cause) if (at instanceof PluginError) return at.code;
  return 'unknown-non-grpc';
}

/** Registers them. */
export function createSignerMetrics({ registry, clock }: { readonly registry: MetricRegistry; readonly clock: Clock }): SignerMetrics {
  const times = new Map<'fetched' | 'data', number>();
  const gauge = (what: 'fetched' | 'data', metric: MetricSpec): void => registry.gauge(metric, () => (times.has(what) ? [['', times.get(what)!]] : []));
  gauge('fetched', spec('fetch_keys_success_timestamp', 'Unix Timestamp in seconds of the last successful FetchKeys request'));
  gauge('data', spec('fetch_keys_data_timestamp',
    'Unix Timestamp in seconds of the last successful FetchKeys data_timestamp value returned by the external signer'));
  const fetches = registry.counter(spec('fetch_keys_request_total', 'Total attempts at syncing supported JWKs'));
  const signs = registry.counter(spec('sign_request_total', 'Total attempts at signing JWT'));
  const calls = registry.histogram({ ...spec('request_duration_seconds', 'Request duration and time for calls to external-jwt-signer'), bounds });
  return {
    observe: (method, durationMs, code) => calls.observe(formatLabels({ code, method }), durationMs / 1000),
    signed: (error) => signs.add(formatLabels({ code: codeOf(error) })),
    fetched(outcome) {
      fetches.add(formatLabels({ code: codeOf('error' in outcome ? outcome.error : undefined) }));
      if ('error' in outcome) return;
      times.set('fetched', clock.now() / 1000);
      times.set('data', outcome.dataSeconds);
    },
  };
}
