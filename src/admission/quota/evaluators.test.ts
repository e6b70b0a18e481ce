// What objects count for in quotas, and the scopes that choose among them.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '../../apimachinery/index.ts';
import { createManualClock } from '../../base/index.ts';
import { formatAmounts, readAmounts } from './amounts.ts';
import { countName, createEvaluators } from './evaluators.ts';
import { PENDING_MS, QuotaLedger } from './ledger.ts';
import { matchesValues, readScopes } from './scopes.ts';

const evaluatorOf = createEvaluators(undefined);
const NOW_MS = Date.parse('2026-01-01T00:00:00Z');
const object = (parts: object): KubeObject => ({ metadata: { name: 'x' }, ...parts }) as unknown as KubeObject;
const usage = (plural: string, parts: object): string => formatAmounts(evaluatorOf({ group: '', plural }).usage(object(parts), NOW_MS));
const container = (requests: object, limits: object = {}, more: object = {}): object => ({ name: 'c', resources: { requests, limits }, ...more });

describe('podEvaluator', () => {
  const { check, matches, matchesScope } = evaluatorOf({ group: '', plural: 'pods' });

  it('adds the containers up, beside the largest init container and the ones that keep running', () => {
    const spec = {
      containers: [container({ cpu: '100m' }, { memory: '1Gi' }), container({ cpu: '200m' })],
      initContainers: [container({ cpu: '50m' }, {}, { restartPolicy: 'Always' }), container({ cpu: '1' })],
    };
    assert.equal(usage('pods', { spec }), 'count/pods=1,cpu=1050m,limits.memory=1Gi,pods=1,requests.cpu=1050m');
  });

  it('writes a sum as the first container writes its amount', () => {
    const spec = { containers: [container({ memory: '24Ki' })], initContainers: [container({ memory: '1024k' }, {}, { restartPolicy: 'Always' })] };
    assert.equal(usage('pods', { spec }), 'count/pods=1,memory=1Mi,pods=1,requests.memory=1Mi');
  });

  it('adds up as many containers and resources as a pod has room for', () => {
    const list = (prefix: string) => Array.from({ length: 30_000 }, (_, index) => container({ [`example.com/${prefix}${index}`]: '1', cpu: '1m' }));
    const counted = evaluatorOf({ group: '', plural: 'pods' }).usage(object({ spec: { containers: list('c'), initContainers: list('i') } }), NOW_MS);
    assert.equal(counted.size, 60_004);
    assert.equal(formatAmounts(new Map([...counted].filter(([name]) => name === 'cpu'))), 'cpu=30');
  });

  it('adds the overhead, takes the resources of the pod itself, and counts huge pages and resources of other domains', () => {
    const resources = { requests: { cpu: '2', 'hugepages-2Mi': '4Mi', 'example.com/gpu': '1' } };
    const spec = { containers: [container({ cpu: '1' })], resources, overhead: { cpu: '10m' } };
    assert.equal(usage('pods', { spec }),
      'count/pods=1,cpu=2010m,hugepages-2Mi=4Mi,pods=1,requests.cpu=2010m,requests.example.com/gpu=1,requests.hugepages-2Mi=4Mi');
  });

  it('counts pods that have ended, or that outlived their grace period, as objects only', () => {
    const spec = { containers: [container({ cpu: '1' })] };
    assert.equal(usage('pods', { spec, status: { phase: 'Succeeded' } }), 'count/pods=1');
    const deleted = { deletionTimestamp: '2025-12-31T23:59:00Z', deletionGracePeriodSeconds: 30 };
    assert.equal(usage('pods', { spec, metadata: { name: 'x', ...deleted } }), 'count/pods=1');
  });

  it('asks containers to state the compute resources that are counted, unless the pod states its own', () => {
    const spec = { containers: [container({ cpu: '1' }), { name: 'd' }] };
    assert.equal(check(['requests.cpu', 'limits.memory', 'pods'], object({ spec })), 'must specify limits.memory for: c,d; requests.cpu for: d');
    assert.equal(check(['requests.cpu'], object({ spec: { ...spec, resources: { requests: { cpu: '1' } } } })), undefined);
  });

  it('knows its names and scopes', () => {
    assert.deepEqual(['pods', 'requests.cpu', 'requests.hugepages-1Gi', 'requests.example.com/gpu', 'requests.storage', 'example.com/gpu'].map(matches),
      [true, true, true, true, false, false]);
    const scope = (scopeName: string, parts: object, more: object = { operator: 'Exists' }): boolean =>
      matchesScope({ scopeName, operator: '', ...more }, object(parts));
    assert.equal(scope('Terminating', { spec: { activeDeadlineSeconds: 0 } }), true);
    assert.equal(scope('NotTerminating', { spec: {} }), true);
    assert.equal(scope('BestEffort', { status: { qosClass: 'BestEffort' } }), true);
    assert.equal(scope('PriorityClass', { spec: { priorityClassName: 'a' } }, { operator: 'In', values: ['a', 'b'] }), true);
    const affinity = { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { namespaceSelector: {} } }] } };
    assert.equal(scope('CrossNamespacePodAffinity', { spec: { affinity } }), true);
    assert.equal(scope('CrossNamespacePodAffinity', { spec: {} }), false);
  });
});

