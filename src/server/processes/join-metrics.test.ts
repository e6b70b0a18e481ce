// The metrics of several processes as those of one.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { finishSteps } from '../../base/index.ts';
import { joinMetrics } from './join-metrics.ts';

const join = (...texts: string[]): string => finishSteps(joinMetrics(texts));

const text = (requests: number, inFlight: number, objects: number, started: number): string => [
  '# HELP apiserver_request_total [STABLE] Requests.', '# TYPE apiserver_request_total counter', `apiserver_request_total{code="200"} ${requests}`,
  '# HELP apiserver_request_duration_seconds Time.', '# TYPE apiserver_request_duration_seconds histogram',
  `apiserver_request_duration_seconds_bucket{le="+Inf"} ${requests}`, `apiserver_request_duration_seconds_sum ${requests / 2}`,
  '# HELP apiserver_current_inflight_requests [STABLE] Now.', '# TYPE apiserver_current_inflight_requests gauge',
  `apiserver_current_inflight_requests{request_kind="readOnly"} ${inFlight}`,
  '# HELP apiserver_storage_objects [STABLE] Objects.', '# TYPE apiserver_storage_objects gauge', `apiserver_storage_objects{resource="pods"} ${objects}`,
  '# HELP process_start_time_seconds Start.', '# TYPE process_start_time_seconds gauge', `process_start_time_seconds ${started}`, '',
].join('\n');

test('joinMetrics adds up counters, histograms and parts of a whole, and takes the largest of other gauges', () => {
  assert.equal(join(text(3, 1, 10, 100), text(4, 2, 9, 101)), text(7, 3, 10, 101));
});

test('joinMetrics keeps series that one process alone has', () => {
  const [one, other] = ['a', 'b'].map((name) => `# HELP m M.\n# TYPE m counter\nm{x="${name} y"} 1\n`);
  assert.equal(join(one as string, other as string), '# HELP m M.\n# TYPE m counter\nm{x="a y"} 1\nm{x="b y"} 1\n');
  assert.equal(join(one as string), one);
});
