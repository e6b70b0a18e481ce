// Expressions and rules on objects, as the page of a definition tries them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Trial, tryExpression, tryRules } from './try.ts';

const rules = [{ rule: 'self.size < 9', message: 'too large' }, { rule: 'self.size >= oldSelf.size', message: 'must not shrink' }];
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object', 'x-kubernetes-validations': rules,
      properties: {
        size: { type: 'integer' }, tags: { type: 'array', items: { type: 'string', 'x-kubernetes-validations': [{ rule: "self.matches('^[a-z]+$')" }] } },
        limits: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
};
const trial = (spec: object, old?: object): Trial => ({
  schema, object: { apiVersion: 'a/v1', kind: 'A', metadata: { name: 'x' }, spec }, old: old && { metadata: { name: 'x' }, spec: old },
});
const values = async (...given: Parameters<typeof tryExpression>): Promise<unknown> => {
  const found = await tryExpression(...given);
  return typeof found === 'string' ? found : found.map(({ place, text, isProblem }) => [place, isProblem ? `! ${text}` : JSON.parse(text)]);
};

test('tryExpression evaluates with self as the object, as a part of it, and as each member', async () => {
  const one = trial({ size: 3, tags: ['a', 'B'], limits: { cpu: '1' } });
  assert.deepEqual(await values(one, "{'name': self.metadata.name, 'more': string(self.spec.size + 1)}", []), [['self', { name: 'x', more: '4' }]]);
  assert.deepEqual(await values(one, 'self.size > 2', ['spec']), [['self.spec', true]]);
  assert.deepEqual(await values(one, 'self.upperAscii()', ['spec', 'tags', '[]']), [['self.spec.tags[0]', 'A'], ['self.spec.tags[1]', 'B']]);
  assert.deepEqual(await values(one, 'int(self)', ['spec', 'limits', '[*]']), [["self.spec.limits['cpu']", 1]]);
  assert.deepEqual(await values(trial({}), 'self', ['spec', 'tags', '[]']), []);
  assert.deepEqual(await values(trial({ size: 3 }, { size: 2 }), 'self.size - oldSelf.size', ['spec']), [['self.spec', 1]]);
});

test('tryExpression says why there is no value: what does not compile, what fails, and what costs too much', async () => {
  const one = trial({ size: 3 });
  assert.match(String(await values(one, 'self.spec.sise', [])), /undefined field 'sise'/);
  assert.match(String(await values(one, 'oldSelf.spec', [])), /undeclared reference to 'oldSelf'/);
  assert.match(String(await values(one, '1 +', [])), /Syntax error/);
  assert.deepEqual(await values(one, '1 / (self.spec.size - 3)', []), [['self', '! division by zero']]);
  const list = '[1,2,3,4,5,6,7,8,9,10]';
  assert.match(JSON.stringify(await values(one, `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, ${list}.all(e, ${list}.all(f, true))))))`, [])),
    /cost limit exceeded/);
});

test('tryRules reports the rules that fail with their fields, those over time where there is an old object', async () => {
  assert.deepEqual(await tryRules(trial({ size: 3, tags: ['a'] }, { size: 3 })), []);
  assert.deepEqual(await tryRules(trial({ size: 3 })), []);
  const failures = await tryRules(trial({ size: 10, tags: ['B'] }, { size: 11 }));
  assert.equal(failures.length, 3);
  assert.match(failures.join('\n'), /spec: .*too large\n.*spec: .*must not shrink\n.*spec.tags\[0\]: /);
});
