// Signs approved CertificateSigningRequests for clients of this API with the server's own authority. Mirrors kube-controller-manager's
// csrsigning controller for the signer kubernetes.io/kube-apiserver-client; other signers are left to others.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { WorkQueue, createSystemClient, formatTime, startReflector } from '../../registry/index.ts';
import type { ControllerContext } from '../context.ts';

/** A certificate (PEM), or why there is none. */
type SignedRequest = { readonly certificate: string } | { readonly refusal: string };

/** Signs a request (PEM). */
export type SignRequest = (request: string, options: { readonly expirationSeconds?: number }) => Promise<SignedRequest>;

const SIGNER_NAME = 'kubernetes.io/kube-apiserver-client';
const allowedUsages = new Set(['client auth', 'digital signature', 'key encipherment']);

interface Spec {
  readonly signerName?: string;
  readonly request?: string;
  readonly usages?: readonly string[];
  readonly expirationSeconds?: number;
}

/** Starts the controller. */
export function createCertificateSigning(context: ControllerContext, sign: SignRequest): { stop(): Promise<void> } {
  const { registry, clock } = context;
  const requests = createSystemClient(context, ['certificates.k8s.io', 'v1', 'certificatesigningrequests'], 'kube-controller-manager');
  const queue = new WorkQueue({
    observer: context.observeQueue?.('certificate_signing'),
    clock, concurrency: 1, onError: (key, error) => context.report('csrsigning', key, error),
    async work(name) {
      const request = await requests.get({ namespace: '', name });
      if (request === undefined || !isWaiting(request)) return;
      const spec = request['spec'] as Spec;
      const usages = spec.usages ?? [];
      const wrong = usages.includes('client auth') && usages.every((usage) => allowedUsages.has(usage)) ? undefined
        : 'invalid usage for client certificate: must include "client auth" and may include "digital signature" and "key encipherment"';
      const pem = Buffer.from(spec.request ?? '', 'base64').toString('latin1');
      const { expirationSeconds } = spec;
      const result = wrong === undefined ? await sign(pem, { ...(expirationSeconds !== undefined && { expirationSeconds }) }) : { refusal: wrong };
      await requests.update({ namespace: '', name }, 'status', (current) => (isWaiting(current) ? record(current, result, clock.now()) : current));
    },
  });
  const reflector = startReflector({
    registry, clock, target: requests.target(''), onError: (error) => context.report('csrsigning', '', error),
    onChange: (type, object) => {
      if (type === 'present' && isWaiting(object.object('v1'))) queue.add(object.name);
    },
  });
  return {
    stop() {
      reflector.stop();
      return queue.stop();
    },
  };
}

interface RequestStatus {
  readonly certificate?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

function isWaiting(request: KubeObject): boolean {
  const { certificate, conditions = [] } = (request['status'] ?? {}) as RequestStatus;
  const has = (type: string) => conditions.some((condition) => condition.type === type);
  return (request['spec'] as Spec | undefined)?.signerName === SIGNER_NAME && !certificate && has('Approved') && !has('Denied') && !has('Failed');
}

function record(request: KubeObject, result: SignedRequest, nowMs: number): KubeObject {
  const status = (request['status'] ?? {}) as JsonObject;
  if ('certificate' in result) return { ...request, status: { ...status, certificate: Buffer.from(result.certificate, 'latin1').toString('base64') } };
  const time = formatTime(nowMs);
  const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: result.refusal, lastUpdateTime: time, lastTransitionTime: time };
  return { ...request, status: { ...status, conditions: [...(status['conditions'] as JsonObject[] | undefined ?? []), failed] } };
}
