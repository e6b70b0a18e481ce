// Allocation over a registry of its own: what Services get, what is refused, what comes back, and that no two Services get the same.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, parseIpRange } from '../../apimachinery/index.ts';
import { type Clock, createManualClock, systemRandom } from '../../base/index.ts';
import { type AdmissionAttributes, type Catalog, type Registry, type Resource, createCatalog, createRegistry } from '../../registry/index.ts';
import { type Store, createMemoryStore } from '../../storage/index.ts';
import { createAddressClaims, poolOf } from './addresses.ts';
import { createServiceAllocation } from './allocation.ts';
import { type PortRange, createPortClaims, parsePortRange } from './node-ports.ts';
import { takeAny } from './pool.ts';

function makeRow(group: string, [name, plural]: readonly [string, string], namespaced: boolean): Resource {
  const schema = { type: 'object', preserveUnknownFields: true } as never;
  return {
    group, kind: name, listKind: `${name}List`, plural, singular: name.toLowerCase(), shortNames: [], categories: [], namespaced,
    versions: [{ name: 'v1', served: true, schema, columns: [] }], storageVersion: 'v1', verbs: ['create', 'delete', 'get', 'list'], subresources: [],
    nameRule: 'path-segment', selectableFields: {}, createOnUpdate: false, unconditionalUpdate: true, returnsDeleted: false, defaultPropagation: 'Background',
    tracksGeneration: false, custom: true, storagePrefix: `${group}/${plural}`, strategy: {},
  };
}

const addresses = makeRow('networking.k8s.io', ['IPAddress', 'ipaddresses'], false);
const services = makeRow('', ['Service', 'services'], true);

/** One server on a store. */
function makeReplica(
  store: Store, ranges: readonly string[] = ['10.0.0.0/28'],
  { ports = '30000-32767', ready = [], clock: turnClock = createManualClock(0) }: { ports?: string; ready?: string[]; clock?: Clock } = {},
): Registry {
  const clock = createManualClock(0);
  const catalog: Catalog = createCatalog([addresses, services]);
  const reserver = createServiceAllocation({
    addresses: createAddressClaims(() => registry, () => addresses), ports: createPortClaims(store, '/registry'), random: systemRandom, clock: turnClock,
    portRange: parsePortRange(ports) as PortRange, ranges: ranges.map((range) => parseIpRange(range)!),
    listRanges: () => Promise.resolve(ready.map((range) => parseIpRange(range)!)), removeEndpoints: () => Promise.resolve(),
  });
  const admission = { mutate: () => Promise.resolve(), validate: () => Promise.resolve() };
  const registry = createRegistry({ store, catalog, clock, random: systemRandom, admission, trackUpdate: () => undefined, reserver });
  return registry;
}

const target = { resource: services, version: 'v1', namespace: 'ns' };
const contextOf = (dryRun: boolean): AdmissionAttributes['context'] => ({ user: { name: 'a', groups: [] }, dryRun, fieldManager: 't', warnings: [] });

async function create(registry: Registry, name: string, { spec, dryRun = false }: { readonly spec: object; readonly dryRun?: boolean }): Promise<Spec> {
  const object = { apiVersion: 'v1', kind: 'Service', metadata: { name, namespace: 'ns' }, spec: structuredClone(spec) } as unknown as KubeObject;
  const result = await registry.create({ ...target, object, context: contextOf(dryRun) });
  return result.object.object('v1')['spec'] as Spec;
}

async function change(registry: Registry, name: string, spec: object): Promise<Spec> {
  const result = await registry.update({
    ...target, name, subresource: '', createIfAbsent: false, context: contextOf(false),
    transform: (current) => structuredClone({ ...current, spec }) as KubeObject,
  });
  return result.object.object('v1')['spec'] as Spec;
}

