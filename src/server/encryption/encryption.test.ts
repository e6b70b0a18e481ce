// Encryption at rest: the published vector of secretbox, every provider there and back, rotation, what is refused.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Random, systemClock, systemRandom } from '../../base/index.ts';
import type { ValueCipher } from '../../registry/index.ts';
import { createEncryption } from './encryption.ts';
import { reachesAbstractSockets } from '../config-files/config-file.ts';

const secret = (length: number, fill: string): string => Buffer.alloc(length, fill).toString('base64');
const provider = (name: string, ...keys: readonly (readonly [string, string])[]): object =>
  ({ [name]: { keys: keys.map(([keyName, value]) => ({ name: keyName, secret: value })) } });
const describeFile = (resources: readonly object[]): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources });
const load = async (resources: readonly object[], random: Random = systemRandom) =>
  (await createEncryption(describeFile(resources), { clock: systemClock, random })).cipherFor;
const make = (resources: readonly string[], ...providers: readonly object[]) => load([{ resources, providers }]);
const makeFor = async (resource: string, ...providers: readonly object[]): Promise<ValueCipher> =>
  (await make([resource], ...providers))(resource) as ValueCipher;
const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const key = '/registry/secrets/n/a';

test('createEncryption writes with secretbox what the NaCl distribution writes', async () => {
  const secretKey = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389');
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37');
  const text = hex('be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb310e3be8250c46f06d'
    + 'ceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705');
  const random = { ...systemRandom, bytes: () => nonce };
  const resources = [{ resources: ['secrets'], providers: [provider('secretbox', ['one', secretKey.toString('base64')])] }];
  const { seal, open } = (await load(resources, random))('secrets') as ValueCipher;
  const stored = Buffer.from(seal(text, key) as Uint8Array);
  const prefix = Buffer.concat([Buffer.from('k8s:enc:secretbox:v1:one:'), nonce]);
  assert.deepEqual(stored.subarray(0, prefix.length), prefix);
  const box = stored.subarray(prefix.length);
  assert.equal(box.subarray(0, 48).toString('hex'), 'f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a');
  assert.deepEqual(Buffer.from(open(stored, key)), text);
  box[20] = (box[20] as number) ^ 1;
  assert.throws(() => open(stored, key));
});

test('createEncryption brings every value back, and writes the prefix that kube-apiserver writes', async () => {
  for (const [name, size] of [['aescbc', 32], ['aescbc', 16], ['aesgcm', 32], ['aesgcm', 24], ['secretbox', 32]] as const) {
    const { seal, open } = await makeFor('secrets', provider(name, ['one', secret(size, 'k')]), { identity: {} });
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (value) => {
      const stored = seal(value, key) as Uint8Array;
      assert.ok(Buffer.from(stored).toString('latin1').startsWith(`k8s:enc:${name}:v1:one:`));
      assert.deepEqual([...open(stored, key)], [...value]);
    }), { numRuns: 40 });
  }
});

test('createEncryption reads old keys and plain values while the first key writes: rotation', async () => {
  const value = Buffer.from('{"kind":"Secret"}');
  const [before, both] = [['old', secret(32, 'a')], ['new', secret(32, 'b')]] as const;
  const old = await makeFor('secrets', provider('aesgcm', before));
  const rotated = await makeFor('secrets', provider('secretbox', both), provider('aesgcm', before), { identity: {} });
  assert.deepEqual(Buffer.from(rotated.open(old.seal(value, key) as Uint8Array, key)), value);
  assert.deepEqual(Buffer.from(rotated.open(value, key)), value);
  assert.throws(() => old.open(value, key), /no matching prefix found/);
  assert.throws(() => old.open(rotated.seal(value, key) as Uint8Array, key), /cannot be decrypted/);
  const others = await makeFor('secrets', provider('aesgcm', both), provider('secretbox', before));
  assert.throws(() => others.open(old.seal(value, key) as Uint8Array, key), /^Error: no matching key was found for the provided AES transformer$/);
  assert.throws(() => others.open(rotated.seal(value, key) as Uint8Array, key), /^Error: no matching key was found for the provided Secretbox transformer$/);
  assert.throws(() => old.open(old.seal(value, key) as Uint8Array, '/registry/secrets/n/moved'), 'the key is authenticated');
});

test('createEncryption takes the entry of the resource, of its group, or of everything', async () => {
  const plain = Buffer.from('{}');
  const isHidden = async (resources: readonly string[], resource: string): Promise<boolean> => {
    const cipher = (await make(resources, provider('aesgcm', ['k', secret(32, 'k')]), { identity: {} }))(resource);
    return !plain.equals(cipher?.seal(plain, `/registry/${resource}/x`) as Uint8Array);
  };
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['secrets', 'secrets', true], ['secrets', 'configmaps', false], ['*.', 'configmaps', true], ['*.', 'deployments.apps', false],
    ['*.apps', 'deployments.apps', true], ['deployments.apps', 'deployments.apps', true], ['*.*', 'deployments.apps', true],
  ];
  for (const [pattern, resource, hidden] of cases) assert.equal(await isHidden([pattern], resource), hidden, `${pattern} ${resource}`);
  const entry = (resource: string, name: string): object => ({ resources: [resource], providers: [provider('aesgcm', [name, secret(32, 'k')])] });
  const cipherFor = await load([entry('deployments.apps', 'one'), entry('*.apps', 'group'), entry('*.*', 'all')]);
  const prefixes = ['deployments.apps', 'daemonsets.apps', 'secrets'].map((resource) =>
    Buffer.from((cipherFor(resource)?.seal(plain, 'k') ?? []) as Uint8Array).toString('latin1'));
  assert.deepEqual(prefixes.map((text) => text.split(':')[4]), ['one', 'group', 'all']);
});

