// pods/binding and bindings: a scheduler names the node of a pod. Bindings are not stored; a pod gets its node once, and with it PodScheduled=True.
import type { Clock } from '../base/index.ts';
import { type KubeObject, badRequest, conflict, failure, internalError, notSupportedText, required, success } from '../apimachinery/index.ts';
import type { SpecialCreate } from '../endpoints/index.ts';
import { type Catalog, type Preconditions, type Registry, cloneJson, formatTime } from '../registry/index.ts';

interface Target {
  readonly kind?: string;
  readonly name?: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

/** The reference validates bindings late and returns the problem as a plain error. */
function checkTarget({ kind = '', name = '' }: Target): void {
  const problems = [
    ...(kind === '' || kind === 'Node' ? [] : [notSupportedText('target.kind', kind, ['Node', '<empty>'], true)]),
    ...(name === '' ? [required('target.name')] : []),
  ].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0) throw failure(500, '', problems.length === 1 ? problems[0] as string : `[${problems.join(', ')}]`);
}

/** The pod with its node; annotations and labels of the binding come along. */
function bindPod(pod: KubeObject, binding: KubeObject, now: string): KubeObject {
  const node = (binding['target'] as Target).name as string;
  const spec = pod['spec'] as Record<string, unknown>;
  const status = (pod['status'] ?? {}) as { conditions?: Condition[] };
  const refuse = (why: string) => conflict({ group: '', resource: 'pods/binding' }, pod.metadata.name ?? '', why);
  if (pod.metadata.deletionTimestamp !== undefined) throw refuse(`pod ${pod.metadata.name} is being deleted, cannot be assigned to a host`);
  if (spec['nodeName']) throw refuse(`pod ${pod.metadata.name} is already assigned to node "${String(spec['nodeName'])}"`);
  if (((spec['schedulingGates'] ?? []) as unknown[]).length > 0) throw refuse(`pod ${pod.metadata.name} has non-empty .spec.schedulingGates`);
  const { annotations, labels } = binding.metadata;
  const scheduled: Condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
      ...(labels && { labels: { ...pod.metadata.labels, ...labels } }),
    },
    spec: { ...spec, nodeName: node },
    status: { ...status, conditions: [...(status.conditions ?? []).filter(({ type }) => type !== 'PodScheduled'), scheduled] },
  };
}

/** A binding may name the pod's uid and its resourceVersion. */
function preconditionsOf({ metadata: { uid, resourceVersion } }: KubeObject): Preconditions {
  return { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
}

/** The handlers of both paths, for createEndpoints' `special`. */
export function createPodBinding({ registry, catalog, clock }: {
  readonly registry: Registry; readonly catalog: Catalog; readonly clock: Clock;
}): ReadonlyMap<string, SpecialCreate> {
  const bind: SpecialCreate = async ({ target, name, object, context }) => {
    const bound = object.metadata.name ?? '';
    if (name !== '' && bound !== name) throw badRequest('name in URL does not match name in Binding object');
    checkTarget((object['target'] ?? {}) as Target);
    if (bound === '') throw badRequest('Name parameter required.');
    const resource = catalog.find('', 'v1', 'pods');
    if (resource === undefined) throw internalError('pods are not served');
    const now = formatTime(clock.now());
    await registry.update({
      resource, version: 'v1', namespace: target.namespace, name: bound, subresource: 'binding', createIfAbsent: false, context, managedFields: 'keep',
      preconditions: preconditionsOf(object),
      transform: (pod) => bindPod(cloneJson(pod as KubeObject), object, now),
    });
    return { ...success(), code: 201 } as unknown as KubeObject;
  };
  return new Map([['/pods/binding', bind], ['/bindings', bind]]);
}
