// Lines about leaders that the server chooses.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { post } from './files.ts';

const candidates = '/apis/coordination.k8s.io/v1beta1/namespaces/{ns}/leasecandidates';
const leases = '/apis/coordination.k8s.io/v1/namespaces/{ns}/leases';
const OLDEST = 'OldestEmulationVersion';
const candidate = (name: string, emulationVersion: string, spec: Json = {}): Request => post(candidates, { metadata: { name },
  spec: { leaseName: 'l', binaryVersion: '1.36.0', emulationVersion, strategy: OLDEST, renewTime: '{now}', ...spec } });
const isHere = (name: string): Request => ({ method: 'PATCH', path: `${candidates}/${name}`, type: 'application/merge-patch+json',
  body: { spec: { renewTime: '{now}' } } });
const lease = (name: string, spec: Json): Request => post(leases, { metadata: { name }, spec });

export const electing: Setup = {
  name: 'electing',
  flags: ['--feature-gates=CoordinatedLeaderElection=true', '--runtime-config=coordination.k8s.io/v1beta1=true'],
  rows: [
    { line: 'W-22', what: 'a leader that is chosen, and a better one', requests: [candidate('a', '1.36.0'),
      { path: `${leases}/l`, until: { field: 'spec.holderIdentity', equals: 'a' } }, { path: `${leases}/l` }, isHere('a'), candidate('b', '1.35.0'),
      { path: `${leases}/l`, until: { field: 'spec.preferredHolder', equals: 'b' } }, { path: `${leases}/l` }, { path: candidates }] },
    { line: 'W-22', what: 'a Lease of another strategy, and one without a holder', requests: [
      candidate('a', '1.36.0', { strategy: 'example.com/mine' }),
      { path: `${leases}/l`, until: { field: 'spec.strategy', equals: 'example.com/mine' } }, { path: `${leases}/l` },
      lease('m', { holderIdentity: '', leaseDurationSeconds: 5, renewTime: '{now}', acquireTime: '{now}', leaseTransitions: 3 }),
      candidate('m', '1.36.0', { leaseName: 'm' }),
      { path: `${leases}/m`, until: { field: 'spec.holderIdentity', equals: 'm' } }, { path: `${leases}/m` }] },
    { line: 'W-22', what: 'a candidate that is asked whether it is there', requests: [candidate('a', '1.36.0', { renewTime: '{earlier}' }),
      { path: `${candidates}/a`, until: { field: 'metadata.managedFields.1.manager', equals: 'kube-apiserver' } }, { path: `${candidates}/a` }, isHere('a'),
      { path: `${leases}/l`, until: { field: 'spec.holderIdentity', equals: 'a' } }, { path: `${leases}/l` }] },
    { line: 'W-22', what: 'Leases that are refused', requests: [lease('a', { preferredHolder: 'x' }), lease('b', { strategy: 'x' }),
      lease('c', { strategy: '' }), lease('d', { strategy: 'example.com/-', preferredHolder: 'x' }), lease('e', { strategy: OLDEST, preferredHolder: 'x' })] },
  ],
};
