// PodGroups: they carry a finalizer, so that they are not gone while pods refer to them; the template that one is made from must be there; jobs whose
// group is scheduled as a gang keep their parallelism. Mirrors PodGroupProtection, PodGroupWorkloadExists and JobValidation, which do nothing while
// GenericWorkload is off.
import type { KubeObject } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';
import { refuse, writes } from '../../refusal.ts';

const GROUPS = 'scheduling.k8s.io/podgroups';
const JOBS = 'batch/jobs';
const FINALIZER = 'scheduling.k8s.io/podgroup-protection';
const q = JSON.stringify;

interface GroupSpec {
  readonly podGroupTemplateRef?: { readonly workload?: { readonly workloadName?: string; readonly podGroupTemplateName?: string } } | null;
  readonly schedulingPolicy?: { readonly gang?: unknown };
}
interface WorkloadSpec {
  readonly podGroupTemplates?: readonly { readonly name?: string }[];
}
interface JobSpec {
  readonly parallelism?: number;
  readonly template?: { readonly spec?: { readonly schedulingGroup?: { readonly podGroupName?: string } } };
}

const specOf = <T>(object: KubeObject | undefined): T => (object?.['spec'] ?? {}) as T;

interface GroupReads {
  /** Absent, as the other, where the kind is not served. */
  readonly workloads?: RowReads | undefined;
  readonly groups?: RowReads | undefined;
}

/** Makes the three. */
export function createPodGroupPlugins({ workloads, groups }: GroupReads): AdmissionPlugin[] {
  return [
    {
      name: 'PodGroupProtection', handles: (attributes) => writes(attributes, GROUPS),
      mutate({ object }) {
        const present = object?.metadata.finalizers ?? [];
        if (object !== undefined && !present.includes(FINALIZER)) object.metadata.finalizers = [...present, FINALIZER];
      },
    },
    {
      name: 'PodGroupWorkloadExists', handles: (attributes) => writes(attributes, GROUPS),
      validate: (attributes) => requireTemplate(attributes, workloads),
    },
    ...(groups === undefined ? [] : [{
      name: 'JobValidation', handles: (attributes: AdmissionAttributes) => writes(attributes, JOBS, ['UPDATE']),
      validate: (attributes: AdmissionAttributes) => keepParallelism(attributes, groups),
    }]),
  ];
}

async function requireTemplate(attributes: AdmissionAttributes, workloads: RowReads | undefined): Promise<void> {
  const { workload: reference } = specOf<GroupSpec>(attributes.object).podGroupTemplateRef ?? {};
  if (reference === undefined) return;
  if (workloads === undefined) throw refuse(attributes, 'not yet ready to handle request');
  const { workloadName = '', podGroupTemplateName = '' } = reference;
  const workload = await workloads.find(workloadName, attributes.namespace);
  if (workload === undefined) throw refuse(attributes, `PodGroup rejected: Workload ${q(workloadName)} not found`);
  if (workload.metadata.deletionTimestamp !== undefined) throw refuse(attributes, `PodGroup rejected: Workload ${q(workloadName)} is being deleted`);
  if (specOf<WorkloadSpec>(workload).podGroupTemplates?.some(({ name }) => name === podGroupTemplateName) === true) return;
  throw refuse(attributes, `PodGroup rejected: PodGroupTemplate ${q(podGroupTemplateName)} not found in Workload ${q(workloadName)}`);
}

/** The group of a job is the one that its template names, or one that the job controls. */
async function keepParallelism(attributes: AdmissionAttributes, groups: RowReads): Promise<void> {
  const { object, oldObject: old, namespace } = attributes;
  const before = specOf<JobSpec>(old);
  if (specOf<JobSpec>(object).parallelism === before.parallelism) return;
  const named = before.template?.spec?.schedulingGroup?.podGroupName;
  const isOwn = (group: KubeObject): boolean =>
    group.metadata.ownerReferences?.some(({ controller, uid }) => controller === true && uid === old?.metadata.uid) === true;
  const found = named === undefined ? (await groups.list(namespace)).filter(isOwn) : [await groups.find(named, namespace)];
  const gang = found.find((group) => specOf<GroupSpec>(group).schedulingPolicy?.gang !== undefined);
  if (gang === undefined) return;
  throw refuse(attributes, `cannot change parallelism for a Job referencing gang-scheduled PodGroup ${q(gang.metadata.name ?? '')}`);
}
