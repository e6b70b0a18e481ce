// Continue tokens: what we make we read, what others make cannot leave the list, and texts are those of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StatusError } from '../../apimachinery/index.ts';
import { decodeContinue, encodeContinue } from './continue.ts';

const token = (value: unknown): string => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

test('encodeContinue writes what decodeContinue and any base64url reader read', () => {
  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/).filter((s) => !s.includes('..'));
  fc.assert(fc.property(fc.array(name, { minLength: 1, maxLength: 2 }), fc.integer({ min: 1, max: 2 ** 52 }), (names, revision) => {
    const start = `${names.join('/')}\u0000`;
    const text = encodeContinue({ start, revision });
    assert.match(text, /^[-_A-Za-z0-9]+$/);
    assert.deepEqual(JSON.parse(Buffer.from(text, 'base64url').toString()), { v: 'meta.k8s.io/v1', rv: revision, start: `/${start}` });
    assert.deepEqual(decodeContinue(text), { start, revision });
  }));
});

test('decodeContinue never yields a start that climbs, whatever is sent', () => {
  const segment = fc.oneof(fc.constantFrom('..', '.', '', 'a', 'b\u0000'), fc.string({ maxLength: 4 }));
  fc.assert(fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), fc.integer(), (segments, rv) => {
    try {
      const { start } = decodeContinue(token({ v: 'meta.k8s.io/v1', rv, start: segments.join('/') }));
      assert.ok(!start.startsWith('/') && !start.split('/').some((s) => s === '..' || s === '.' || s === ''), start);
    } catch (error) {
      assert.ok(error instanceof StatusError && error.code === 400, String(error));
    }
  }));
});

test('decodeContinue answers any text with a token or a 400', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json().map(token), fc.base64String()), (text) => {
    try {
      decodeContinue(text);
    } catch (error) {
      assert.ok(error instanceof StatusError && error.code === 400, String(error));
    }
  }));
});

test('decodeContinue refuses in the words of the reference', () => {
  const cases: [string, string][] = [
    ['!!!', 'illegal base64 data at input byte 0'],
    ['a', 'illegal base64 data at input byte 0'],
    [token('hello'), "invalid character 'h' looking for beginning of value"],
    [token('{}'), 'server does not recognize this encoded version '],
    [token({ v: 'meta.k8s.io/v9', rv: 5, start: 'a\u0000' }), 'server does not recognize this encoded version meta.k8s.io/v9'],
    [token({ v: 'meta.k8s.io/v1', rv: 5, start: '../configmaps/a' }), '../configmaps/a'],
    [token({ v: 'meta.k8s.io/v1', start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v: 5 }), 'json: cannot unmarshal number into Go struct field continueToken.v of type string'],
    [token({ v: 'meta.k8s.io/v1', rv: '3' }), 'json: cannot unmarshal string into Go struct field continueToken.rv of type int64'],
    [token({ v: 'meta.k8s.io/v1', rv: 1.5 }), 'json: cannot unmarshal number 1.5 into Go struct field continueToken.rv of type int64'],
    [token({ v: 'meta.k8s.io/v1', rv: 3, start: [] }), 'json: cannot unmarshal array into Go struct field continueToken.start of type string'],
    [token({ v: 'meta.k8s.io/v1', rv: null, start: 'a' }), 'incorrect encoded start resourceVersion (version meta.k8s.io/v1)'],
    [token({ v: 'meta.k8s.io/v1', rv: 3 }), 'encoded start key empty (version meta.k8s.io/v1)'],
  ];
  for (const [text, why] of cases) assert.throws(() => decodeContinue(text), { message: `invalid continue token: continue key is not valid: ${why}` });
});
