// What RBAC costs with 1,000 roles and 10,000 bindings: a decision, for callers with few and with many bindings of their own, allowed and refused; and
// gets of a normal user at 64 clients, beside a server with the same objects that allows everything, in rounds that take turns.
import { pathToFileURL } from 'node:url';
import { createRbacAuthorizer } from '../src/auth/index.ts';
import { PolicyStore, makeBinding, makeRequest, makeRole } from '../src/auth/authorize/testing.ts';
import { type Row, callOnce, measureLoad, quantile } from './load/measure.ts';
import { collection, nameOf, populate } from './load/objects.ts';
import { type Target, callerToken, startOwnServer } from './load/target.ts';

/** One measurement: microseconds for each of `count` decisions. */
interface Measurement {
  readonly name: string;
  readonly usPer: number;
  readonly count: number;
}

const roles = 1000;
const allGroups = 'g1 g2 g3 system:authenticated';

function fill(bindings: number): PolicyStore {
  const store = new PolicyStore();
  for (let i = 0; i < roles; i++) {
    const own = { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: [`things${i}`, 'pods'] };
    store.put(makeRole('', `r${i}`, own, { verbs: ['watch'], apiGroups: ['x'], resources: ['*'] }));
  }
  for (let i = 0; i < bindings; i++) {
    const binding = makeBinding(`ns${i % 100}`, `ClusterRole/r${i % roles}`, { kind: 'User', name: i < 200 ? 'busy' : `user${i % 5000}` });
    store.put({ ...binding, metadata: { ...binding.metadata, name: `b${i}` } });
  }
  store.put(makeRole('', 'everybody', { verbs: ['get'], nonResourceURLs: ['/api', '/api/*', '/version'] }));
  store.put(makeBinding('', 'ClusterRole/everybody', { kind: 'Group', name: 'system:authenticated' }));
  return store;
}

/** Times decisions among so many bindings for `seconds` per case. */
async function measureDecisions(bindings: number, seconds: number): Promise<Measurement[]> {
  const authorize = createRbacAuthorizer(await fill(bindings).open(), Promise.resolve());
  const cases: readonly (readonly [string, ReturnType<typeof makeRequest>])[] = [
    ['allowed, one binding of its own', makeRequest(`user4321 ${allGroups}`, 'get pods x', 'ns21')],
    ['refused, one binding of its own', makeRequest(`user4321 ${allGroups}`, 'delete pods x', 'ns21')],
    ['refused, no binding of its own', makeRequest(`nobody ${allGroups}`, 'get pods x', 'ns21')],
    ['refused, 200 bindings in 100 namespaces', makeRequest(`busy ${allGroups}`, 'delete pods x', 'ns21')],
    ['discovery', makeRequest(`nobody ${allGroups}`, 'get /api/v1')],
  ];
  await authorize((cases[0] as (typeof cases)[number])[1]);
  return cases.map(([name, request]) => {
    const endMs = performance.now() + seconds * 1000;
    const startMs = performance.now();
    let count = 0;
    for (; performance.now() < endMs; count += 100) for (let i = 0; i < 100; i++) void authorize(request);
    return { name: `${bindings} bindings: ${name}`, usPer: ((performance.now() - startMs) * 1000) / count, count };
  });
}

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

/** Roles and bindings of others, and the one binding that lets the caller read. */
async function fillServer(target: Target, bindings: number): Promise<void> {
  await populate(target, 1000);
  for (let i = 0; i < 100; i++) {
    const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: `ns${i}` } });
    await callOnce(target, { method: 'POST', path: '/api/v1/namespaces', body });
  }
  const makeAll = async (count: number, call: (index: number) => { readonly path: string; readonly object: unknown }): Promise<void> => {
    const limited = { workload: 'fill', clients: 32, seconds: 60, limit: count };
    await measureLoad(target, {
      ...limited, call(index) {
        const { path, object } = call(index);
        return { method: 'POST', path, body: JSON.stringify(object) };
      },
    });
  };
  const rule = { verbs: ['get', 'list'], apiGroups: ['', 'apps'], resources: ['configmaps'] };
  await makeAll(roles, (index) => ({
    path: `${rbac}/clusterroles`, object: { metadata: { name: `r${index}` }, rules: [{ ...rule, resources: [`things${index}`, 'configmaps'] }] },
  }));
  await makeAll(bindings, (index) => {
    const roleRef = { apiGroup, kind: 'ClusterRole', name: `r${index % roles}` };
    const subjects = [{ kind: 'User', apiGroup, name: `user${index % 5000}` }];
    return { path: `${rbac}/namespaces/ns${index % 100}/rolebindings`, object: { metadata: { name: `b${index}` }, roleRef, subjects } };
  });
  const own = { metadata: { name: 'own' }, roleRef: { apiGroup, kind: 'ClusterRole', name: 'r1' }, subjects: [{ kind: 'User', apiGroup, name: 'caller' }] };
  await callOnce(target, { method: 'POST', path: `${rbac}/namespaces/bench/rolebindings`, body: JSON.stringify(own) });
}