test('a Service that was stored with clusterIP alone holds that address, and keeps it when it is changed', async () => {
  const store = createMemoryStore({ clock: createManualClock(0) });
  const registry = makeReplica(store);
  const { clusterIP } = await create(registry, 'a', { spec: { type: 'ClusterIP' } });
  const [stored] = (await store.range({ start: '', end: '\u{10ffff}' }) as { kvs: readonly { key: string; value: Uint8Array; modRevision: number }[] })
    .kvs.filter(({ key }) => key.endsWith('/ns/a'));
  const object = JSON.parse(new TextDecoder().decode(stored!.value)) as KubeObject;
  object['spec'] = { type: 'ClusterIP', clusterIP };
  await store.txn({ key: stored!.key, expect: stored!.modRevision, value: new TextEncoder().encode(JSON.stringify(object)) });
  const changed = await change(registry, 'a', { type: 'ClusterIP', clusterIP, sessionAffinity: 'None' });
  assert.deepEqual([changed.clusterIP, changed.clusterIPs], [clusterIP, [clusterIP]]);
});

test('a dry run shows the ports behind the largest that it has, and else behind 32768', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }));
  const portsOf = async (...ports: object[]): Promise<unknown[]> => {
    const spec = { type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports };
    const made = await create(registry, 'a', { spec, dryRun: true }) as Spec & { readonly healthCheckNodePort: number };
    return [...made.ports.map(({ nodePort }) => nodePort), made.healthCheckNodePort];
  };
  assert.deepEqual(await portsOf({ port: 1 }, { port: 2 }), [32769, 32770, 32771]);
  assert.deepEqual(await portsOf({ port: 1, nodePort: 65535 }), [65535, 65536]);
});

test('ports of nodes that are asked for are refused one by one, in dry runs as well', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24']);
  const ask = async (name: string, ports: readonly object[], dryRun: boolean): Promise<unknown> => {
    try {
      return (await create(registry, name, { spec: { type: 'NodePort', ports }, dryRun })).ports.map(({ nodePort }) => nodePort);
    } catch (error) {
      return String(error);
    }
  };
  const refusal = (port: number, index: number): RegExp => RegExp(`spec\\.ports\\[${index}\\]\\.nodePort: Invalid value: ${port}: provided port is already allocated$`);
  for (const dryRun of [true, false]) {
    const shared = [{ port: 80, nodePort: 30_001, protocol: 'TCP' }, { port: 80, nodePort: 30_001, protocol: 'UDP' }];
    assert.deepEqual(await ask('shared', shared, dryRun), [30_001, 30_001]);
    assert.match(String(await ask('split', [{ port: 80, nodePort: 30_002, protocol: 'TCP' }, { port: 81, nodePort: 30_002, protocol: 'UDP' }], dryRun)),
      refusal(30_002, 1));
    assert.deepEqual(await ask(`two-${dryRun}`, [{ port: 80, nodePort: 30_003, protocol: 'TCP' }, { port: 80, nodePort: 30_004, protocol: 'UDP' },
      { port: 80, protocol: 'SCTP' }], dryRun), [30_003, 30_004, 30_003]);
  }
  assert.match(String(await ask('late', [{ port: 80, nodePort: 30_001 }], true)), refusal(30_001, 0));
});

test('a dry run shows the address of the network, and takes any address of the range', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24']);
  const { clusterIP } = await create(registry, 'a', { spec: plain });
  assert.equal((await create(registry, 'b', { spec: plain, dryRun: true })).clusterIP, '10.0.0.0');
  assert.equal((await create(registry, 'b', { spec: { ...plain, clusterIP }, dryRun: true })).clusterIP, clusterIP);
  await assert.rejects(create(registry, 'b', { spec: { ...plain, clusterIP } }), /provided IP is already allocated/);
  await assert.rejects(create(registry, 'b', { spec: { ...plain, clusterIP: '10.1.0.1' }, dryRun: true }), /is not in the valid range/);
});

const remove = (registry: Registry, name: string) => registry.delete({ ...target, name, options: {}, context: contextOf(false) });

interface Spec {
  readonly clusterIP: string;
  readonly clusterIPs: readonly string[];
  readonly ipFamilies: readonly string[];
  readonly ipFamilyPolicy: string;
  readonly ports: readonly { readonly nodePort: number }[];
}

const plain = { type: 'ClusterIP', ports: [{ port: 80 }] };

