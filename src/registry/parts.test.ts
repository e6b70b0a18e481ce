// The small parts of the registry: values, keys, the catalog, scale.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../apimachinery/index.ts';
import { compareVersions, createCatalog } from './catalog.ts';
import { findMember } from './objects/json-scan.ts';
import { objectKey, splitKey } from './objects/keys.ts';
import { createEncodingMemo } from './objects/encoded-bytes.ts';
import { findCurrent } from './reads/find.ts';
import type { Resource } from './resource.ts';
import { applyScale, toScale } from './fields/scale.ts';
import { rows } from './testing.ts';
import { cloneJson, sortJson } from './values.ts';
import { equalJson } from '../apimachinery/index.ts';

const json = fc.jsonValue({ maxDepth: 4 });

test('cloneJson, sortJson and equalJson agree with JSON', () => {
  fc.assert(fc.property(json, json, (a, b) => {
    assert.deepEqual(cloneJson(a), a);
    assert.ok(equalJson(sortJson(a), a));
    assert.equal(equalJson(a, b), JSON.stringify(sortJson(a)) === JSON.stringify(sortJson(b)));
  }));
});

test('cloneJson keeps a key named __proto__ as data', () => {
  const copy = cloneJson(JSON.parse('{"__proto__":{"x":1}}') as object);
  assert.deepEqual(Object.keys(copy), ['__proto__']);
  assert.equal((copy as { x?: number }).x, undefined);
  assert.equal(equalJson({ a: 1 }, JSON.parse('{"__proto__":{}}')), false);
});

test('findMember finds each member of an object in its bytes', () => {
  fc.assert(fc.property(fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), json, { maxKeys: 5 }), (object) => {
    const bytes = new TextEncoder().encode(JSON.stringify(object));
    for (const [key, value] of Object.entries(object)) {
      const span = findMember(bytes, 1, key);
      assert.ok(span !== undefined);
      assert.deepEqual(JSON.parse(new TextDecoder().decode(bytes.subarray(span.valueStart, span.valueEnd))), JSON.parse(JSON.stringify(value)));
    }
    assert.equal(findMember(bytes, 1, 'absent'), undefined);
  }));
});

test('objectKey says what a name may not be', () => {
  const key = (name: string) => (): string => objectKey('/registry', rows.configMaps, { namespace: 'ns', name });
  assert.throws(key('..'), { message: `Name parameter invalid: "..": may not be '..'` });
  assert.throws(key('a/%'), { message: `Name parameter invalid: "a/%": may not contain '/';may not contain '%'` });
});

test('objectKey lays keys out as the reference does, splitKey reads them', () => {
  const key = objectKey('/registry', rows.configMaps, { namespace: 'ns', name: 'a' });
  assert.equal(key, '/registry/configmaps/ns/a');
  assert.deepEqual(splitKey('/registry/configmaps/', rows.configMaps, key), { namespace: 'ns', name: 'a' });
  assert.equal(objectKey('/registry', rows.namespaces, { namespace: '', name: 'n' }), '/registry/namespaces/n');
  assert.equal(objectKey('/registry', rows.widgets, { namespace: 'ns', name: 'w' }), '/registry/example.com/widgets/ns/w');
});

test('createCatalog finds rows and orders groups by priority, versions by preference', () => {
  const catalog = createCatalog(Object.values(rows), [{ group: '', priority: 18000 }, { group: 'policy', priority: 17100 }]);
  assert.equal(catalog.find('', 'v1', 'pods'), rows.pods);
  assert.equal(catalog.find('', 'v2', 'pods'), undefined);
  assert.equal(catalog.findKind('policy', 'PodDisruptionBudget'), rows.budgets);
  assert.deepEqual(catalog.groups().map((g) => g.name), ['', 'policy', 'coordination.k8s.io', 'example.com']);
  assert.deepEqual(catalog.resources().slice(0, 3).map((r) => r.plural), ['configmaps', 'namespaces', 'pods']);
  const before = catalog.generation;
  catalog.remove('example.com', 'widgets');
  assert.ok(catalog.generation > before);
  assert.equal(catalog.findKind('example.com', 'Widget'), undefined);
  assert.deepEqual(['v1beta1', 'v2', 'v1alpha1', 'foo', 'v1', 'v1beta2'].sort(compareVersions), ['v2', 'v1', 'v1beta2', 'v1beta1', 'v1alpha1', 'foo']);
});

