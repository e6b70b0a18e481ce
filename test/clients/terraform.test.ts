// Terraform's kubernetes provider against this server, and against kube-apiserver with the same results. PINTLE_TERRAFORM_PROVIDER names the provider's
// program, as `go build` makes it of its source; Terraform is on PATH, or PINTLE_TERRAFORM names it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Peer } from '../differential/servers.ts';
import { assertSameLife, noPeer, runLife } from './lives.ts';
import { type Step, liveWithTerraform } from './terraform.ts';

const provider = process.env['PINTLE_TERRAFORM_PROVIDER'];
const noProvider = provider === undefined && 'PINTLE_TERRAFORM_PROVIDER names no program';

const setting = {
  loops: ['namespace'],
  live: (folder: string, server: Peer) => liveWithTerraform(folder, server, { terraform: process.env['PINTLE_TERRAFORM'] ?? 'terraform', provider: provider! }),
};

const addresses = ['config_map_v1.prices', 'deployment_v1.web', 'manifest.api', 'manifest.definition', 'manifest.settings', 'namespace_v1.shop',
  'role_binding_v1.web', 'role_v1.web', 'secret_v1.key', 'service_account_v1.web', 'service_v1.web'];

test('Terraform plans, applies, finds nothing to change, sees changes and drift, meets a conflict, imports and destroys',
  { skip: noProvider, timeout: 600_000 }, async () => {
    const { steps, objects } = await runLife(setting);
    const named = (changes: NonNullable<Step['changes']>) =>
      [changes.map(({ address, change: { actions } }) => `${actions.join()} ${address.replace('kubernetes_', '')}`)];
    const said = steps.map(({ name, code, changes, said: text }) => [name, code, ...(changes === undefined ? [] : named(changes)),
      ...(text !== undefined && name !== 'apply over the field of another' ? [text] : [])]);
    const updated = ['config_map_v1.prices', 'deployment_v1.web', 'manifest.api', 'manifest.backup', 'manifest.settings', 'role_v1.web'];
    assert.deepEqual(said, [
      ['init', 0], ['plan', 2, addresses.map((address) => `create ${address}`)], ['apply', 0], ['plan without a change', 0, []],
      ['plan of an object of the new kind', 2, ['create manifest.backup']], ['apply of an object of the new kind', 0],
      ['plan of changes', 2, updated.map((address) => `update ${address}`)], ['apply of changes', 0], ['plan after changes', 0, []],
      ['plan of drift', 2, ['update config_map_v1.prices', 'update manifest.api']], ['apply over drift', 0], ['apply over the field of another', 1],
      ['import', 0], ['import of a manifest', 0], ['plan after imports', 2, ['update manifest.met']], ['apply after imports', 0],
      ['plan at the end', 0, []], ['destroy', 0],
    ]);
    const conflict = steps.find(({ name }) => name === 'apply over the field of another');
    assert.match(conflict?.said ?? '', /There was a field manager conflict[^]*conflict with \\"someone\\" using v1: \.data\.color/);
    const dataOf = (name: string): unknown => (objects[`${name} /api/v1/namespaces/shop/configmaps/prices`] as { data: unknown }).data;
    assert.deepEqual(['made', 'changed', 'drift'].map(dataOf), [{ apple: '3' }, { apple: '4' }, { apple: '4' }]);
    const gone = Object.entries(objects).filter(([name]) => name.startsWith('destroyed '));
    assert.deepEqual(gone.filter(([, status]) => status !== 404), []);
    assert.equal(gone.length, 12);
  });

test('Terraform has the same plans, state and objects with kube-apiserver',
  { skip: noProvider || noPeer, timeout: 900_000 }, () => assertSameLife(setting));
