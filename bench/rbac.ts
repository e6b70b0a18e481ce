// What a decision costs with 1,000 roles and 10,000 bindings, for callers with few and with many bindings of their own, allowed and refused.
import { pathToFileURL } from 'node:url';
import { createRbacAuthorizer } from '../src/auth/index.ts';
import { PolicyStore, makeBinding, makeRequest, makeRole } from '../src/auth/authorize/testing.ts';

/** One measurement: microseconds for each of `count` decisions. */
export interface Measurement {
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
export async function measureDecisions(bindings: number, seconds: number): Promise<Measurement[]> {
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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const bindings of [0, 1000, 10_000]) {
    for (const { name, usPer } of await measureDecisions(bindings, 0.5)) console.log(`${name}: ${usPer.toFixed(2)} µs`);
  }
}
