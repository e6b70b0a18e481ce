// RuntimeClass: a pod that names a class takes over its overhead and its rules for nodes; an overhead of the pod's own must be the same.
import { type KubeObject, checkPathSegment, equalJson, failure, quoteGo } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { refuse, writes } from '../../refusal.ts';

type Texts = Record<string, string>;
interface PodSpec {
  runtimeClassName?: string | null;
  overhead?: Texts | null;
  nodeSelector?: Texts | null;
  tolerations?: unknown[] | null;
}
interface RuntimeClass {
  readonly overhead?: { readonly podFixed?: Texts | null };
  readonly scheduling?: { readonly nodeSelector?: Texts | null; readonly tolerations?: unknown[] | null };
}

function mergeSelectors(attributes: AdmissionAttributes, spec: PodSpec, wanted: Texts): void {
  const own = new Map(Object.entries(spec.nodeSelector ?? {}));
  for (const [key, value] of Object.entries(wanted)) {
    const given = own.get(key);
    if (given !== undefined && given !== value) {
      const why = `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${given}`;
      throw refuse(attributes, why);
    }
    own.set(key, value);
  }
  if (own.size > 0) spec.nodeSelector = Object.fromEntries(own);
}

/** The reference asks for a class over its API, whose client refuses such names. */
function checkName(name: string): void {
  if (name === '') throw failure(500, '', 'resource name may not be empty');
  const problems = checkPathSegment(name);
  if (problems.length > 0) throw failure(500, '', `invalid resource name ${quoteGo(name)}: [${problems.join(' ')}]`);
}

async function findClass(attributes: AdmissionAttributes, name: string, classes: RowReads): Promise<RuntimeClass> {
  const found: KubeObject | undefined = await classes.find(name);
  if (found === undefined) throw refuse(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  return found as unknown as RuntimeClass;
}

/** Makes the plugin over reads of runtimeclasses. */
export function createRuntimeClass(classes: RowReads): AdmissionPlugin {
  return {
    name: 'RuntimeClass',
    handles: (attributes) => writes(attributes, '/pods'),
    async mutate(attributes) {
      const spec = (attributes.object?.['spec'] ?? {}) as PodSpec;
      if (spec.runtimeClassName === undefined || spec.runtimeClassName === null) return;
      checkName(spec.runtimeClassName);
      const { overhead, scheduling } = await findClass(attributes, spec.runtimeClassName, classes);
      if (overhead !== undefined) {
        const fixed = overhead.podFixed ?? {};
        if (spec.overhead && !equalJson(spec.overhead, fixed)) {
          throw refuse(attributes, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
        }
        spec.overhead = { ...fixed };
      }
      if (scheduling === undefined) return;
      mergeSelectors(attributes, spec, scheduling.nodeSelector ?? {});
      const more = (scheduling.tolerations ?? []).filter((wanted) => !(spec.tolerations ?? []).some((given) => equalJson(given, wanted)));
      if (more.length > 0) spec.tolerations = [...spec.tolerations ?? [], ...more];
    },
    validate(attributes) {
      const { runtimeClassName, overhead } = (attributes.object?.['spec'] ?? {}) as PodSpec;
      if (runtimeClassName || !overhead || Object.keys(overhead).length === 0) return;
      throw refuse(attributes, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
    },
  };
}
