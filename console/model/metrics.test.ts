// Metrics as text, and rates and quantiles of what grew.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growthBy, growthOf, largestOf, parseMetrics, quantileOf, sumBy, sumOf } from './metrics.ts';

const page = (count: number, slow: number): string => `# HELP requests_total Requests.
# TYPE requests_total counter
requests_total{verb="GET",path="a} \\"b\\", c"} ${count}
requests_total{verb="LIST"} 2 1700000000000
memory_bytes 1.5e+06
took_seconds_bucket{le="0.1"} ${count}
took_seconds_bucket{le="1"} ${count + slow}
took_seconds_bucket{le="+Inf"} ${count + slow}
`;
const [before, after] = [parseMetrics(page(10, 0)), parseMetrics(page(19, 1))];

test('parseMetrics reads names, labels with any text, and values', () => {
  assert.equal(after.get('requests_total')?.[0]?.labels.get('path'), 'a} "b", c');
  assert.deepEqual([sumOf(after, 'requests_total'), sumOf(after, 'memory_bytes'), sumOf(after, 'none')], [21, 1_500_000, 0]);
  assert.deepEqual([largestOf(after, 'memory_bytes'), largestOf(after, 'none')], [1_500_000, 0]);
  assert.deepEqual([...sumBy(after, 'requests_total', 'verb')], [['GET', 19], ['LIST', 2]]);
});

test('growthOf counts from nothing after a restart', () => {
  assert.equal(growthOf(before, after, 'requests_total', (labels) => labels.get('verb') === 'GET'), 9);
  assert.equal(growthOf(after, before, 'requests_total'), 12);
});

test('growthBy counts by the values of labels, new ones from nothing', () => {
  assert.deepEqual([...growthBy(before, after, 'requests_total', 'verb', 'path')], [['GET a} "b", c', 9], ['LIST ', 0]]);
  assert.deepEqual([...growthBy(new Map(), after, 'requests_total', 'verb')], [['GET', 19], ['LIST', 2]]);
});

test('quantileOf finds the bucket of a quantile, and a place in it', () => {
  const growth = { before, after, name: 'took_seconds' };
  assert.equal(quantileOf(growth, 0.45)?.toFixed(3), '0.050');
  assert.equal(quantileOf(growth, 0.95)?.toFixed(3), '0.550');
  assert.equal(quantileOf({ ...growth, before: after }, 0.5), undefined);
});
