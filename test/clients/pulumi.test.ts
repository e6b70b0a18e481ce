// Pulumi's kubernetes provider against this server, and against kube-apiserver with the same results. PINTLE_PULUMI names the program of Pulumi; those of
// its YAML language and of the provider lie beside it. `go build` makes all three in test/clients/go-pulumi, where main.go has the commands.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { Peer } from '../differential/servers.ts';
import { assertSameLife, noPeer, runLife } from './lives.ts';
import { liveWithPulumi } from './pulumi.ts';

const pulumi = process.env['PINTLE_PULUMI'];
const programs = pulumi === undefined ? [] : ['pulumi', 'pulumi-language-yaml', 'pulumi-resource-kubernetes'].map((name) => join(dirname(pulumi), name));
const absent = programs.find((program) => !existsSync(program));
const missing = pulumi === undefined ? 'PINTLE_PULUMI names no program' : absent !== undefined && `there is no ${absent}`;

interface Manager {
  readonly manager: string;
  readonly operation: string;
}

const setting = {
  loops: ['namespace', 'garbage-collector'],
  live: (folder: string, server: Peer) => liveWithPulumi(folder, server, pulumi!),
};

const created = ['crontabs:crontabs.example.com', 'crontabs:default/backup', 'auto', 'key', 'oldSettings', 'oldWeb', 'older', 'role', 'service', 'settings',
  'shop', 'shop-test', 'web'];
const changed = ['crontabs:crontabs.example.com', 'crontabs:default/backup', 'oldSettings', 'oldWeb', 'role', 'settings', 'web'];
const all = (verb: string, names: readonly string[]): readonly string[] => names.map((name) => `${verb} ${name}`);
const secrets = ['replace auto', 'replace key'];
const byApply = [...all('update', changed), 'update oldCrontabs:default/old', ...secrets];
const life: readonly (readonly [name: string, code: number, operations: readonly string[]])[] = [
  ['preview', 0, all('create', [...created, 'crontabs'])], ['up', 0, all('create', created)], ['preview without a change', 0, []],
  ['up without a change', 0, []],
  ['preview of changes', 0, [...all('update', changed), ...secrets, 'create oldCrontabs', 'create oldCrontabs:default/old']],
  ['up of changes', 0, [...all('update', changed), ...secrets, 'create oldCrontabs:default/old']],
  ['refresh after changes', 0, []], ['preview after changes', 0, []], ['refresh of drift', 0, ['update settings']],
  ['preview over the fields of another', 255, ['update settings']], ['up over the fields of another', 255, ['update settings']],
  ['preview by force', 0, ['update settings', 'update web', 'update oldCrontabs:default/old']],
  ['up by force', 0, ['update settings', 'update web', 'update oldCrontabs:default/old']], ['preview after force', 0, []],
  ['up of a patch over the field of another', 255, ['create found']], ['preview of a patch and an import', 0, ['create found', 'import met']],
  ['up of a patch and an import', 0, ['create found', 'import met']], ['preview after a patch and an import', 0, []],
  ['preview of the change to apply', 0, ['update older']], ['up of the change to apply', 0, ['update older']], ['up of changes by apply', 0, byApply],
  ['preview of a replacement', 0, [...byApply.filter((each) => each !== 'update web'), 'replace web', 'update service']],
  ['up of a replacement', 0, [...byApply.filter((each) => each !== 'update web'), 'replace web', 'update service']],
  ['preview of what the server refuses', 255, ['update service']], ['preview of what the schema refuses', 255, ['update crontabs:default/backup']],
  ['refresh of what is gone', 0, ['delete settings']], ['up of what is gone', 0, ['create settings']], ['preview at the end', 0, []],
];

const refusals = {
  'up over the fields of another': /apply conflict: Apply failed with 1 conflict: conflict with "someone" using v1: \.data\.color/,
  'up of a patch over the field of another': /apply conflict: Apply failed with 1 conflict: conflict with "someone" using v1: \.data\.a/,
  'preview of what the server refuses': /Service "web" is invalid: spec\.ports\[0\]\.port: Invalid value: 99999: must be between 1 and 65535, inclusive/,
  'preview of what the schema refuses': /failed to create typed patch object \(default\/backup; example\.com\/v1, Kind=CronTab\): \.spec\.schedule: expected/,
};

test('Pulumi previews, applies, finds nothing to change, sees changes and drift, meets conflicts and refusals, patches, imports, replaces, waits and destroys',
  { skip: missing, timeout: 600_000 }, async () => {
    const { steps, objects } = await runLife(setting);
    const named = steps.map(({ name, code, operations }) => [name, code, operations.filter((each) => !/^\S+-replace/.test(each) && !each.startsWith('delete-'))
      .map((each) => each.replace(/ \w+ /, ' ')).toSorted()]);
    assert.deepEqual(named.slice(0, life.length), life.map(([name, code, operations]) => [name, code, operations.toSorted()]));
    assert.deepEqual(named.slice(life.length).map(([name, code]) => [name, code]),
      [['up of what waits for others', 0], ['preview after waiting', 0], ['up of a newer chart', 0], ['destroy', 0]]);
    for (const name of ['chart-chart', 'release-chart']) {
      const { version, ...data } = (objects[`newer /api/v1/namespaces/default/configmaps/${name}`] as { data: Record<string, string> }).data;
      assert.deepEqual(data, { isServed: 'true', color: 'red' });
      assert.match(version!, /^v1\.36\./);
    }
    for (const [name, text] of Object.entries(refusals)) assert.match(steps.find((step) => step.name === name)?.said?.join() ?? '', text);
    const dataOf = (name: string): unknown => (objects[`${name} /api/v1/namespaces/shop/configmaps/settings`] as { data: unknown }).data;
    assert.deepEqual(['made', 'changed', 'drift', 'forced'].map(dataOf),
      [{ color: 'blue' }, { color: 'red' }, { color: 'green', size: '1' }, { color: 'red', size: '1' }]);
    const managersOf = (name: string): readonly string[] => (objects[name] as { metadata: { managedFields: readonly Manager[] } }).metadata.managedFields
      .map(({ manager, operation }) => `${manager} ${operation}`);
    const old = '/apis/apps/v1/namespaces/default/deployments/old';
    assert.deepEqual([managersOf(`changed ${old}`), managersOf(`applied ${old}`)], [['pulumi-kubernetes Update'], ['pulumi-kubernetes Apply']]);
    const rest = Object.entries(objects).filter(([name, object]) => name.startsWith('destroyed /') && object !== 404).map(([name]) => name.replace(/.*\//, ''));
    assert.deepEqual(rest, ['found']);
  });

test('Pulumi has the same previews, state and objects with kube-apiserver',
  { skip: missing || noPeer, timeout: 900_000 }, () => assertSameLife(setting));
