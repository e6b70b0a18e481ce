// The metrics of requests that the server itself makes of webhooks, under the names that client-go gives them: counts by status, durations, sizes.
import type { Clock } from '../../base/index.ts';
import type { MeasureCall } from '../webhooks/http-call.ts';
import { type MetricRegistry, formatLabels } from './metric.ts';

const durationBounds = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];
const sizeBounds = [64, 256, 512, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216];
/** The code of a request without an answer. */
const NO_ANSWER = '<error>';

/** Adds the metrics to a registry; what it answers measures one request. */
export function measureCalls(registry: MetricRegistry, clock: Clock): MeasureCall {
  const total = registry.counter({
    name: 'rest_client_requests_total', stability: 'ALPHA', help: 'Number of HTTP requests, partitioned by status code, method, and host.',
  });
  const durations = registry.histogram({
    name: 'rest_client_request_duration_seconds', stability: 'ALPHA', help: 'Request latency in seconds. Broken down by verb, and host.',
    bounds: durationBounds,
  });
  const measureSizes = (what: 'request' | 'response') => registry.histogram({
    name: `rest_client_${what}_size_bytes`, stability: 'ALPHA', bounds: sizeBounds,
    help: `${what === 'request' ? 'Request' : 'Response'} size in bytes. Broken down by verb and host.`,
  });
  const [sent, received] = [measureSizes('request'), measureSizes('response')];
  return ({ method, host, port, headers, body }) => {
    const startedMs = clock.monotonicMs();
    const named = headers['host'];
    const shownHost = typeof named === 'string' ? named : `${host}:${port}`;
    return (answer) => {
      const labels = formatLabels({ host: shownHost, verb: method });
      total.add(formatLabels({ code: answer === undefined ? NO_ANSWER : String(answer.status), host: shownHost, method }));
      durations.observe(labels, (clock.monotonicMs() - startedMs) / 1000);
      sent.observe(labels, body === undefined ? 0 : Buffer.byteLength(body));
      if (answer !== undefined) received.observe(labels, answer.body.length);
    };
  };
}
