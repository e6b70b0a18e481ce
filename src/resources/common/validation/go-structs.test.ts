// Structs as the reference prints them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGoStructs, shapeGoStruct } from './go-structs.ts';
import { podStructs } from '../../core/pods/validation/structs.data.ts';

test('shapeGoStruct names and orders members as the struct has them and prints absent ones', () => {
  const structs = readGoStructs('A: Name ""; URL=url; List []B; Maybe *B; Always B; +C\nB: On false\nC: Count 0');
  const shaped = shapeGoStruct(structs, 'A', { list: [{ on: true }], url: { b: '2', a: '1' }, count: 4 });
  assert.equal(JSON.stringify(shaped), '{"Name":"","URL":{"a":"1","b":"2"},"List":[{"On":true}],"Maybe":null,"Always":{"On":false},"Count":4}');
});

test('shapeGoStruct survives what is not of the type, and own keys of the language', () => {
  const structs = readGoStructs('A: List []A; Maybe *A');
  assert.deepEqual(shapeGoStruct(structs, 'A', { list: 'x', maybe: 3, __proto__: { list: [1] } }), { List: [], Maybe: { List: null, Maybe: null } });
});

test('podStructs name only structs that they have', () => {
  const structs = readGoStructs(podStructs);
  const named = [...structs.values()].flat().flatMap(({ struct }) => (struct === undefined ? [] : [struct]));
  assert.deepEqual(named.filter((name) => !structs.has(name)), []);
  assert.ok([...structs.values()].every((members) => members.length > 0));
});