type Mode = 'RBAC' | 'AlwaysAllow';

interface PairOptions {
  readonly bindings: number;
  readonly rounds: number;
  readonly seconds: number;
}

/** Rounds of two servers that take turns. */
async function measurePair(modes: readonly [Mode, Mode], { bindings, rounds, seconds }: PairOptions) {
  const servers = await Promise.all(modes.map((mode) => startOwnServer(['--authorization-mode', mode])));
  try {
    for (const server of servers) await fillServer(server, bindings);
    const rows: Record<Mode, Row[]> = { RBAC: [], AlwaysAllow: [] };
    const load = { workload: 'get', clients: 64, call: (index: number) => ({ path: `${collection}/${nameOf('item', (index * 7919) % 1000)}` }) };
    for (let round = -1; round < rounds; round++) {
      // The two take turns in starting a round; the first round warms up and does not count.
      for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
        const row = await measureLoad({ ...servers[which] as Target, token: callerToken }, { ...load, seconds });
        if (round >= 0) rows[modes[which] as Mode].push(row);
      }
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.close()));
  }
}

/**
 * Gets with RBAC beside gets that everybody may: medians of short rounds, and of what RBAC loses and takes within each round. The server that
 * is started first is the slower one, whatever its mode, so each mode is first once and the two outcomes are averaged.
 */
export async function measureGets(bindings: number, { rounds, seconds }: { readonly rounds: number; readonly seconds: number }) {
  const pairs = [
    await measurePair(['RBAC', 'AlwaysAllow'], { bindings, rounds: rounds / 2, seconds }),
    await measurePair(['AlwaysAllow', 'RBAC'], { bindings, rounds: rounds / 2, seconds }),
  ];
  const median = (mode: Mode, of: (row: Row) => number): number => quantile(pairs.flatMap((rows) => rows[mode].map(of)), 0.5);
  const ratio = (of: (row: Row) => number): number => Math.sqrt(pairs.map((rows) =>
    quantile(rows.RBAC.map((row, index) => of(row) / of(rows.AlwaysAllow[index] as Row)), 0.5)).reduce((one, two) => one * two, 1));
  const [rateOf, cpuOf] = [(row: Row) => row.opsPerSecond, (row: Row) => row.cpuMsPerOp];
  return {
    rate: median('RBAC', rateOf), allowedRate: median('AlwaysAllow', rateOf), loss: 1 - ratio(rateOf),
    cpuMs: median('RBAC', cpuOf), allowedCpuMs: median('AlwaysAllow', cpuOf), cpuRatio: ratio(cpuOf),
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const bindings of [0, 1000, 10_000]) {
    for (const { name, usPer } of await measureDecisions(bindings, 0.1)) console.log(`${name}: ${usPer.toFixed(2)} µs`);
  }
  const found = await measureGets(10_000, { rounds: 32, seconds: 0.4 });
  const percent = (part: number): string => `${(part * 100).toFixed(1)} %`;
  console.log(`gets at 64 clients: RBAC ${found.rate}/s, AlwaysAllow ${found.allowedRate}/s: loses ${percent(found.loss)}`);
  console.log(`CPU of a get: RBAC ${found.cpuMs} ms, AlwaysAllow ${found.allowedCpuMs} ms: ratio ${found.cpuRatio.toFixed(3)}`);
}
