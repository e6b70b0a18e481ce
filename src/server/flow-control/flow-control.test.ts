// Priority and fairness without a server: which schema matches, which requests get a seat, wait or are refused.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createManualClock } from '../../base/index.ts';
import { parseRequestInfo } from '../../endpoints/index.ts';
import { type Flow, FlowControl, checkSeats } from './flow-control.ts';
import { dealHand } from './shards.ts';

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};
const group = (name: string) => ({ kind: 'Group', group: { name } });
const schema = (name: string, spec: object): KubeObject => ({
  apiVersion: '', kind: 'FlowSchema', metadata: { name, uid: `fs-${name}` },
  spec: { priorityLevelConfiguration: { name: 'low' }, matchingPrecedence: 1000, distinguisherMethod: { type: 'ByUser' }, ...spec } as never,
});
const level = (name: string, limited: object): KubeObject =>
  ({ apiVersion: '', kind: 'PriorityLevelConfiguration', metadata: { name, uid: `pl-${name}` }, spec: { type: 'Limited', limited } as never });
const queuing = (rest: object = {}) => ({ type: 'Queue', queuing: { queues: 16, handSize: 4, queueLengthLimit: 2, ...rest } });

function start(seats: number, ...levels: KubeObject[]) {
  const clock = createManualClock();
  const flowControl = new FlowControl({ clock, seats, requestTimeoutMs: 60_000 });
  for (const one of levels) flowControl.putLevel(one);
  return { clock, flowControl };
}

const info = (path: string, method = 'GET') => parseRequestInfo({ method, path, query: new URLSearchParams() });
const alice = { name: 'alice', groups: ['devs', 'system:authenticated'] };
const bob = { name: 'bob', groups: ['ops', 'system:authenticated'] };
const never = () => {};
const holder = { method: 'GET', path: '/version', user: alice, unreadSinceMs: undefined, cut: never };

