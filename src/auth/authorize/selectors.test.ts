// Selectors as authorization webhooks are sent them: requirements with the operators of reviews.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFieldSelector, readLabelSelector, requiresField } from './selectors.ts';
import { makeRequest } from './testing.ts';
import { describeRequest } from './webhook.ts';

describe('selectors of requests', () => {
  const rows: readonly (readonly [text: string, requirements: readonly string[], hasProblem?: boolean])[] = [
    ['a=b,c!=d', ['a In b', 'c NotIn d']],
    ['a in (y,x),b notin (z),c,!d', ['a In x,y', 'b NotIn z', 'c Exists ', 'd DoesNotExist ']],
    ['a=b,n>5', ['a In b']],
    ['a in (', [], true],
    ['', []],
  ];
  for (const [text, requirements, hasProblem = false] of rows) {
    it(`readLabelSelector ${JSON.stringify(text)}`, () => {
      const read = readLabelSelector(text);
      assert.deepEqual(read.requirements.map(({ key, operator, values = [] }) => `${key} ${operator} ${values.join(',')}`), requirements);
      assert.equal(read.hasProblem, hasProblem);
    });
  }

  it('readFieldSelector compares with one value', () => {
    const selector = readFieldSelector('spec.nodeName=n1,metadata.name!=x');
    assert.deepEqual(selector.requirements,
      [{ key: 'spec.nodeName', operator: 'In', values: ['n1'] }, { key: 'metadata.name', operator: 'NotIn', values: ['x'] }]);
    assert.deepEqual([requiresField(selector, 'spec.nodeName', 'n1'), requiresField(selector, 'metadata.name', 'x')], [true, false]);
    assert.equal(readFieldSelector('nonsense').hasProblem, true);
  });

  it('describeRequest sends requirements, and nothing of a selector without any', () => {
    const describeSelectors = (labels: string, fields: string) => {
      const selectors = { labelSelector: () => readLabelSelector(labels), fieldSelector: () => readFieldSelector(fields) };
      const { labelSelector, fieldSelector } = describeRequest({ ...makeRequest('alice', 'list pods', 'ns'), ...selectors })['resourceAttributes'] as
        Record<string, unknown>;
      return { labelSelector, fieldSelector };
    };
    assert.deepEqual(describeSelectors('a=b', 'x==y'), {
      labelSelector: { requirements: [{ key: 'a', operator: 'In', values: ['b'] }] },
      fieldSelector: { requirements: [{ key: 'x', operator: 'In', values: ['y'] }] },
    });
    assert.deepEqual(describeSelectors('n>5', 'broken'), { labelSelector: undefined, fieldSelector: undefined });
  });
});
