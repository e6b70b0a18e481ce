// Priority: a pod's class becomes its number and its preemption policy; without a class it gets the default class, if there is one. Only one class
// may be the default.
import { type KubeObject, checkPathSegment } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { refuse, writes } from '../../refusal.ts';

interface PodSpec {
  priorityClassName?: string;
  priority?: number;
  preemptionPolicy?: string;
}
interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly policy: string;
}

const rows = { pods: '/pods', classes: 'scheduling.k8s.io/priorityclasses', groups: 'scheduling.k8s.io/podgroups' };
const DEFAULT_POLICY = 'PreemptLowerPriority';

function readClass(object: KubeObject): PriorityClass {
  const { value = 0, preemptionPolicy = DEFAULT_POLICY } = object as unknown as { value?: number; preemptionPolicy?: string };
  return { name: object.metadata.name ?? '', value, policy: preemptionPolicy };
}

/** The class with the smallest number, should there be more than one default. */
async function findDefault(classes: RowReads): Promise<PriorityClass> {
  const all = (await classes.list()).filter((object) => object['globalDefault'] === true).map(readClass);
  return all.sort((one, two) => one.value - two.value)[0] ?? { name: '', value: 0, policy: DEFAULT_POLICY };
}

/** The class that a spec names, or the default, whose name the spec gets. */
async function findClass(attributes: AdmissionAttributes, spec: PodSpec, classes: RowReads): Promise<PriorityClass> {
  if (spec.priorityClassName) {
    const object = checkPathSegment(spec.priorityClassName).length > 0 ? undefined : await classes.find(spec.priorityClassName);
    if (object === undefined) throw refuse(attributes, `no PriorityClass with name ${spec.priorityClassName} was found`);
    return readClass(object);
  }
  const found = await findDefault(classes);
  if (found.name !== '') spec.priorityClassName = found.name;
  return found;
}

async function resolveGroup(attributes: AdmissionAttributes, spec: PodSpec, classes: RowReads): Promise<void> {
  const { value } = await findClass(attributes, spec, classes);
  if (spec.priority !== undefined && spec.priority !== value) {
    const why = `must match the priority computed (${value}) based on the priority class set in the spec`;
    throw refuse(attributes, `priority set in the pod group (${spec.priority}) ${why}`);
  }
  spec.priority = value;
}

async function resolve(attributes: AdmissionAttributes, spec: PodSpec, classes: RowReads): Promise<void> {
  const found = await findClass(attributes, spec, classes);
  const computed = (what: string, given: unknown, value: unknown): string =>
    `the ${what} (${String(given)}) must not be provided in pod spec; priority admission controller computed ${String(value)} from the given PriorityClass name`;
  if (spec.priority !== undefined && spec.priority !== found.value) {
    throw refuse(attributes, computed('integer value of priority', spec.priority, found.value));
  }
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== found.policy) {
    throw refuse(attributes, computed('string value of PreemptionPolicy', spec.preemptionPolicy, found.policy));
  }
  spec.priority = found.value;
  spec.preemptionPolicy = found.policy;
}

/** Makes the plugin over reads of priorityclasses; podgroups have priorities where WorkloadAwarePreemption is on. */
export function createPriority(classes: RowReads, { ofGroups = false }: { readonly ofGroups?: boolean } = {}): AdmissionPlugin {
  return {
    name: 'Priority',
    handles: (attributes) => writes(attributes, rows.pods, ['CREATE', 'UPDATE']) || writes(attributes, rows.classes, ['CREATE', 'UPDATE'])
      || (ofGroups && writes(attributes, rows.groups)),
    async mutate(attributes) {
      const { object, oldObject, operation, resource } = attributes;
      if (resource.plural === 'priorityclasses' || object === undefined) return;
      const spec = (object['spec'] ??= {}) as PodSpec;
      if (resource.plural === 'podgroups') {
        await resolveGroup(attributes, spec, classes);
        return;
      }
      if (operation === 'CREATE') {
        await resolve(attributes, spec, classes);
        return;
      }
      const old = (oldObject?.['spec'] ?? {}) as PodSpec;
      if (spec.priority === undefined && old.priority !== undefined) spec.priority = old.priority;
      if (spec.preemptionPolicy === undefined && old.preemptionPolicy !== undefined) spec.preemptionPolicy = old.preemptionPolicy;
    },
    async validate(attributes) {
      const { object, resource } = attributes;
      if (resource.plural !== 'priorityclasses' || object?.['globalDefault'] !== true) return;
      const other = await findDefault(classes);
      if (other.name === '' || other.name === object.metadata.name) return;
      throw refuse(attributes, `PriorityClass ${other.name} is already marked as default. Only one default can exist`);
    },
  };
}
