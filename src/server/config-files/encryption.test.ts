// Encryption at rest: the published vector of secretbox, every provider there and back, rotation, what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemRandom } from '../../base/index.ts';
import type { ValueCipher } from '../../registry/index.ts';
import { createEncryption } from './encryption.ts';

const secret = (length: number, fill: string): string => Buffer.alloc(length, fill).toString('base64');
const provider = (name: string, ...keys: readonly (readonly [string, string])[]): object =>
  ({ [name]: { keys: keys.map(([keyName, value]) => ({ name: keyName, secret: value })) } });
const make = (resources: readonly string[], ...providers: readonly object[]) =>
  createEncryption({ config: { kind: 'EncryptionConfiguration', resources: [{ resources, providers }] }, random: systemRandom });
const makeFor = (resource: string, ...providers: readonly object[]) => make([resource], ...providers)(resource) as ValueCipher;
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const key = '/registry/secrets/n/a';

test('createEncryption writes with secretbox what the NaCl distribution writes', () => {
  const secretKey = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
  const text = hex('be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06d'
    + 'ceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705');
  const random = { ...systemRandom, bytes: () => nonce };
  const resources = [{ resources: ['secrets'], providers: [provider('secretbox', ['one', secretKey.toString('base64')])] }];
  const config = { kind: 'EncryptionConfiguration', resources };
  const { seal, open } = createEncryption({ config, random })('secrets') as ValueCipher;
  const stored = Buffer.from(seal(text, key));
  const prefix = Buffer.concat([Buffer.from('k8s:enc:secretbox:v1:one:'), nonce]);
  assert.deepEqual(stored.subarray(0, prefix.length), prefix);
  const box = stored.subarray(prefix.length);
  assert.equal(box.subarray(0, 48).toString('hex'), 'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a');
  assert.deepEqual(Buffer.from(open(stored, key)), text);
  box[20] = (box[20] as number) ^ 1;
  assert.throws(() => open(stored, key));
});

test('createEncryption brings every value back, and writes the prefix that kube-apiserver writes', () => {
  for (const [name, size] of [['aescbc', 32], ['aescbc', 16], ['aesgcm', 32], ['aesgcm', 24], ['secretbox', 32]] as const) {
    const { seal, open } = makeFor('secrets', provider(name, ['one', secret(size, 'k')]), { identity: {} });
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (value) => {
      const stored = seal(value, key);
      assert.ok(Buffer.from(stored).toString('latin1').startsWith(`k8s:enc:${name}:v1:one:`));
      assert.deepEqual([...open(stored, key)], [...value]);
    }), { numRuns: 40 });
  }
});

test('createEncryption reads old keys and plain values while the first key writes: rotation', () => {
  const value = Buffer.from('{"kind":"Secret"}');
  const [before, both] = [['old', secret(32, 'a')], ['new', secret(32, 'b')]] as const;
  const old = makeFor('secrets', provider('aesgcm', before));
  const rotated = makeFor('secrets', provider('secretbox', both), provider('aesgcm', before), { identity: {} });
  assert.deepEqual(Buffer.from(rotated.open(old.seal(value, key), key)), value);
  assert.deepEqual(Buffer.from(rotated.open(value, key)), value);
  assert.throws(() => old.open(value, key), /no matching prefix found/);
  assert.throws(() => old.open(rotated.seal(value, key), key), /cannot be decrypted/);
  assert.throws(() => old.open(old.seal(value, key), '/registry/secrets/n/moved'), 'the key is authenticated');
});

test('createEncryption takes the first entry that names the resource, with wildcards', () => {
  const plain = Buffer.from('{}');
  const isHidden = (resources: readonly string[], resource: string): boolean => {
    const at = `/registry/${resource}/x`;
    return !plain.equals(make(resources, provider('aesgcm', ['k', secret(32, 'k')]), { identity: {} })(resource)?.seal(plain, at) as Uint8Array);
  };
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['secrets', 'secrets', true], ['secrets', 'configmaps', false], ['*.', 'configmaps', true], ['*.', 'deployments.apps', false],
    ['*.apps', 'deployments.apps', true], ['deployments.apps', 'deployments.apps', true], ['*.*', 'deployments.apps', true],
  ];
  for (const [pattern, resource, hidden] of cases) assert.equal(isHidden([pattern], resource), hidden, `${pattern} ${resource}`);
});

test('createEncryption refuses configurations that would not protect', () => {
  for (const providers of [
    [], [{ rot13: {} }], [provider('aescbc', ['k', secret(5, 'k')])], [provider('secretbox', ['', secret(32, 'k')])], [{ aesgcm: { keys: [] } }],
  ]) {
    assert.throws(() => make(['secrets'], ...providers), { name: 'StartError' });
  }
  assert.throws(() => createEncryption({ config: { kind: 'Pod' }, random: systemRandom }), { name: 'StartError' });
  assert.throws(() => make(['secrets'], { kms: { apiVersion: 'v2', name: 'vault', endpoint: 'unix:///kms.sock' } }, { identity: {} }),
    /provider "kms" is not one of identity, aescbc, aesgcm, secretbox/);
});
