// Lines about requests that take long, and those that may take longer than others.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, letIn, post } from './files.ts';

/** Longer than the timeouts of the requests below. */
const SLOW_MS = 2500;
const maps = `${inNamespace}/configmaps`;
const slowWebhook: Request = { parts: ['/kind'], ...post('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
  metadata: { name: 'slow-{id}' }, webhooks: [{ name: 'slow.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', timeoutSeconds: 10,
    clientConfig: { url: '{hooks}/slow', caBundle: '{caBundle}' }, namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': '{ns}' } },
    rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }] }] }) };

export const limits: Setup = {
  name: 'limits',
  flags: ['--request-timeout=2s', '--enable-priority-and-fairness=false', '--max-requests-inflight=1', '--max-mutating-requests-inflight=1'],
  hooks: { slow: async ({ apiVersion, kind, request }) => sleep(SLOW_MS, { apiVersion, kind, response: { uid: request.uid, allowed: true } }) },
  rows: [
    { line: 'A-22', what: 'requests that take longer than they may', requests: [slowWebhook,
      { ...configMap('probe'), path: `${maps}?dryRun=All&timeout=300ms`, until: { field: 'kind', equals: undefined } },
      { ...configMap('a'), path: `${maps}?timeout=300ms` }, { ...configMap('a'), path: maps }, { path: `${maps}?timeout=300ms&resourceVersion=99999999999` },
      { path: `${maps}/a?timeout=300ms&resourceVersion=99999999999` }] },
    { line: 'A-21', what: 'watches have no such end, and do not count among the requests', requests: [...letIn,
      ...['w', 'x'].map((name): Request => ({ path: `open:${name}${maps}?watch=1&fieldSelector=metadata.name%3Da`, as: 'alice' })),
      { path: maps, as: 'alice', pauseMs: 3000, parts: ['/kind'] }, configMap('a'), { path: 'heard:w?1' }] },
  ],
};