describe('the other evaluators', () => {
  it('count the node ports and load balancers of Services', () => {
    const ports = [{ nodePort: 30_000 }, {}];
    assert.equal(usage('services', { spec: { type: 'NodePort', ports } }), 'count/services=1,services=1,services.loadbalancers=0,services.nodeports=2');
    assert.equal(usage('services', { spec: { type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false } }),
      'count/services=1,services=1,services.loadbalancers=1,services.nodeports=1');
  });

  it('count the storage of claims in whole bytes, also by their class', () => {
    const spec = { storageClassName: 'fast', resources: { requests: { storage: '1500m' } } };
    assert.equal(usage('persistentvolumeclaims', { spec }), 'count/persistentvolumeclaims=1,fast.storageclass.storage.k8s.io/persistentvolumeclaims=1,'
      + 'fast.storageclass.storage.k8s.io/requests.storage=2,persistentvolumeclaims=1,requests.storage=2');
    const expanded = { spec: { resources: { requests: { storage: '1Gi' } } }, status: { allocatedResources: { storage: '2Gi' } } };
    assert.match(usage('persistentvolumeclaims', expanded), /requests.storage=2Gi$/);
  });

  it('count the devices of ResourceClaims by their class: of alternatives the most, of all that match as many as a claim can get', () => {
    const { matches, usage: usageOf } = evaluatorOf({ group: 'resource.k8s.io', plural: 'resourceclaims' });
    const ask = (...requests: object[]): string => formatAmounts(usageOf(object({ spec: { devices: { requests } } }), NOW_MS));
    const COUNT = 'count/resourceclaims.resource.k8s.io=1';
    const of = (deviceClassName: string, count: number, more: object = {}) => ({ deviceClassName, count, allocationMode: 'ExactCount', ...more });
    assert.equal(ask({ exactly: of('gpu', 2) }, { exactly: of('gpu', 1) }, { exactly: of('odd', 1, { allocationMode: 'Odd' }) }),
      `${COUNT},gpu.deviceclass.resource.k8s.io/devices=3,odd.deviceclass.resource.k8s.io/devices=0`);
    assert.equal(ask({ firstAvailable: [of('gpu', 2), of('gpu', 4), of('nic', 0, { allocationMode: 'All' })] }),
      `${COUNT},gpu.deviceclass.resource.k8s.io/devices=4,nic.deviceclass.resource.k8s.io/devices=32`);
    assert.equal(ask(of('gpu', 2)), `${COUNT},gpu.deviceclass.resource.k8s.io/devices=2`);
    assert.equal(ask(), COUNT);
    assert.deepEqual(['count/resourceclaims.resource.k8s.io', 'gpu.deviceclass.resource.k8s.io/devices', 'count/resourceclaims'].map(matches),
      [true, true, false]);
  });

  it('count objects of every other resource, the oldest under their plain name too', () => {
    assert.equal(usage('secrets', {}), 'count/secrets=1,secrets=1');
    assert.equal(countName({ group: 'apps', plural: 'deployments' }), 'count/deployments.apps');
    assert.equal(formatAmounts(evaluatorOf({ group: 'apps', plural: 'deployments' }).usage(object({}), NOW_MS)), 'count/deployments.apps=1');
  });
});

describe('scopes', () => {
  it('readScopes joins both forms, matchesValues knows all operators', () => {
    const matchExpressions = [{ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }];
    const quota = object({ spec: { scopes: ['BestEffort'], scopeSelector: { matchExpressions } } });
    assert.deepEqual(readScopes(quota).map(({ scopeName, operator }) => `${scopeName} ${operator}`), ['BestEffort Exists', 'PriorityClass In']);
    const matches = (operator: string, found: string): boolean => matchesValues({ scopeName: 's', operator, values: ['a'] }, [found]);
    assert.deepEqual(['In', 'NotIn', 'Exists', 'DoesNotExist'].map((operator) => matches(operator, 'a')), [true, false, true, false]);
    assert.deepEqual(['In', 'NotIn', 'Exists', 'DoesNotExist'].map((operator) => matches(operator, '')), [false, true, false, true]);
  });
});

describe('QuotaLedger', () => {
  it('reports charges whose object is not stored, until they are settled or too old', () => {
    const clock = createManualClock();
    const ledger = new QuotaLedger(clock);
    const key = { namespace: 'ns', quota: 'q' };
    ledger.record(key, 'one', readAmounts({ pods: '1' }));
    ledger.record(key, 'two', readAmounts({ pods: '2' }));
    ledger.record(key, 'three', readAmounts({ pods: '4' }));
    const open = (stored: readonly string[] = []): string | undefined => {
      const amounts = ledger.pending(key, new Set(stored));
      return amounts && formatAmounts(amounts);
    };
    assert.equal(open(), 'pods=7');
    assert.equal(open(['two']), 'pods=5');
    ledger.settle('ns', 'three');
    assert.equal(open(), 'pods=1');
    clock.advance(PENDING_MS + 1);
    assert.equal(open(), undefined);
  });
});