test('createEncryption refuses, in the words of the reference, configurations that would not protect', async () => {
  const kms = (fields: object): object => ({ kms: { apiVersion: 'v2', name: 'p', endpoint: 'unix:///p.sock', ...fields } });
  const cases: readonly (readonly [object, RegExp])[] = [
    [[], /resources\[0\]\.providers: Required value: at least one resources\[0\]\.providers is required/],
    [[{ rot13: {} }], /: strict decoding error: unknown field "resources\[0\]\.providers\[0\]\.rot13"$/],
    [[{ identity: { a: 1 } }], /: strict decoding error: unknown field "resources\[0\]\.providers\[0\]\.identity\.a"$/],
    [[{}], /does not contain any of the expected providers/],
    [[{ identity: {}, ...provider('aescbc', ['k', secret(16, 'k')]) }], /more than one provider specified/],
    [[provider('aescbc', ['k', secret(5, 'k')])],
      /keys\[0\]\.secret: Invalid value: "REDACTED": secret is not of the expected length, got 5, expected one of \[16 24 32\]/],
    [[provider('secretbox', ['', secret(32, 'k')])], /keys\[0\]\.name: Required value: name is a mandatory field for a key/],
    [[provider('secretbox', ['k', '%'])], /secrets must be base64 encoded/],
    [[{ aesgcm: { keys: [] } }], /aesgcm\.keys: Required value: at least one keys is required/],
    [[kms({ apiVersion: 'v1' })], /KMSv1 is deprecated .* going forward\. Use KMSv2 instead\. {2}Set --feature-gates=KMSv1=true/],
    [[kms({ apiVersion: 'v3' })], /kms\.apiVersion: Invalid value: "v3": unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported/],
    [[kms({ name: '' })], /kms\.name: Required value: name is a mandatory field for a provider/],
    [[kms({ name: 'a:b' })], /invalid KMS provider name a:b, must not contain ':'/],
    [[kms({}), kms({})], /providers\[1\]\.kms\.name: Invalid value: "p": duplicate KMS provider name p, names must be unique/],
    [[kms({ timeout: '-1s' })], /timeout should be a positive value/],
    [[kms({ timeout: '0s' })], /timeout should be a positive value/],
    [[kms({ apiVersion: 'v1', name: '' })], /: resources\[0\]\.providers\[0\]\.kms\.name: Required value: name is a mandatory field for a provider$/],
    [[kms({ endpoint: 'unix://%' })], /kms\.endpoint: Invalid value: "unix:\/\/%": invalid endpoint for kms provider, error: parse "unix:\/\/%": invalid URL/],
    [[kms({ endpoint: undefined })], /endpoint is a mandatory field for a kms/],
    [[kms({ endpoint: 'tcp://localhost:1' })], /unsupported scheme "tcp" for KMS provider, only unix is supported/],
    ...(reachesAbstractSockets() ? [] : [[[kms({ endpoint: 'unix:///@kms' })], /abstract sockets cannot be reached/] as const]),
    [[kms({ cachesize: 5 })], /cachesize is not supported in v2/],
  ];
  for (const [providers, message] of cases) await assert.rejects(make(['secrets'], ...providers as object[]), { name: 'StartError', message });
  const names: readonly (readonly [readonly string[], RegExp])[] = [
    [[], /resources\[0\]\.resources: Required value/], [['secrets', 'secrets'], /cannot be specified multiple times/],
    [['secrets', 'secrets.'], /cannot be specified multiple times/],
    [['secrets', '*.'], /overlapping resources/],
    [['*'], /use '\*\.' to encrypt/], [['Secrets'], /capital letters/], [['secrets.*'], /the same resource across groups/],
    [['events.events.k8s.io'], /Use 'events' instead/], [['deployments.extensions'], /has been removed/], [['apiserveripinfo'], /do not have REST API/],
  ];
  const wrapped = `${secret(16, 'k').slice(0, 5)}\n${secret(16, 'k').slice(5)}`;
  await assert.doesNotReject(make(['secrets'], provider('aescbc', ['k', wrapped])), 'ends of lines may stand in a secret');
  for (const [resources, message] of names) await assert.rejects(make(resources, { identity: {} }), { name: 'StartError', message });
  const entry = (resource: string): object => ({ resources: [resource], providers: [{ identity: {} }] });
  await assert.rejects(load([entry('*.apps'), entry('deployments.apps')]), /resource "deployments\.apps" is masked by earlier rule "\*\.apps"/);
  await assert.rejects(load([]), /resources: Required value/);
  await assert.rejects(createEncryption('kind: Pod', { clock: systemClock, random: systemRandom }), { name: 'StartError' });
});