describe('FlowControl.classify', () => {
  const { flowControl } = start(10, level('low', {}), level('high', {}));
  const account = { kind: 'ServiceAccount', serviceAccount: { name: '*', namespace: 'kube-system' } };
  flowControl.putSchema(schema('last', { matchingPrecedence: 9000, rules: [{ subjects: [group('*')], ...everything }] }));
  flowControl.putSchema(schema('dangling', { matchingPrecedence: 1, priorityLevelConfiguration: { name: 'gone' },
    rules: [{ subjects: [group('*')], ...everything }] }));
  flowControl.putSchema(schema('leases', {
    matchingPrecedence: 10, priorityLevelConfiguration: { name: 'high' },
    rules: [{
      subjects: [account, { kind: 'User', user: { name: 'alice' } }],
      resourceRules: [{ verbs: ['get', 'update'], apiGroups: ['coordination.k8s.io'], resources: ['leases', 'leases/status'], namespaces: ['a'] }],
    }],
  }));
  flowControl.putSchema(schema('probes', {
    matchingPrecedence: 5, rules: [{ subjects: [group('devs')], nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/x/*'] }] }],
  }));
  const leases = '/apis/coordination.k8s.io/v1/namespaces';
  const name = (user: typeof alice, path: string, method?: string) => flowControl.classify(user, info(path, method))?.schema.name;

  it('matches verbs, groups, resources and namespaces', () => {
    assert.equal(name(alice, `${leases}/a/leases/x`), 'leases');
    assert.equal(name(alice, `${leases}/a/leases/x/status`), 'leases');
    assert.equal(name(alice, `${leases}/a/leases/x`, 'DELETE'), 'last');
    assert.equal(name(alice, `${leases}/b/leases/x`), 'last');
    assert.equal(name(alice, '/api/v1/namespaces/a/configmaps/x'), 'last');
    assert.equal(name(bob, `${leases}/a/leases/x`), 'last');
  });

  it('asks for clusterScope where there is no namespace', () => {
    assert.equal(name(alice, '/apis/coordination.k8s.io/v1/leases'), 'last');
  });

  it('knows service accounts by namespace', () => {
    assert.equal(name({ name: 'system:serviceaccount:kube-system:x', groups: [] }, `${leases}/a/leases/x`), 'leases');
    assert.equal(name({ name: 'system:serviceaccount:kube-system-2:x', groups: [] }, `${leases}/a/leases/x`), 'last');
  });

  it('matches paths and what is below them', () => {
    assert.equal(name(alice, '/healthz'), 'probes');
    assert.equal(name(alice, '/healthz/etcd'), 'probes');
    assert.equal(name(alice, '/healthzz'), 'last');
    assert.equal(name(alice, '/x/y'), 'probes');
    assert.equal(name(bob, '/healthz'), 'last');
  });

  it('names schema and level in headers', () => {
    assert.deepEqual(flowControl.classify(bob, info('/api/v1/pods'))?.headers,
      { 'x-kubernetes-pf-flowschema-uid': 'fs-last', 'x-kubernetes-pf-prioritylevel-uid': 'pl-low' });
  });

  it('follows the objects', () => {
    flowControl.putSchema(schema('first', { matchingPrecedence: 2, rules: [{ subjects: [group('ops')], ...everything }] }));
    assert.equal(name(bob, '/healthz'), 'first');
    flowControl.removeSchema('first');
    assert.equal(name(bob, '/healthz'), 'last');
  });
});

describe('FlowControl.tryTake and wait', () => {
  const flowOf = (flowControl: FlowControl, user = alice): Flow => flowControl.classify(user, info('/api/v1/pods')) as Flow;
  const all = schema('all', { rules: [{ subjects: [group('*')], ...everything }] });
  const who = (user: typeof alice, timeoutMs = 60_000) => ({ user, info: info('/api/v1/pods'), timeoutMs });

  it('turns away at once in a level that does not queue', async () => {
    const { flowControl } = start(1, level('low', { limitResponse: { type: 'Reject' } }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    assert.ok(flowControl.tryTake(flow));
    assert.ok(!flowControl.tryTake(flow));
    assert.equal(await flowControl.wait(flow, who(alice), never), 'concurrency-limit');
    flowControl.release(flowControl.hold(flow, holder));
    assert.ok(flowControl.tryTake(flow));
  });

  it('lets the next one in when a seat is free, and turns away beyond the queue', async () => {
    const { flowControl } = start(1, level('low', { limitResponse: queuing({ queues: 1, handSize: 1 }) }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    assert.ok(flowControl.tryTake(flow));
    const waiting = [1, 2].map(() => flowControl.wait(flow, who(alice), never));
    assert.equal(await flowControl.wait(flow, who(alice), never), 'queue-full');
    flowControl.release(flowControl.hold(flow, holder));
    assert.equal(await waiting[0], undefined);
    assert.ok(!flowControl.tryTake(flow), 'who came first is first');
    flowControl.release(flowControl.hold(flow, holder));
    assert.equal(await waiting[1], undefined);
  });

  it('dump shows requests that wait and requests that run in the queues of their flows', () => {
    const { flowControl } = start(1, level('low', { limitResponse: queuing({ queues: 1, handSize: 1 }) }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    assert.ok(flowControl.tryTake(flow));
    flowControl.hold(flow, { ...holder, user: alice });
    void flowControl.wait(flow, who(bob), never);
    const { queues, unqueued } = flowControl.dump().levels.find(({ name }) => name === 'low')!;
    assert.deepEqual([queues.map(({ requests }) => requests.map(({ user, place }) => [user.name, place])), unqueued], [[[['bob', 0], ['alice', -1]]], []]);
  });

  it('gives up after a quarter of the time that a request has, and forgets clients that went away', async () => {
    const { clock, flowControl } = start(1, level('low', { limitResponse: queuing() }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    assert.ok(flowControl.tryTake(flow));
    let leave = never;
    const gone = flowControl.wait(flow, who(bob), (callback) => {
      leave = callback;
    });
    leave();
    assert.equal(await gone, 'cancelled');
    const late = flowControl.wait(flow, who(alice), never);
    clock.advance(15_000);
    assert.equal(await late, 'time-out');
    const hasty = flowControl.wait(flow, who(alice, 8000), never);
    clock.advance(2000);
    assert.equal(await hasty, 'time-out');
    assert.equal(flow.level.waiting, 0);
    assert.deepEqual([...flow.counts.rejected], [['cancelled', 1], ['time-out', 2]]);
  });

  it('gives a seat back once, and names those that are held past the deadline of their requests', () => {
    const { clock, flowControl } = start(4, level('low', { limitResponse: queuing() }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    const [first, second] = [0, 1].map(() => {
      assert.ok(flowControl.tryTake(flow));
      return flowControl.hold(flow, holder);
    });
    assert.ok(first !== undefined && second !== undefined);
    flowControl.release(first);
    flowControl.release(first);
    assert.equal(flow.level.usedSeats, 1);
    clock.advance(89_999);
    assert.deepEqual(flowControl.stuckSeats(), []);
    clock.advance(1);
    assert.deepEqual(flowControl.stuckSeats(), [{ ...second, heldMs: 90_000 }]);
    const [sample] = flowControl.samples().filter(({ name }) => name === 'pintle_flowcontrol_stuck_seats');
    assert.deepEqual(sample, { name: 'pintle_flowcontrol_stuck_seats', labels: { priority_level: 'low' }, value: 1 });
    assert.throws(() => checkSeats(flowControl), /^Error: 1 seats are stuck, the first since 90 s: GET \/version of alice in low$/);
    flowControl.release(second);
    assert.doesNotThrow(() => checkSeats(flowControl));
  });

  it('gives the seats of answers back that their clients do not read, and cuts the oldest of the user with the most of them', async () => {
    const { clock, flowControl } = start(22, level('low', { limitResponse: queuing() }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    const cut: string[] = [];
    const answer = (name: string, unreadSinceMs: number | undefined, user = alice) => {
      assert.ok(flowControl.tryTake(flow), name);
      return flowControl.hold(flow, { ...holder, user, unreadSinceMs, cut: () => cut.push(name) });
    };
    const unreadCount = (): number | undefined => flowControl.samples().find(({ name }) => name === 'pintle_flowcontrol_unread_answers')?.value;
    const at = clock.monotonicMs();
    answer('bob', at, bob);
    const ended = answer('alice ended', at);
    for (let i = 0; i < 19; i++) answer(`alice ${i}`, at);
    const read = answer('read', undefined);
    const waiting = flowControl.wait(flow, who(alice), never);
    clock.advance(1000);
    assert.equal(await waiting, undefined);
    assert.deepEqual([flow.level.usedSeats, unreadCount(), cut], [2, 21, []]);
    flowControl.release(ended);
    assert.deepEqual([flow.level.usedSeats, unreadCount()], [2, 20]);
    for (let i = 0; i < 3; i++) answer(`later ${i}`, clock.monotonicMs());
    clock.advance(1000);
    assert.deepEqual([flow.level.usedSeats, unreadCount(), cut], [2, 22, ['alice 0']]);
    flowControl.release(read);
    flowControl.release(read);
    assert.equal(flow.level.usedSeats, 1);
  });

  it('serves flows in turn, however long the queue of one of them is', async () => {
    const { flowControl } = start(1, level('low', { limitResponse: queuing({ queues: 128, handSize: 1, queueLengthLimit: 50 }) }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    assert.ok(flowControl.tryTake(flow));
    const order: string[] = [];
    const queued = [alice, alice, alice, alice, bob].map((user) => flowControl.wait(flow, who(user), never).then(() => order.push(user.name)));
    for (const _ of queued) {
      flowControl.release(flowControl.hold(flow, holder));
      await new Promise(setImmediate);
    }
    assert.ok(order.indexOf('bob') <= 1, order.join());
  });

  it('lends seats that their owners leave idle, and no more than they lend', () => {
    const { flowControl } = start(10, level('low', { nominalConcurrencyShares: 10 }), level('high', { nominalConcurrencyShares: 10, lendablePercent: 40 }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    let taken = 0;
    while (flowControl.tryTake(flow)) taken += 1;
    assert.equal(taken, 5 + 2);
  });

  it('borrows no more than it may', () => {
    const { flowControl } = start(10, level('low', { nominalConcurrencyShares: 10, borrowingLimitPercent: 20 }),
      level('high', { nominalConcurrencyShares: 10, lendablePercent: 100 }));
    flowControl.putSchema(all);
    const flow = flowOf(flowControl);
    let taken = 0;
    while (flowControl.tryTake(flow)) taken += 1;
    assert.equal(taken, 6);
  });

  it('asks clients to stay away for longer while many are turned away', () => {
    const { clock, flowControl } = start(1);
    const seconds: number[] = [];
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 100; i++) seconds.push(flowControl.retryAfterSeconds());
      clock.advance(1000);
    }
    assert.deepEqual([seconds[0], seconds[150], seconds[250], seconds[350]], [1, 2, 4, 8]);
  });
});

describe('dealHand', () => {
  it('deals different queues, the same ones to the same flow', () => {
    fc.assert(fc.property(fc.string(), fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 8 }), (flow, count, size) => {
      const hand = dealHand(flow, count, size);
      assert.equal(new Set(hand).size, Math.min(size, count));
      assert.ok(hand.every((queue) => queue >= 0 && queue < count));
      assert.deepEqual(dealHand(flow, count, size), hand);
    }));
  });
});
