// Lines about watches that stay open, requests that come at once, and connections: they need steps that no single request is.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, letIn, post, rbac } from './files.ts';

const maps = `${inNamespace}/configmaps`;
const merge = 'application/merge-patch+json';
const flow = '/apis/flowcontrol.apiserver.k8s.io/v1';
const together = (count: number, ...body: readonly Request[]): Request => ({ path: `together:${count}`, body });
const less = (...body: readonly [string, string]): Request => ({ path: 'less:', body });
const update = (metadata: Json, data: Json): Request => ({ method: 'PATCH', path: `${maps}/a?fieldManager=m`, type: merge, body: { metadata, data } });
/** A priority level for alice alone, with these of the shares of all and the seats that they come to. */
const ownLevel = (shares: number, seats: number): readonly Request[] => [
  post(`${flow}/prioritylevelconfigurations`, { metadata: { name: 'own-{id}' }, spec: { type: 'Limited', limited: { nominalConcurrencyShares: shares,
    lendablePercent: 0, borrowingLimitPercent: 0, limitResponse: { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 50 } } } } }),
  post(`${flow}/flowschemas`, { metadata: { name: 'own-{id}' }, spec: { matchingPrecedence: 10, priorityLevelConfiguration: { name: 'own-{id}' },
    rules: [{ subjects: [{ kind: 'User', user: { name: 'alice' } }], resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'],
      namespaces: ['*'] }] }] } }),
  { path: 'metric:apiserver_flowcontrol_nominal_limit_seats?priority_level="own-{id}"', until: { field: 'value', equals: seats } },
];

export const streaming: Setup = {
  name: 'streaming',
  // Seats are few, so that a share of one is a seat.
  flags: ['--max-requests-inflight=20', '--max-mutating-requests-inflight=10'],
  rows: [
    { line: 'B-29 B-40', what: 'the description in v2 is there from the start, with all paths and definitions', requests: [
      { path: '/openapi/v2', parts: ['/swagger', '/info/title', '/paths#', '/definitions#'] }] },
    { line: 'A-30', what: 'pings of HTTP/2', requests: [{ path: 'ping:' }] },
    { line: 'A-55', what: 'no port without TLS', requests: [{ path: 'run:--insecure-port=8080' }, { path: 'run:--insecure-bind-address=127.0.0.1' },
      { path: 'clear:' }] },
    { line: 'D-46', what: 'creations of one name at once', requests: [together(20, configMap('a')), { path: `${maps}/a` },
      together(20, post('/apis/coordination.k8s.io/v1/namespaces/{ns}/leases', { metadata: { name: 'l' }, spec: { holderIdentity: '{n}' } }))] },
    { line: 'F-18', what: 'the time of an entry is that of its last change of fields', requests: [
      { ...post(`${maps}?fieldManager=m`, { metadata: { name: 'a' }, data: { k: '1' } }), save: { first: 'metadata.managedFields.0.time' } },
      { ...update({}, { k: '2' }), pauseMs: 1100, save: { second: 'metadata.managedFields.0.time' } }, less('{first}', '{second}'),
      { ...update({ labels: { a: 'b' } }, {}), save: { third: 'metadata.managedFields.0.time' } }, less('{first}', '{third}')] },
    { line: 'I-21', what: 'deletions while finalizers are taken away', requests: [
      together(10, configMap('a{n}', { metadata: { name: 'a{n}', finalizers: ['example.com/a'] } })),
      together(10, { method: 'DELETE', path: `${maps}/a{n}` }, { method: 'PATCH', path: `${maps}/a{n}`, headers: { 'content-type': merge },
        body: { metadata: { finalizers: null } } }), { path: `${maps}?fieldSelector=metadata.name!%3Dkube-root-ca.crt`, parts: ['/items#'] }] },
    { line: 'J-47', what: 'a list of everything has no end of its own', requests: [together(600, configMap('a{n}')),
      ...['', '?limit=0', '?limit=100000', '?limit=500'].map((query) => ({ path: `${maps}${query}`, parts: ['/items#', '/metadata/remainingItemCount'] }))] },
    { line: 'K-33', what: 'a watch ends with the connection of its client', requests: [...['a', 'b', 'c'].map((name) => ({
      path: `open:${name}${inNamespace}/podtemplates?watch=1` })), { path: 'metric:apiserver_longrunning_requests?resource="podtemplates"' },
      ...['a', 'b', 'c'].map((name) => ({ path: `close:${name}` })),
      { path: 'metric:apiserver_longrunning_requests?resource="podtemplates"', until: { field: 'value', equals: 0 } },
      { path: 'metric:apiserver_longrunning_requests?resource="podtemplates"' }] },
    { line: 'K-34', what: 'a watch goes on when the right to it is gone', requests: [...letIn, { path: `open:w${maps}?watch=1&fieldSelector=metadata.name%3Da`,
      as: 'alice' }, { method: 'DELETE', path: `${rbac}/rolebindings/b` }, { path: maps, as: 'alice', until: { field: 'code', equals: 403 } },
      { path: `open:x${maps}?watch=1`, as: 'alice' }, configMap('a'), { path: 'heard:w?1' }] },
    { line: 'K-40', what: 'bookmarks of a kind without changes follow the changes of others', requests: [
      { path: `open:w${inNamespace}/podtemplates?watch=1&allowWatchBookmarks=true&timeoutSeconds=5` },
      { ...configMap('a'), save: { rv: 'metadata.resourceVersion' } }, { path: `${inNamespace}/podtemplates` },
      { path: 'heard:w', until: { field: 'end', equals: 'ended' }, save: { mark: 'events.1.metadata.resourceVersion' } }, less('{mark}', '{rv}')] },
    { line: 'K-23', what: 'watches give their seats back once they have begun', requests: [...letIn, ...ownLevel(1, 1),
      ...['a', 'b', 'c'].map((name): Request => ({ path: `open:${name}${maps}?watch=1`, as: 'alice' })), { path: maps, as: 'alice' },
      { path: 'metric:apiserver_flowcontrol_current_executing_seats?priority_level="own-{id}"', until: { field: 'value', equals: 0 } },
      { path: 'metric:apiserver_flowcontrol_current_executing_seats?priority_level="own-{id}"' }] },
    { line: 'J-43 S-08', what: 'a list of which nothing is known takes the most seats', requests: [...letIn, ...ownLevel(1000, 25),
      { path: `${maps}?limit=abc`, as: 'alice' }, { path: 'metric:apiserver_flowcontrol_work_estimated_seats_sum?priority_level="own-{id}"' }] },
    { line: 'K-21', what: 'a watch that is not read for a while', requests: [{ path: `open:w${maps}?watch=1` }, { path: 'rest:w' },
      together(300, configMap('a{n}', { data: { k: 'v'.repeat(100_000) } })), { path: 'caughtup:w?300' }] },
  ],
};