test('createServiceAllocation gives every address once, to many creates on two replicas', async () => {
  const store = createMemoryStore({ clock: createManualClock(0) });
  const replicas = [makeReplica(store), makeReplica(store)];
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => create(replicas[i % 2]!, `s${i}`, { spec: plain })));
  const given = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.clusterIP] : []));
  assert.equal(given.length, 14);
  assert.equal(new Set(given).size, 14);
  const refused = results.find((result) => result.status === 'rejected');
  assert.match(String(refused?.reason), /failed to allocate a serviceIP: range is full/);
});

test('createServiceAllocation gives every port of nodes once', async () => {
  const store = createMemoryStore({ clock: createManualClock(0) });
  const replicas = [makeReplica(store, ['10.0.0.0/24']), makeReplica(store, ['10.0.0.0/24'])];
  const spec = { type: 'NodePort', ports: [{ name: 'a', port: 80 }, { name: 'b', port: 81 }] };
  const all = await Promise.all(Array.from({ length: 40 }, (_, i) => create(replicas[i % 2]!, `s${i}`, { spec })));
  const ports = all.flatMap((one) => one.ports.map(({ nodePort }) => nodePort));
  assert.equal(new Set(ports).size, 80);
  assert.ok(ports.every((port) => port >= 30_086 && port <= 32_767));
});

test('a change of the address that leaves out the list of addresses names the new one alone', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24']);
  await create(registry, 'a', { spec: plain });
  await assert.rejects(change(registry, 'a', { ...plain, clusterIP: '1.2.3' }),
    /is invalid: spec\.clusterIPs\[0\]: Invalid value: "1\.2\.3": must be a valid IP address, \(e\.g\. 10\.9\.8\.7 or 2001:db8::ffff\)$/);
});

test('createServiceAllocation gives one port of nodes to a port that a new Service has twice', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24']);
  const ports = [{ name: 'a', port: 80, protocol: 'TCP' }, { name: 'b', port: 80, protocol: 'TCP' }, { name: 'c', port: 81, protocol: 'TCP' }];
  const given = (await create(registry, 'a', { spec: { type: 'NodePort', ports } })).ports.map(({ nodePort }) => nodePort);
  assert.equal(given[0], given[1]);
  assert.notEqual(given[1], given[2]);
});

test('createServiceAllocation takes turns over the ports of a Service, by the clock of its server', async () => {
  let [nowMs, turns] = [0, 0];
  const clock: Clock = {
    ...createManualClock(0), monotonicMs: () => ++nowMs,
    after(_ms, run) {
      turns += 1;
      queueMicrotask(run);
      return { cancel() {} };
    },
  };
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24'], { clock });
  const ports = Array.from({ length: 100 }, (_, index) => ({ name: `p${index}`, port: index + 1, protocol: 'TCP' }));
  assert.equal(new Set((await create(registry, 'a', { spec: { type: 'NodePort', ports } })).ports.map(({ nodePort }) => nodePort)).size, 100);
  assert.ok(turns > 10, String(turns));
});

test('createServiceAllocation gives addresses of ready ranges only, where there are any', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/28'], { ready: ['10.9.0.0/29'] });
  assert.match((await create(registry, 'a', { spec: { type: 'ClusterIP', ports: [{ port: 80 }] } })).clusterIP, /^10\.9\.0\.[1-6]$/);
  const dual = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/28', 'fd00::/112'], { ready: ['10.9.0.0/29'] });
  const { clusterIPs } = await create(dual, 'a', { spec: { type: 'ClusterIP', ipFamilyPolicy: 'RequireDualStack', ports: [{ port: 80 }] } });
  assert.match(clusterIPs.join(), /^10\.9\.0\.[1-6],fd00::/);
});

test('parsePortRange reads the forms of the reference', () => {
  const forms = [['30000-32767', 30_000, 32_767], ['100+5', 100, 105], ['7', 7, 7], ['', 30_000, 32_767], ['0-0', 0, 0], [' 0-10 ', 0, 10]] as const;
  for (const [text, first, last] of forms) assert.deepEqual(parsePortRange(text), { first, last });
  const faults = [
    ['x', 'strconv.Atoi: parsing "x": invalid syntax'], ['1-2-3', 'strconv.Atoi: parsing "2-3": invalid syntax'],
    ['-5', 'strconv.Atoi: parsing "": invalid syntax'], ['5-4', 'end port cannot be less than start port: 5-4'],
    ['1-65536', 'the port range cannot be greater than 65535: 1-65536'], ['1-2+3', 'unable to parse port range: 1-2+3'],
  ] as const;
  for (const [text, problem] of faults) assert.equal(parsePortRange(text), problem);
});

