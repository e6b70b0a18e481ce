// Attacks by patches and wide objects: work that grows faster than the request.
import { type Attack, type AttackRequest, CONFIG_MAPS, type Victim, configMap, describe, send } from './attack.ts';

const JSON_PATCH = 'application/json-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

/** Makes the ConfigMap that a patch works on. */
async function prepare(victim: Victim, data: object = { a: '1' }): Promise<void> {
  await send(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/patched` });
  await send(victim, { method: 'POST', path: CONFIG_MAPS, body: configMap('patched', data) });
}

interface PatchRow {
  readonly operations: () => unknown;
  readonly expected: readonly number[];
}

function patchAttack(number: string, name: string, { operations, expected }: PatchRow): Attack {
  return {
    number, name,
    async run(victim) {
      await prepare(victim);
      const answer = await send(victim, { method: 'PATCH', path: `${CONFIG_MAPS}/patched?dryRun=All`, type: JSON_PATCH, body: operations() });
      return { holds: expected.includes(answer.status), answer: `${describe(answer)} (wanted ${expected.join(' or ')})` };
    },
  };
}

const finalizers = (count: number): string[] => Array.from({ length: count }, (_, index) => `a.b/c${index}`);
const repeat = (count: number, operation: object): object[] => Array.from({ length: count }, () => operation);

function doubled(): object[] {
  const start = [{ op: 'add', path: '/data/a0', value: 'x'.repeat(1000) }];
  return [...start, { op: 'add', path: '/metadata/annotations', value: {} }, { op: 'add', path: '/x', value: ['x'.repeat(100)] },
    ...repeat(40, { op: 'copy', from: '/x', path: '/x/-' })];
}

const jsonPatches: readonly Attack[] = [
  patchAttack('19', '10,001 operations', { operations: () => repeat(10_001, { op: 'test', path: '/kind', value: 'ConfigMap' }), expected: [413] }),
  patchAttack('20', 'copies that double what they copy', { operations: doubled, expected: [413, 422, 400, 500] }),
  patchAttack('21', 'a test at a path that is not there', {
    operations: () => [{ op: 'test', path: `/data${'/a'.repeat(5000)}`, value: 1 }], expected: [422] }),
  patchAttack('21', 'a path of a million steps', { operations: () => [{ op: 'add', path: '/a'.repeat(1_000_000), value: '1' }], expected: [422] }),
  patchAttack('21', 'a path of a million escapes', { operations: () => [{ op: 'add', path: `/data/${'~0~1'.repeat(500_000)}`, value: '1' }], expected: [422] }),
  patchAttack('22', 'a patch that renames', { operations: () => [{ op: 'replace', path: '/metadata/name', value: 'other' }], expected: [400, 422] }),
  patchAttack('21', '9,990 removals at the head of 600,000 items', {
    operations: () => [{ op: 'add', path: '/x', value: Array(600_000).fill(0) }, ...repeat(9990, { op: 'remove', path: '/x/0' })],
    expected: [200, 400, 413, 422],
  }),
  patchAttack('21', '9,990 inserts at the head of 50,000 finalizers', {
    operations: () => [{ op: 'add', path: '/metadata/finalizers', value: finalizers(50_000) },
      ...repeat(9990, { op: 'add', path: '/metadata/finalizers/0', value: 'x.y/z' })], expected: [200, 400, 413, 422] }),
  patchAttack('21', '9,990 moves of 50,000 finalizers to themselves', {
    operations: () => [{ op: 'add', path: '/metadata/finalizers', value: finalizers(50_000) },
      ...repeat(9990, { op: 'move', from: '/metadata/finalizers', path: '/metadata/finalizers' })], expected: [200, 400, 413, 422] }),
];

const wide = Object.fromEntries(Array.from({ length: 90_000 }, (_, index) => [`k${index}`, '']));

function writeAttack(number: string, name: string, { request, expected }: { readonly request: AttackRequest; readonly expected: readonly number[] }): Attack {
  return {
    number, name,
    async run(victim) {
      const answer = await send(victim, request);
      return { holds: expected.includes(answer.status), answer: `${describe(answer)} (wanted ${expected.join(' or ')})` };
    },
  };
}

const apply = (body: unknown, query = 'fieldManager=a'): AttackRequest =>
  ({ method: 'PATCH', path: `${CONFIG_MAPS}/wide?${query}&dryRun=All`, type: APPLY_PATCH, body });

/** Two appliers of 60,000 keys each that contradict each other in all of them. */
const conflict: Attack = {
  number: '24', name: 'an apply of 60,000 keys, all in conflict',
  async run(victim) {
    const keys = (value: string): object => Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, value]));
    const path = `${CONFIG_MAPS}/contested?fieldManager=`;
    await send(victim, { method: 'PATCH', path: `${path}one`, type: APPLY_PATCH, body: configMap('contested', keys('1')) });
    const answer = await send(victim, { method: 'PATCH', path: `${path}two`, type: APPLY_PATCH, body: configMap('contested', keys('2')) });
    await send(victim, { method: 'DELETE', path: `${CONFIG_MAPS}/contested` });
    return { holds: answer.status === 409 || answer.status === 422, answer: `${describe(answer)}, ${answer.text.length} bytes (wanted 409)` };
  },
};

const managers = Array.from({ length: 1000 }, (_, index) => ({
  manager: `m${index}`, operation: 'Update', apiVersion: 'v1', time: '2099-01-01T00:00:00Z', fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:a': {} } } }));

/** Patches of all types, wide objects, managed fields of others. */
export const patchAttacks: readonly Attack[] = [
  ...jsonPatches,
  writeAttack('24', 'a field manager of 129 characters', { request: apply(configMap('wide', {}), `fieldManager=${'m'.repeat(129)}`), expected: [400, 422] }),
  writeAttack('24', 'an apply without a manager', { request: apply(configMap('wide', {}), ''), expected: [400, 422] }),
  writeAttack('24', '1,000 managers in a create', {
    request: { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: configMap('x', { a: '' }, { managedFields: managers }) }, expected: [201] }),
  writeAttack('25', 'an apply with two containers of one name', {
    request: { method: 'PATCH', path: '/api/v1/namespaces/alice/pods/x?fieldManager=a&dryRun=All', type: APPLY_PATCH, body: {
      apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }, { name: 'c', image: 'j' }] } } },
    expected: [400, 422, 500] }),
  writeAttack('24', 'a create with 90,000 keys', {
    request: { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: configMap('wide', wide) }, expected: [201, 413, 422] }),
  writeAttack('24', 'an apply of 90,000 keys', { request: apply(configMap('wide', wide)), expected: [200, 201, 413, 422] }),
  writeAttack('33', 'a create with 90,000 labels', {
    request: { method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body: configMap('x', {}, { labels: wide }) }, expected: [201] }),
  conflict,
];
