// Lines about a store of several etcds.
import type { Setup } from '../row.ts';
import { configMap, inNamespace, post } from './files.ts';

const run = (overrides: string) => ({ path: `run:--etcd-servers=http://127.0.0.1:1 --etcd-servers-overrides=${overrides}` });
const look = (resource: string) => [{ path: `etcd:/registry/${resource}/{ns}/` }, { path: `etcd2:/registry/${resource}/{ns}/` }];
const maps = `${inNamespace}/configmaps`;
const event = { metadata: { name: 'e' }, involvedObject: { namespace: '{ns}', kind: 'Pod', name: 'p' }, reason: 'R', message: 'm' };

export const parting: Setup = {
  name: 'parting',
  isOnEtcd: true,
  hasOtherEtcd: true,
  flags: ['--storage-media-type=application/vnd.kubernetes.protobuf',
    '--etcd-servers-overrides=/configmaps#{otherEtcd},/events#{otherEtcd},apps/*#{otherEtcd},things.example.com/things#{otherEtcd}'],
  rows: [
    { line: 'V-12', what: 'resources in another etcd', requests: [
      configMap('a'), post(`${inNamespace}/secrets`, { metadata: { name: 's' } }), post(`${inNamespace}/events`, event),
      post('/apis/apps/v1/namespaces/{ns}/controllerrevisions', { metadata: { name: 'c' }, revision: 1, data: { a: 'b' } }),
      ...['configmaps', 'secrets', 'events', 'controllerrevisions'].flatMap(look),
      { path: maps, save: { at: 'metadata.resourceVersion' } }, configMap('b'), { path: `${maps}/b` },
      { path: `${maps}?watch=1&timeoutSeconds=1&resourceVersion={at}` }, { path: `${maps}?limit=1`, save: { more: 'metadata.continue' } },
      { path: `${maps}?limit=1&continue={more}` }, { method: 'PATCH', path: `${maps}/a`, type: 'application/merge-patch+json', body: { data: { k: 'w' } } },
      { path: `${maps}?resourceVersion={at}&resourceVersionMatch=Exact` }, { method: 'DELETE', path: `${maps}/a` }, ...look('configmaps')] },
    { line: 'V-12', what: 'health of another etcd', requests: [...['/healthz/etcd-override-0', '/livez/etcd-override-0', '/readyz/etcd-override-readiness-0',
      '/readyz/etcd-override-1', '/livez/etcd-override-readiness-0', '/api/v1/componentstatuses/etcd-1'].map((path) => ({ path }))] },
    { line: 'V-12', what: 'overrides that are none', requests: ['pods', '/pods#', '/pods#http://127.0.0.1:1;', 'a/b/c#http://127.0.0.1:1',
      '/pods#http://127.0.0.1:1#2'].map(run) },
  ],
};
