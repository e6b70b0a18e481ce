// pods/binding and bindings: a scheduler names the node of a pod. Bindings are not stored; a pod gets its node once, and with it PodScheduled=True.
import type { Clock } from '../base/index.ts';
import { type KubeObject, badRequest, conflict, failure, internalError, notSupportedText, required, success } from '../apimachinery/index.ts';
import type { SpecialCreate, SpecialRequest } from '../endpoints/index.ts';
import { type Catalog, type Preconditions, type Registry, cloneJson, formatTime } from '../registry/index.ts';

interface Target {
  readonly kind?: string;
  readonly name?: string;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: unknown;
  readonly [field: string]: unknown;
}

interface Status {
  readonly conditions?: readonly Condition[];
  readonly nominatedNodeName?: string;
}

/** What feature gates switch. */
interface BindingFeatures {
  /** Whether a pod that is bound is nominated for no node (ClearingNominatedNodeNameAfterBinding). */
  readonly clearsNominations: boolean;
  /** Whether it gets the labels of the binding (PodTopologyLabelsAdmission). */
  readonly copiesLabels: boolean;
}

/** When a pod is bound, and how. */
interface Moment extends BindingFeatures {
  readonly now: string;
}

/** The reference validates bindings late and returns the problem as a plain error. */
function checkTarget({ kind = '', name = '' }: Target): void {
  const problems = [
    ...(kind === '' || kind === 'Node' ? [] : [notSupportedText('target.kind', kind, ['Node', '<empty>'], true)]),
    ...(name === '' ? [required('target.name')] : []),
  ].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0) throw failure(500, '', problems.length === 1 ? problems[0] as string : `[${problems.join(', ')}]`);
}

/** The conditions with PodScheduled=True in its place; it keeps the time of its transition where it was true before. */
function markScheduled(conditions: readonly Condition[], now: string): Condition[] {
  const at = conditions.findIndex(({ type }) => type === 'PodScheduled');
  const before = conditions[at];
  const lastTransitionTime = before?.status === 'True' ? before.lastTransitionTime : now;
  return conditions.toSpliced(at < 0 ? conditions.length : at, 1, { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime });
}

/** The status of a pod that gets its node: it is scheduled, and nominated for no node unless nominations stay. */
function completeStatus(status: Status, { now, clearsNominations }: Moment): Status {
  const { nominatedNodeName, ...others } = status;
  return { ...others, ...(!clearsNominations && nominatedNodeName && { nominatedNodeName }), conditions: markScheduled(status.conditions ?? [], now) };
}

/** The pod with its node; annotations of the binding, and labels where they are to, come along. */
function bindPod(pod: KubeObject, binding: KubeObject, moment: Moment): KubeObject {
  const node = (binding['target'] as Target).name as string;
  const spec = pod['spec'] as Record<string, unknown>;
  const refuse = (why: string) => conflict({ group: '', resource: 'pods/binding' }, pod.metadata.name ?? '', why);
  if (pod.metadata.deletionTimestamp !== undefined) throw refuse(`pod ${pod.metadata.name} is being deleted, cannot be assigned to a host`);
  if (spec['nodeName']) throw refuse(`pod ${pod.metadata.name} is already assigned to node "${String(spec['nodeName'])}"`);
  if (((spec['schedulingGates'] ?? []) as unknown[]).length > 0) throw refuse(`pod ${pod.metadata.name} has non-empty .spec.schedulingGates`);
  const { annotations, labels } = binding.metadata;
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      ...(annotations && { annotations: { ...pod.metadata.annotations, ...annotations } }),
      ...(labels && moment.copiesLabels && { labels: { ...pod.metadata.labels, ...labels } }),
    },
    spec: { ...spec, nodeName: node },
    status: completeStatus((pod['status'] ?? {}) as Status, moment),
  };
}

/** A binding may name the pod's uid and its resourceVersion. */
function preconditionsOf({ metadata: { uid, resourceVersion } }: KubeObject): Preconditions {
  return { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
}

/** Refuses a binding that says not enough, as validating admission is asked about complete ones only. */
function checkBinding({ name, object }: SpecialRequest): void {
  if (name !== '' && (object.metadata.name ?? '') !== name) throw badRequest('name in URL does not match name in Binding object');
  checkTarget((object['target'] ?? {}) as Target);
}

/** The handlers of both paths, for createEndpoints' `special`; the uid of a binding means nothing on `/bindings`. */
export function createPodBinding({ registry, catalog, clock, ...features }: BindingFeatures & {
  readonly registry: Registry; readonly catalog: Catalog; readonly clock: Clock;
}): ReadonlyMap<string, SpecialCreate> {
  const bind = async ({ target, object, context }: SpecialRequest): Promise<KubeObject> => {
    const name = object.metadata.name ?? '';
    if (name === '') throw badRequest('Name parameter required.');
    const resource = catalog.find('', 'v1', 'pods');
    if (resource === undefined) throw internalError('pods are not served');
    const moment = { now: formatTime(clock.now()), ...features };
    await registry.update({
      resource, version: 'v1', namespace: target.namespace, name, subresource: 'binding', createIfAbsent: false, context, managedFields: 'keep',
      preconditions: preconditionsOf(object),
      transform: (pod) => bindPod(cloneJson(pod as KubeObject), object, moment),
    });
    return { ...success(), code: 201 } as unknown as KubeObject;
  };
  const handle = (keepsUid: boolean): SpecialCreate => Object.assign((request: SpecialRequest) => bind(request), { keepsUid, prepare: checkBinding });
  return new Map([['/pods/binding', handle(true)], ['/bindings', handle(false)]]);
}