test('createCatalog serves no custom resource in a group version that has built-in ones', () => {
  const catalog = createCatalog(Object.values(rows));
  const beside = (name: string): Resource =>
    ({ ...rows.widgets, group: 'policy', versions: [{ ...rows.widgets.versions[0]!, name }], storageVersion: name });
  catalog.add(beside('v1'));
  assert.equal(catalog.find('policy', 'v1', 'widgets'), undefined);
  catalog.add(beside('v7'));
  assert.equal(catalog.find('policy', 'v7', 'widgets')?.plural, 'widgets');
});

test('a catalog announces changes once per turn, until no listener is left', async () => {
  const catalog = createCatalog(Object.values(rows));
  const told: string[] = [];
  const ignore = catalog.onChange(() => told.push(String(catalog.findKind('example.com', 'Widget') !== undefined)));
  catalog.remove('example.com', 'widgets');
  catalog.add(rows.widgets);
  await Promise.resolve();
  assert.deepEqual(told, ['true']);
  ignore();
  catalog.remove('example.com', 'widgets');
  await Promise.resolve();
  assert.deepEqual(told, ['true']);
});

test('toScale and applyScale follow the paths of the version', () => {
  const scale = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' };
  const resource: Resource = { ...rows.widgets, custom: false, versions: rows.widgets.versions.map((version) => ({ ...version, scale })) };
  const object = { apiVersion: `example.com/${resource.storageVersion}`, metadata: { name: 'd', namespace: 'ns', uid: 'u', resourceVersion: '5' },
    spec: { replicas: 2, selector: { matchLabels: { app: 'x' } } } } as unknown as KubeObject;
  assert.deepEqual(toScale(resource, object), {
    kind: 'Scale', apiVersion: 'autoscaling/v1', metadata: { name: 'd', namespace: 'ns', uid: 'u', resourceVersion: '5' },
    spec: { replicas: 2 }, status: { replicas: 0, selector: 'app=x' },
  });
  applyScale(resource, object, { metadata: {}, spec: { replicas: 9 } });
  assert.equal((object['spec'] as { replicas: number }).replicas, 9);
  assert.equal(object.metadata.resourceVersion, '5', 'a Scale without a version is meant for the object as it is');
  applyScale({ ...resource, unconditionalUpdate: true }, object, { metadata: {}, spec: { replicas: 9 } });
  assert.equal(object.metadata.resourceVersion, undefined);
});

test('toScale and applyScale refuse custom resources whose values are of other types, in the words of upstream', () => {
  const scale = { specReplicas: '.spec.replicas', statusReplicas: '.status.replicas', selector: '.spec.selector' };
  const resource: Resource = { ...rows.widgets, custom: true, versions: rows.widgets.versions.map((version) => ({ ...version, scale })) };
  const make = (rest: object) => ({ apiVersion: `example.com/${resource.storageVersion}`, metadata: { name: 'd' }, ...rest }) as KubeObject;
  const refused: [object, string][] = [
    [{ spec: { replicas: 'a' } }, '.spec.replicas accessor error: a is of the type string, expected int64'],
    [{ spec: { replicas: 1 }, status: [1] }, '.status.replicas accessor error: [1] is of the type []interface {}, expected map[string]interface{}'],
    [{ spec: { replicas: 1, selector: 7 } }, '.spec.selector accessor error: 7 is of the type int64, expected string'],
    [{ spec: { replicas: null } }, '.spec.replicas accessor error: <nil> is of the type <nil>, expected int64'],
  ];
  for (const [rest, message] of refused) assert.throws(() => toScale(resource, make(rest), 0), { code: 500, message });
  assert.deepEqual(toScale(resource, make({ spec: { replicas: 2 ** 32 + 5 }, status: null }))['spec'], { replicas: 5 });
  assert.throws(() => applyScale(resource, make({ spec: null }), { metadata: {}, spec: { replicas: 1 } }),
    { code: 500, message: 'value cannot be set because .spec is not a map[string]interface{}' });
});

test('createEncodingMemo makes bytes once and stays within its bound', () => {
  const memo = createEncodingMemo(200);
  let made = 0;
  const make = (): Uint8Array => new Uint8Array(40).fill(++made);
  const owners = Array.from({ length: 6 }, () => ({}));
  for (const owner of owners) assert.equal(memo.get(owner, 'x', make), memo.get(owner, 'x', make));
  assert.equal(made, 6);
  memo.get(owners[5] as object, 'x', make);
  assert.equal(made, 6);
  memo.get(owners[0] as object, 'x', make);
  assert.equal(made, 7);
});

test('findCurrent finds nothing of a name that no object can have', async () => {
  assert.equal(await findCurrent({ get: () => assert.fail('asked for') }, { name: 'a/b' } as never), undefined);
});