test('createServiceAllocation gives out the port 0 of a range that begins with it, and shows none', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/28'], { ports: '0-0' });
  const spec = { type: 'NodePort', ports: [{ port: 80 }] };
  assert.deepEqual((await create(registry, 'a', { spec })).ports, [{ port: 80 }]);
  await assert.rejects(create(registry, 'b', { spec }), /failed to allocate a nodePort: range is full/);
});

test('createServiceAllocation stays within the range of ports of nodes', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/28'], { ports: '4000-4001' });
  const spec = { type: 'NodePort', ports: [{ port: 80 }] };
  const given = [await create(registry, 'a', { spec }), await create(registry, 'b', { spec })].map(({ ports: [port] }) => port?.nodePort);
  assert.deepEqual(given.sort(), [4000, 4001]);
  await assert.rejects(create(registry, 'c', { spec }), /range is full/);
  await assert.rejects(create(registry, 'd', { spec: { type: 'NodePort', ports: [{ port: 80, nodePort: 30_000 }] } }),
    /provided port is not in the valid range. The range of valid ports is 4000-4001/);
});

test('createServiceAllocation refuses what is taken, and gives it out again after the deletion', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }));
  const { clusterIP } = await create(registry, 'a', { spec: plain });
  const wish = { spec: { ...plain, clusterIP } };
  const why = `failed to allocate IP ${clusterIP}: provided IP is already allocated`;
  await assert.rejects(create(registry, 'b', wish), (error: Error) => error.message.includes(why));
  await assert.rejects(create(registry, 'b', { spec: { ...plain, clusterIP: '10.9.0.1' } }), /the provided network does not match the current range/);
  await assert.rejects(create(registry, 'b', { spec: { ...plain, clusterIP: '10.0.0.15' } }), /not in the valid range. The range of valid IPs is 10.0.0.0\/28/);
  await remove(registry, 'a');
  assert.equal((await create(registry, 'b', wish)).clusterIP, clusterIP);
});

test('createServiceAllocation takes nothing for dry runs and refused writes', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }));
  const spec = { type: 'NodePort', clusterIP: '10.0.0.5', ports: [{ port: 80, nodePort: 30_001 }] };
  await create(registry, 'a', { spec, dryRun: true });
  const bad = { ...spec, ports: [{ port: 80, nodePort: 30_001 }, { port: 81, nodePort: 8080 }] };
  await assert.rejects(create(registry, 'a', { spec: bad }), /spec.ports\[1\].nodePort: Invalid value: 8080: provided port is not in the valid range/);
  assert.equal((await create(registry, 'a', { spec })).ports[0]?.nodePort, 30_001);
  await assert.rejects(create(registry, 'a', { spec: plain }), /already exists/);
});

test('createServiceAllocation follows changes of the type', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }));
  const { clusterIP } = await create(registry, 'a', { spec: plain });
  const ported = await change(registry, 'a', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_002 }] });
  assert.equal(ported.clusterIP, clusterIP);
  assert.equal((await change(registry, 'a', { type: 'NodePort', ports: [{ port: 80 }] })).ports[0]?.nodePort, 30_002);
  await change(registry, 'a', { type: 'ExternalName', externalName: 'x.example.com' });
  const other = await create(registry, 'b', { spec: { type: 'NodePort', clusterIP, ports: [{ port: 80, nodePort: 30_002 }] } });
  assert.deepEqual([other.clusterIP, other.ports[0]?.nodePort], [clusterIP, 30_002]);
});

