// Labels with a list of values: what is shown instead of others, and how their samples add up.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkAllowedLabels, limitLabels, readLabelTexts } from './allowed-labels.ts';

const lines = [
  '# HELP a_total [STABLE] a', '# TYPE a_total counter', 'a_total{code="200",verb="GET"} 3', 'a_total{code="404",verb="GET"} 4',
  'a_total{code="409",verb="GET"} 5',
  '# HELP h [STABLE] h', '# TYPE h histogram', 'h_bucket{x="say \\"hi\\", you",le="+Inf"} 2', 'h_sum{x="say \\"hi\\", you"} 1.5',
  'h_count{x="say \\"hi\\", you"} 2', '# HELP g g', '# TYPE g gauge', 'g{code="404"} 7',
];

describe('limitLabels', () => {
  it('shows others as unexpected, adds up what becomes one series, and counts them', () => {
    const allowed = readLabelTexts(['"a_total,code=200,201","h,x=y"'], { 'g,code': '404' });
    assert.deepEqual(limitLabels(lines, allowed).filter((line) => !line.startsWith('#')), [
      'a_total{code="200",verb="GET"} 3', 'a_total{code="unexpected",verb="GET"} 9', 'h_bucket{x="unexpected",le="+Inf"} 2', 'h_sum{x="unexpected"} 1.5',
      'h_count{x="unexpected"} 2', 'g{code="404"} 7', 'cardinality_enforcement_unexpected_categorizations_total 11',
    ]);
  });

  it('changes nothing without a list', () => {
    assert.deepEqual(limitLabels(lines, new Map()).slice(0, lines.length), lines);
  });

  it('refuses what names no metric and label', () => {
    assert.equal(checkAllowedLabels(['a_total,code=200']), undefined);
    assert.match(checkAllowedLabels(['a_total=200']) ?? '', /"a_total" is no name of a metric and of a label/);
    assert.match(checkAllowedLabels(['a_total']) ?? '', /must be formatted as key=value/);
  });
});
