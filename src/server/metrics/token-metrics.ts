// The metrics of service accounts' tokens, under upstream's names: how many are used as they should be, and how many are of the deprecated sorts.
import type { ServiceAccountTokenUse } from '../../auth/index.ts';
import type { MetricRegistry } from './metric.ts';

const metricOf: Readonly<Record<ServiceAccountTokenUse, readonly [name: string, help: string]>> = {
  legacy: ['legacy_tokens', 'Cumulative legacy service account tokens used'],
  stale: ['stale_tokens', 'Cumulative stale projected service account tokens used'],
  'legacy-manual': ['legacy_manual_token_uses', 'Cumulative manually created legacy tokens used'],
  'legacy-auto': ['legacy_auto_token_uses', 'Cumulative auto-generated legacy tokens used'],
  'invalid-legacy-auto': ['invalid_legacy_auto_token_uses', 'Cumulative invalid auto-generated legacy tokens used'],
  valid: ['valid_tokens', 'Cumulative valid projected service account tokens used'],
};

/** Adds the metrics to a registry; what it answers counts one use. */
export function countTokenUses(registry: MetricRegistry): (use: ServiceAccountTokenUse) => void {
  const counters = new Map(Object.entries(metricOf).map(([use, [name, help]]) => {
    const counter = registry.counter({ name: `serviceaccount_${name}_total`, stability: 'ALPHA', help });
    counter.add('', 0);
    return [use, counter];
  }));
  return (use) => counters.get(use)?.add('');
}
