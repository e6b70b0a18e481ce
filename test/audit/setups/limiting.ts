// Lines about requests that are too many: the limits of a server without flow control, and priority levels that are full.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { inNamespace, kubeconfig, post } from './files.ts';

const map = (name: string, as: 'alice' | 'bob', rest: Partial<Request> = {}): Request => ({ path: `${inNamespace}/configmaps/${name}`, as, ...rest });
/** A request that the webhook holds: its answer is that of `end:`. */
const start = (name: string, as: 'alice' | 'bob', rest: Partial<Request> = {}): Request => map(`slow-${name}`, as,
  { path: `start:${name}${inNamespace}/configmaps/slow-${name}`, ...rest });
const end = (name: string): Request => ({ path: `end:${name}` });
const held = (count: number): Request => ({ path: `held:${count}` });
const release: Request = { path: 'release:' };

/** What all servers of this file have: a webhook that allows everything, and holds the answer where the name begins with "slow". */
const webhook = {
  flags: ['--authorization-mode=Webhook,RBAC', '--authorization-webhook-config-file={dir}/access.kubeconfig', '--authorization-webhook-version=v1'],
  files: { 'access.kubeconfig': kubeconfig('access') },
  hooks: {
    access({ apiVersion, kind, spec }: Json, hold: (answer: Json) => Promise<Json>): Json | Promise<Json> {
      const answer = { apiVersion, kind, status: { allowed: ['alice', 'bob'].includes(spec?.user) } };
      return String(spec?.resourceAttributes?.name).startsWith('slow') ? hold(answer) : answer;
    },
  },
};

export const inFlight: Setup = {
  name: 'in-flight', ...webhook,
  flags: [...webhook.flags, '--enable-priority-and-fairness=false', '--max-requests-inflight=2', '--max-mutating-requests-inflight=1',
    '--min-request-timeout=2'],
  rows: [
    { line: 'S-02 S-15', what: 'reads and writes beyond the limits, and who is exempt', requests: [start('one', 'alice'), start('two', 'bob'), held(2),
      map('quick', 'alice'), { path: `${inNamespace}/configmaps/quick` }, { ...post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}), as: 'alice' },
      start('three', 'alice', { method: 'DELETE' }), held(3), { ...post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}), as: 'alice' },
      { path: `${inNamespace}/configmaps?watch=1&timeoutSeconds=1`, as: 'alice' }, { path: '/version', as: 'alice', headers: { accept: 'text/plain' } },
      release, end('one'), end('two'), end('three'), map('quick', 'alice')] },
    { line: 'S-14', what: 'a watch that names no timeout ends by the flag', requests: [{ path: `${inNamespace}/configmaps?watch=1`, as: 'alice' }] },
  ],
};

const group = '/apis/flowcontrol.apiserver.k8s.io/v1';
/** A level with one seat, which takes the requests for ConfigMaps of one user. */
const makeLevel = (user: 'alice' | 'bob', limitResponse: Json): readonly Request[] => [
  post(`${group}/prioritylevelconfigurations`, { metadata: { name: '{id}' }, spec: { type: 'Limited', limited: { nominalConcurrencyShares: 2,
    lendablePercent: 0, borrowingLimitPercent: 0, limitResponse } } }),
  post(`${group}/flowschemas`, { metadata: { name: '{id}' }, spec: { priorityLevelConfiguration: { name: '{id}' }, matchingPrecedence: 10,
    rules: [{ subjects: [{ kind: 'User', user: { name: user } }], resourceRules: [{ verbs: ['*'], apiGroups: [''], resources: ['configmaps'],
      namespaces: ['{ns}'] }] }] } }),
  { path: `${group}/flowschemas/{id}`, until: { field: 'status.conditions.0.status', equals: 'False' } },
  { path: 'values:apiserver_flowcontrol_nominal_limit_seats?{id}', until: { field: '0.value', equals: '1' } },
];
const shown = ['x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid', 'retry-after'];
const isWaiting: Request = { path: 'values:apiserver_flowcontrol_current_inqueue_requests?{id}', until: { field: '0.value', equals: '1' } };
const dumps = '/debug/api_priority_and_fairness';
const levelColumns = 'PriorityLevelName,ActiveQueues,IsIdle,IsQuiescing,WaitingRequests,ExecutingRequests,RejectedRequests,TimedoutRequests';
const requestColumns = 'PriorityLevelName,FlowSchemaName,QueueIndex,RequestIndexInQueue,InitialSeats,FinalSeats,UserName,Verb,APIPath,Namespace,Name,Resource';

export const fairness: Setup = {
  name: 'fairness', ...webhook,
  flags: [...webhook.flags, '--max-requests-inflight=70', '--max-mutating-requests-inflight=50'],
  rows: [
    { line: 'S-01', what: 'the sum of both limits is what levels share', requests: [
      { path: 'values:apiserver_flowcontrol_nominal_limit_seats?catch-all', until: { field: '0.value', equals: '3' } },
      { path: 'values:apiserver_flowcontrol_nominal_limit_seats' }] },
    { line: 'S-06', what: 'a level that refuses', requests: [...makeLevel('bob', { type: 'Reject' }), start('six', 'bob'), held(1),
      map('quick', 'bob', { shows: shown }), map('quick', 'alice', { shows: shown }), { path: 'values:apiserver_flowcontrol_rejected_requests_total?{id}' },
      release, end('six'), map('quick', 'bob', { shows: shown })] },
    { line: 'S-07 S-11', what: 'a level that lets wait, for a quarter of the time that a request has, and what it shows', requests: [
      ...makeLevel('alice', { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } }), start('seven', 'alice'), held(1),
      map('other', 'alice', { path: `start:waits${inNamespace}/configmaps/other?timeout=12s` }), isWaiting, map('third', 'alice', { shows: shown }),
      { path: `columns:${levelColumns}?{id}${dumps}/dump_priority_levels` },
      { path: `columns:PriorityLevelName,Index,PendingRequests,ExecutingRequests,SeatsInUse?{id}${dumps}/dump_queues` },
      { path: `columns:${requestColumns}?{id}${dumps}/dump_requests?includeRequestDetails=1` }, { path: `columns:?{id}${dumps}/dump_requests` },
      end('waits'), { path: 'values:apiserver_flowcontrol_rejected_requests_total?{id}' }, release, end('seven')] },
  ],
};
