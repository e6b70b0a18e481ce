// The status of ValidatingAdmissionPolicies: the generation that was looked at, and the warnings of type checking. Mirrors the reference's
// validatingadmissionpolicy-status controller.
import { type KubeObject, loadPatternEngine } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import { WorkQueue, createSystemClient, startReflector } from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';
import { checkPolicyTypes } from './type-checking.ts';

const NAME = 'validatingadmissionpolicy-status';
const SLICE_MS = 10;

const generationOf = ({ metadata }: KubeObject): number => metadata.generation ?? 0;
const isObserved = (policy: KubeObject): boolean =>
  generationOf(policy) <= ((policy['status'] as { readonly observedGeneration?: number } | undefined)?.observedGeneration ?? 0);

/** Starts the loop. */
export function createPolicyStatus(context: ControllerContext): Controller {
  const { registry, catalog, clock, report } = context;
  const client = createSystemClient(context, ['admissionregistration.k8s.io', 'v1', 'validatingadmissionpolicies'], NAME);
  const queue = new WorkQueue({
    observer: context.observeQueue?.('validatingadmissionpolicy_status'),
    clock, concurrency: 1, onError: (name, error) => report(NAME, name, error),
    async work(name) {
      const policy = await client.get({ namespace: '', name });
      if (policy === undefined || isObserved(policy)) return;
      await loadPatternEngine();
      const observedGeneration = generationOf(policy);
      const expressionWarnings = await checkPolicyTypes(policy, catalog, createTimeSlice(clock, SLICE_MS));
      const typeChecking = expressionWarnings.length === 0 ? {} : { expressionWarnings: expressionWarnings.map((warning) => ({ ...warning })) };
      const status = { observedGeneration, typeChecking };
      await client.apply({ namespace: '', name }, { subresource: 'status', nowMs: clock.now() }, (current) =>
        (generationOf(current) === observedGeneration ? { status } : undefined));
    },
  });
  const reflector = startReflector({
    registry, clock, target: client.target(''), onError: (error) => report(NAME, '', error),
    onChange: (type, stored) => void (type === 'present' && !isObserved(stored.object('v1')) && queue.add(stored.name)),
  });
  return {
    ready: () => reflector.synced,
    stop() {
      reflector.stop();
      return queue.stop();
    },
  };
}
