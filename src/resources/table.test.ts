// The rows against the facts of discovery: names, verbs, subresources, order of groups.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadSchemas } from '../apimachinery/index.ts';
import { type Resource, isStable } from '../registry/index.ts';
import { schemaData } from './schema/index.ts';
import { createBuiltinResources, groupPriorities } from './table.ts';

interface DiscoveryFact {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}
interface Facts {
  readonly groups: readonly { readonly group: string; readonly versions: readonly string[] }[];
  readonly resources: Readonly<Record<string, readonly DiscoveryFact[]>>;
}

const facts = JSON.parse(readFileSync('test/data/discovery-legacy.json', 'utf8')) as Facts;
const rows = createBuiltinResources(loadSchemas(schemaData));

/** What legacy discovery says about one row. */
function describe(row: Resource): DiscoveryFact[] {
  const own: DiscoveryFact = {
    name: row.plural, singularName: row.singular, namespaced: row.namespaced, kind: row.kind, verbs: row.verbs,
    ...(row.shortNames.length > 0 && { shortNames: row.shortNames }), ...(row.categories.length > 0 && { categories: row.categories }),
  };
  const below = row.subresources.map(({ name, verbs, kind }): DiscoveryFact => ({
    name: `${row.plural}/${name}`, singularName: '', namespaced: row.namespaced,
    ...(kind && kind.group !== row.group && { group: kind.group, version: kind.version }), kind: kind?.kind ?? row.kind, verbs,
  }));
  return [own, ...below];
}

for (const [groupVersion, expected] of Object.entries(facts.resources)) {
  test(`createBuiltinResources serves what the reference serves in ${groupVersion}`, () => {
    const [group, version] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
    const served = rows.filter((row) => row.group === group && row.versions.some(({ name }) => name === version)).flatMap(describe);
    const byName = (a: DiscoveryFact, b: DiscoveryFact): number => (a.name < b.name ? -1 : 1);
    assert.deepEqual(served.sort(byName), [...expected].sort(byName));
  });
}

test('createBuiltinResources has a schema for every version and stores one that it serves', () => {
  for (const row of rows) {
    assert.ok(row.versions.some(({ name }) => name === row.storageVersion), row.plural);
    for (const { schema } of row.versions) assert.ok(schema.fields?.has('metadata'), row.plural);
  }
});

test('createBuiltinResources gives every stored kind a key prefix of its own', () => {
  const stored = rows.filter((row) => !row.virtual && row.storedAs === undefined).map((row) => row.storagePrefix);
  assert.equal(new Set(stored).size, stored.length);
});

test('createBuiltinResources keeps the odd keys of the reference, and plurals for all others', () => {
  const odd = rows.filter(({ storagePrefix, plural, virtual }) => !virtual && storagePrefix !== plural);
  assert.deepEqual(Object.fromEntries(odd.map(({ plural, storagePrefix }) => [plural, storagePrefix])), {
    nodes: 'minions', replicationcontrollers: 'controllers', services: 'services/specs', endpoints: 'services/endpoints', ingresses: 'ingress',
    apiservices: 'apiregistration.k8s.io/apiservices', customresourcedefinitions: 'apiextensions.k8s.io/customresourcedefinitions',
  });
  const storing = rows.filter(({ storedAs }) => storedAs === undefined);
  const stored = (name: string) => storing.filter(({ plural }) => plural === name).map(({ group, storageVersion }) => `${group}/${storageVersion}`);
  assert.deepEqual([stored('horizontalpodautoscalers'), stored('events')], [['autoscaling/v2'], ['/v1']]);
});

test('groupPriorities puts groups and versions in the order of the reference', () => {
  const stable = groupPriorities.map(({ group, versions }) => ({ group, versions: versions.map(({ name }) => name).filter(isStable) }));
  assert.deepEqual(stable.filter(({ group, versions }) => group !== '' && versions.length > 0), facts.groups);
  const sorted = [...groupPriorities].sort((a, b) => b.priority - a.priority || (a.group < b.group ? -1 : 1));
  assert.deepEqual(sorted, groupPriorities);
});
