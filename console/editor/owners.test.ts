// Owners of lines: fields, keyed members, values of sets, and objects that are owned as such.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { findLineOwners } from './owners.ts';
import { formatYaml, parseAllYaml, parseYaml } from './yaml.ts';

const text = `apiVersion: v1
metadata:
  name: web
  finalizers:
    - one
    - two
spec:
  replicas: 2
  template:
    containers:
      - name: main
        image: web:1
        args:
          - a
          - b
      - name: side
        image: side:1
  empty: {}
`;
const containers = (name: string, fields: object) => ({ 'f:spec': { 'f:template': { 'f:containers': { [`k:{"name":"${name}"}`]: fields } } } });

function linesOf(...sets: object[]): Record<number, string> {
  const found = findLineOwners(text, sets.map((fieldsV1) => ({ fieldsV1 })));
  return Object.fromEntries([...found].sort(([a], [b]) => a - b).map(([line, owners]) => [line, [...owners].join()]));
}

describe('findLineOwners', () => {
  test('a field is owned to the end of its value', () => {
    assert.deepEqual(linesOf({ 'f:spec': { 'f:replicas': {} } }, { 'f:spec': { 'f:replicas': {}, 'f:empty': {} } }), { 8: '0,1', 18: '1' });
  });

  test('members of lists are found by their keys and values', () => {
    assert.deepEqual(linesOf(containers('main', { '.': {}, 'f:name': {}, 'f:args': {} }), containers('side', { 'f:image': {} })),
      { 11: '0', 13: '0', 14: '0', 15: '0', 17: '1' });
    assert.deepEqual(linesOf({ 'f:metadata': { 'f:finalizers': { '.': {}, 'v:"two"': {} } } }), { 4: '0', 6: '0' });
  });

  test('sets that name what the text lacks, or are broken, mark nothing', () => {
    assert.deepEqual(linesOf({ 'f:other': {}, 'f:spec': { 'k:{"a":1}': {}, 'f:template': { 'f:containers': { 'i:9': {} } } } }), {});
    assert.deepEqual([...findLineOwners(': [', [{ fieldsV1: { 'f:a': {} } }])], []);
  });
});

test('parseYaml names problems with their place, and parseAllYaml reads every document', () => {
  assert.equal(parseYaml('a: [').problems.length, 1);
  assert.deepEqual(parseYaml(formatYaml({ a: 'yes', b: '1' })).value, { a: 'yes', b: '1' });
  assert.equal(formatYaml({ a: 'no', b: 'on', c: 'text' }), 'a: "no"\nb: "on"\nc: text\n');
  assert.deepEqual(parseAllYaml('a: 1\n---\n---\nb: 2\n'), [{ a: 1 }, { b: 2 }]);
  assert.throws(() => parseAllYaml('a: 1\n---\nb: ['), /Flow sequence|must end/);
});