test('createServiceAllocation fills in families for one and for two ranges', async () => {
  const single = makeReplica(createMemoryStore({ clock: createManualClock(0) }));
  await assert.rejects(create(single, 'a', { spec: { ...plain, ipFamilies: ['IPv6'] } }), /not configured on this cluster/);
  await assert.rejects(create(single, 'a', { spec: { ...plain, clusterIPs: ['10.0.0.3'] } }), /must be empty when `clusterIP` is not specified/);
  const none = await create(single, 'none', { spec: { ...plain, clusterIP: 'None' } });
  assert.deepEqual([none.ipFamilies, none.ipFamilyPolicy, none.clusterIPs], [['IPv4', 'IPv6'], 'RequireDualStack', ['None']]);
  const dual = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24', 'fd00::/108']);
  const both = await create(dual, 'both', { spec: { ...plain, ipFamilyPolicy: 'RequireDualStack' } });
  assert.deepEqual(both.ipFamilies, ['IPv4', 'IPv6']);
  assert.match(both.clusterIPs[1] ?? '', /^fd00::/);
});

test('takeAny gives out the reserved part last', async () => {
  const taken = new Map();
  const claims = {
    claim: (key: string, owner: object) => Promise.resolve(!taken.has(key) && taken.set(key, owner) !== undefined),
    isTaken: (key: string) => Promise.resolve(taken.has(key)), release: () => Promise.resolve(), taken: () => Promise.resolve(taken),
  };
  const pool = poolOf(parseIpRange('10.0.0.0/27')!);
  const order: (string | undefined)[] = [];
  for (let i = 0; i < 31; i++) order.push(await takeAny({ claims, owner: { namespace: 'n', name: 's' }, random: systemRandom }, pool));
  const last = (ip: string | undefined): number => Number(ip?.split('.')[3]);
  assert.ok(order.slice(0, 14).every((ip) => last(ip) > 16));
  assert.ok(order.slice(14, 30).every((ip) => last(ip) <= 16));
  assert.equal(order[30], undefined);
});

test('a refused address is shown beside the place of each that is missing', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24', 'fd00::/112']);
  const spec = { ...plain, ipFamilyPolicy: 'RequireDualStack', clusterIP: '10.9.0.1' };
  await assert.rejects(create(registry, 'a', { spec }), /spec\.clusterIPs: Invalid value: \["10\.9\.0\.1",""\]: failed to allocate IP 10\.9\.0\.1: /);
});

test('a Service gives back an address or a family by a change to SingleStack alone', async () => {
  const registry = makeReplica(createMemoryStore({ clock: createManualClock(0) }), ['10.0.0.0/24', 'fd00::/112']);
  const { clusterIP, ...spec } = await create(registry, 'a', { spec: { ...plain, ipFamilyPolicy: 'RequireDualStack' } });
  const reduce = (fields: object): Promise<Spec> => change(registry, 'a', { ...spec, clusterIP, ...fields });
  const [ips, families] = [{ clusterIPs: [clusterIP] }, { ipFamilies: ['IPv4'] }];
  const text = (name: string): string => `spec.ipFamilyPolicy: Invalid value: "RequireDualStack": must be 'SingleStack' to release the secondary ${name}`;
  const refusal = (...names: string[]) => (error: Error): boolean => names.map(text).every((one) => error.message.includes(one));
  await assert.rejects(reduce(ips), refusal('cluster IP'));
  await assert.rejects(reduce(families), refusal('IP family'));
  await assert.rejects(reduce({ ...ips, ...families }), refusal('cluster IP', 'IP family'));
  assert.deepEqual((await reduce({ ...families, ipFamilyPolicy: 'SingleStack' })).clusterIPs, [clusterIP]);
});

test('a Service that prefers two families gets the second one when its type changes, and not before', async () => {
  const store = createMemoryStore({ clock: createManualClock(0) });
  const { clusterIP, ...spec } = await create(makeReplica(store, ['10.0.0.0/24']), 'a', { spec: { ...plain, ipFamilyPolicy: 'PreferDualStack' } });
  const dual = makeReplica(store, ['10.0.0.0/24', 'fd00::/112']);
  assert.deepEqual((await change(dual, 'a', { ...spec, clusterIP, sessionAffinity: 'None' })).ipFamilies, ['IPv4']);
  assert.deepEqual((await change(dual, 'a', { ...spec, clusterIP, type: 'NodePort' })).ipFamilies, ['IPv4', 'IPv6']);
});
