// Selectors of devices: what they may name and result in, and which of them would cost too much; the answers are those of kube-apiserver 1.36.3.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceSelectorProblem } from './device-selectors.ts';

test('deviceSelectorProblem accepts booleans, and attributes, which may be ones', () => {
  const good = [
    'true', "device.attributes['a.b'].c", "device.allowMultipleAllocations && device.driver == 'x'",
    "cel.bind(dra, device.attributes['dra.example.com'], dra.oneBool && dra.anotherBool)", "device.capacity['a'].b.isGreaterThan(quantity('1'))",
    "device.attributes['a'].v.isGreaterThan(semver('1.0.0'))", 'device.attributes.all(k, device.attributes[k].all(l, device.attributes.all(m, true)))',
  ];
  for (const text of good) assert.equal(deviceSelectorProblem(text), undefined, text);
});

test('deviceSelectorProblem names what an expression is instead, or what it cannot name', () => {
  const other = (type: string) => `must evaluate to bool or the unknown type, not ${type}`;
  const rows = [
    ['device.driver', other('string')], ['device.attributes', other('map(string, map(string, google.protobuf.Any))')],
    ['device.nothing', "compilation failed: ERROR: <input>:1:7: undefined field 'nothing'\n | device.nothing\n | ......^"],
    ['cel.bind(1, 2, true)', 'compilation failed: ERROR: <input>:1:10: cel.bind() variable names must be simple identifiers\n | cel.bind(1, 2, true)\n | .........^'],
  ] as const;
  for (const [text, message] of rows) assert.deepEqual(deviceSelectorProblem(text), { type: 'invalid', message });
});

test('deviceSelectorProblem refuses what may cost more than an evaluation is given', () => {
  const text = 'device.attributes.all(k, device.attributes[k].all(l, device.attributes.all(m, device.attributes[m].all(n, n != l))))';
  assert.deepEqual(deviceSelectorProblem(text), { type: 'tooComplex' });
});

test('deviceSelectorProblem walks through attributes, and finds values in them, where they may be lists', () => {
  const takesLists = { takesLists: true };
  const all = "device.attributes['a'].b.all(i, i > 1)";
  assert.deepEqual(deviceSelectorProblem(all), { type: 'invalid', message: "compilation failed: ERROR: <input>:1:23: expression of type 'any' cannot be range of a "
    + `comprehension (must be list, map, or dynamic)\n | ${all}\n | ......................^` });
  for (const text of [all, "device.attributes['a'].b.includes('x')", 'device.driver.includes(1)', '[1].includes(1)', "device.attributes['a'].b"]) {
    assert.equal(deviceSelectorProblem(text, takesLists), undefined, text);
  }
  const wrong = deviceSelectorProblem("device.attributes['a'].b.includes()", takesLists);
  assert.match(JSON.stringify(wrong), /no matching overload for 'includes' applied to 'dyn\.\(\)'/);
  const call = "device.attributes[k][l].includes('x')";
  const costly = (calls: number): string => `device.attributes.all(k, device.attributes[k].all(l, ${Array(calls).fill(call).join(' && ')}))`;
  assert.deepEqual([deviceSelectorProblem(costly(2), takesLists), deviceSelectorProblem(costly(40), takesLists)], [undefined, { type: 'tooComplex' }]);
});

test('deviceSelectorProblem lets stored selectors call what finds values, and knows of no lists in them', () => {
  const isStored = { isStored: true };
  assert.equal(deviceSelectorProblem("device.attributes['a'].b.includes('x')", isStored), undefined);
  assert.match(JSON.stringify(deviceSelectorProblem("device.attributes['a'].b.all(i, i > 1)", isStored)), /cannot be range of a comprehension/);
});
