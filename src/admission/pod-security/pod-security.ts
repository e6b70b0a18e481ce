// PodSecurity: pods and pod templates against the policy of their namespace. Pods that violate the level to enforce are refused; violations of
// the level to warn about become warnings, for the controllers of pods too. A namespace that gets a stricter level is warned about its pods.
import { type FieldError, type KubeObject, type StatusError, equalJson, internalError, invalid } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import type { AdmissionPlugin } from '../chain.ts';
import type { PodSecurityRecord } from '../metrics.ts';
import type { RowReads } from '../reads.ts';
import { annotate } from '../audit-annotations.ts';
import { refuse } from '../refusal.ts';
import { evaluatePod, formatDetails, formatReasons } from './checks.ts';
import type { Container, Pod, PodSpec } from './pod.ts';
import {
  LABEL_PREFIX, type LevelVersion, modes, privilegedPolicy, type Policy, compareLevels, formatLevel, isPrivileged, isSameLevel, labelsOf, readPolicy,
} from './policy.ts';

/** The plugin's configuration: defaults for namespaces without labels, and requests that no policy holds. */
export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly exemptions: { readonly usernames: readonly string[]; readonly namespaces: readonly string[]; readonly runtimeClasses: readonly string[] };
}

/** The configuration of a server without a file for it. */
export const defaultPodSecurity: PodSecurityConfiguration = { defaults: privilegedPolicy, exemptions: { usernames: [], namespaces: [], runtimeClasses: [] } };

/** How many pods of a namespace are checked when its level changes, as in the reference. */
const PODS_TO_CHECK = 3000;

/** Subresources of pods that carry no pod. */
const otherSubresources: ReadonlySet<string> = new Set(['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status']);

const templatePaths: ReadonlyMap<string, readonly string[]> = new Map([
  ['/replicationcontrollers', ['spec', 'template']], ['/podtemplates', ['template']], ['apps/deployments', ['spec', 'template']],
  ['apps/replicasets', ['spec', 'template']], ['apps/statefulsets', ['spec', 'template']], ['apps/daemonsets', ['spec', 'template']],
  ['batch/jobs', ['spec', 'template']], ['batch/cronjobs', ['spec', 'jobTemplate', 'spec', 'template']],
]);

interface Reads {
  readonly namespaces: RowReads;
  readonly pods: RowReads;
}

type Report = (record: PodSecurityRecord) => void;
type Decision = NonNullable<PodSecurityRecord['evaluation']>['decision'];
type Mode = NonNullable<PodSecurityRecord['evaluation']>['mode'];
type Count = (mode: Mode, decision: Decision) => void;

/** The newest minor version that the checks know. */
const LAST_MINOR = 36;

const resourceOf = ({ resource }: Pick<AdmissionAttributes, 'resource'>): string => `${resource.group}/${resource.plural}`;

/** Makes the plugin. */
export function createPodSecurity(
  reads: Reads, configuration: PodSecurityConfiguration = defaultPodSecurity, report: Report = () => undefined,
): AdmissionPlugin {
  const { exemptions } = configuration;
  const exempt = (attributes: AdmissionAttributes, value: string): void => {
    report({ ...describeSubject(attributes), evaluation: undefined });
    annotateExemption(attributes, value);
  };
  const findExemption = ({ namespace, context }: AdmissionAttributes): string | undefined => {
    if (exemptions.namespaces.includes(namespace)) return 'namespace';
    return exemptions.usernames.includes(context.user.name) ? 'user' : undefined;
  };
  const policies = new WeakMap<KubeObject, ReturnType<typeof readPolicy>>();
  const policyOf = (found: KubeObject): ReturnType<typeof readPolicy> => {
    let known = policies.get(found);
    if (known === undefined) policies.set(found, (known = readPolicy(found.metadata.labels, configuration.defaults)));
    return known;
  };
  const findPolicy = async ({ namespace, context }: AdmissionAttributes): Promise<Policy | undefined> => {
    const found = await reads.namespaces.find(namespace);
    if (found === undefined) return undefined;
    const { policy, errors } = policyOf(found);
    if (errors.length > 0) annotate(context, `${LABEL_PREFIX}error`, { value: `Failed to parse policy: ${formatErrors(errors)}` });
    return policy;
  };
  return {
    name: 'PodSecurity',
    handles({ operation, subresource, resource }) {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
      const name = resourceOf({ resource });
      if (name === '/pods') return !otherSubresources.has(subresource);
      return subresource === '' && (name === '/namespaces' || templatePaths.has(name));
    },
    async validate(attributes) {
      const name = resourceOf(attributes);
      if (name === '/namespaces') return validateNamespace(attributes, reads, configuration);
      const exemption = findExemption(attributes);
      if (exemption !== undefined) return exempt(attributes, exemption);
      const policy = await findPolicy(attributes);
      if (name === '/pods' && policy === undefined) throw internalError(`failed to lookup namespace "${attributes.namespace}"`);
      if (policy === undefined) return;
      const count: Count = (mode, decision) => report({ ...describeSubject(attributes), evaluation: describeEvaluation(policy[mode], mode, decision) });
      if (isPrivileged(policy)) {
        if (name !== '/pods') return;
        count('enforce', 'allow');
        return annotateEnforced(attributes, policy);
      }
      const pod = name === '/pods' ? readPod(attributes) : readTemplate(attributes.object, templatePaths.get(name) ?? []);
      if (pod === undefined) return;
      if (exemptions.runtimeClasses.includes(pod.spec.runtimeClassName ?? '')) return exempt(attributes, 'runtimeClass');
      annotateViolations(attributes, pod, { policy, count });
      if (name === '/pods') {
        annotateEnforced(attributes, policy);
        enforce(attributes, pod, { policy, count });
      }
      const findings = evaluatePod(policy.warn, pod);
      if (findings.length === 0) return;
      count('warn', 'deny');
      attributes.context.warnings.push(`would violate PodSecurity "${formatLevel(policy.warn)}": ${formatDetails(findings)}`);
    },
  };
}

const formatErrors = (errors: readonly FieldError[]): string => {
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  return texts.length === 1 ? texts.join('') : `[${texts.join(', ')}]`;
};

/** Annotations of the audit event, as the reference makes them. */
const annotateExemption = ({ context }: AdmissionAttributes, value: string): void => annotate(context, `${LABEL_PREFIX}exempt`, { value });
const annotateEnforced = ({ context }: AdmissionAttributes, { enforce: level }: Policy): void =>
  annotate(context, `${LABEL_PREFIX}enforce-policy`, { value: formatLevel(level) });

/** What of a request is counted. */
function describeSubject({ operation, resource, subresource }: AdmissionAttributes): Omit<PodSecurityRecord, 'evaluation'> {
  return { operation: operation.toLowerCase(), resource: resourceOf({ resource }) === '/pods' ? 'pod' : 'controller', subresource };
}

function describeEvaluation({ level, minor }: LevelVersion, mode: Mode, decision: Decision): PodSecurityRecord['evaluation'] {
  const version = minor === 'latest' || level === 'privileged' ? 'latest' : minor > LAST_MINOR ? 'future' : `v1.${minor}`;
  return { decision, mode, level, version };
}

interface Judging {
  readonly policy: Policy;
  readonly count: Count;
}

function annotateViolations({ context }: AdmissionAttributes, pod: Pod, { policy: { audit }, count }: Judging): void {
  const findings = evaluatePod(audit, pod);
  if (findings.length === 0) return;
  count('audit', 'deny');
  annotate(context, `${LABEL_PREFIX}audit-violations`, { value: `would violate PodSecurity "${formatLevel(audit)}": ${formatDetails(findings)}` });
}

function enforce(attributes: AdmissionAttributes, pod: Pod, { policy: { enforce: level }, count }: Judging): void {
  const findings = evaluatePod(level, pod);
  count('enforce', findings.length > 0 ? 'deny' : 'allow');
  if (findings.length > 0) throw refuse(attributes, `violates PodSecurity "${formatLevel(level)}": ${formatDetails(findings)}`);
}

/** The pod of a request; undefined for an update that changes nothing that a check looks at. */
function readPod({ operation, object, oldObject }: AdmissionAttributes): Pod | undefined {
  const pod = object as unknown as Pod;
  if (operation === 'UPDATE' && oldObject !== undefined && !isSignificantUpdate(pod.spec, (oldObject as unknown as Pod).spec)) return undefined;
  return pod;
}

/** Whether an update of a pod changes an image or adds a container; nothing else of a pod's security can change. */
function isSignificantUpdate(spec: PodSpec, old: PodSpec): boolean {
  const images = (containers: readonly Container[] | undefined): unknown => (containers ?? []).map(({ image }) => image);
  if (!equalJson(images(spec.containers), images(old.containers)) || !equalJson(images(spec.initContainers), images(old.initContainers))) return true;
  const before = new Map((old.ephemeralContainers ?? []).map(({ name, image }) => [name, image]));
  return (spec.ephemeralContainers ?? []).some(({ name, image }) => !before.has(name) || before.get(name) !== image);
}

function readTemplate(object: KubeObject | undefined, path: readonly string[]): Pod | undefined {
  const template = path.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], object) as Partial<Pod> | undefined;
  return template?.spec === undefined ? undefined : template as Pod;
}

async function validateNamespace(attributes: AdmissionAttributes, { pods }: Reads, configuration: PodSecurityConfiguration): Promise<void> {
  const { object, oldObject, operation, name, kind, context } = attributes;
  const { policy, errors } = readPolicy(object?.metadata.labels, configuration.defaults);
  const before = readPolicy(oldObject?.metadata.labels, configuration.defaults);
  const refusal = (): StatusError => invalid(kind, name, errors);
  if (operation === 'CREATE' && errors.length > 0) throw refusal();
  if (operation === 'UPDATE' && errors.length > 0 && !equalJson(errors, before.errors)) throw refusal();
  const isRelaxed = policy.enforce.minor === before.policy.enforce.minor && compareLevels(policy.enforce.level, before.policy.enforce.level) <= 0;
  const isHarmless = policy.enforce.level === 'privileged' || isRelaxed;
  if (configuration.exemptions.namespaces.includes(name) && (operation === 'CREATE' || !isHarmless)) {
    const warning = describeExemption(object as KubeObject, policy, configuration.defaults);
    if (warning !== undefined) context.warnings.push(warning);
    return;
  }
  if (operation !== 'UPDATE' || isHarmless) return;
  context.warnings.push(...describeViolations(await pods.list(name), { namespace: name, level: policy.enforce, configuration }));
}

/** The warning about labels of a namespace that no policy holds. */
function describeExemption({ metadata }: KubeObject, policy: Policy, defaults: Policy): string | undefined {
  if (isPrivileged(policy) || modes.every((mode) => isSameLevel(policy[mode], defaults[mode]))) return undefined;
  const labels = metadata.labels ?? {};
  const set = modes.filter((mode) => policy[mode].level !== 'privileged' && Object.values(labelsOf(mode)).some((label) => Object.hasOwn(labels, label)));
  if (set.length === 0) return undefined;
  const shown = set.map((mode) => `${mode}=${formatLevel(policy[mode])}`).join(', ');
  return `namespace "${metadata.name ?? ''}" is exempt from Pod Security, and the policy (${shown}) will be ignored`;
}

interface Checked {
  readonly namespace: string;
  readonly level: LevelVersion;
  readonly configuration: PodSecurityConfiguration;
}

/** Warnings about the pods of a namespace that a new level would refuse: one line for each set of reasons, with the first pod by name. */
function describeViolations(pods: readonly KubeObject[], { namespace, level, configuration }: Checked): string[] {
  const ordered = orderPods(pods, configuration.exemptions.runtimeClasses);
  const byReason = new Map<string, string[]>();
  for (const pod of ordered.slice(0, PODS_TO_CHECK)) {
    const findings = evaluatePod(level, pod as unknown as Pod);
    if (findings.length === 0) continue;
    const reason = formatReasons(findings);
    byReason.set(reason, [...byReason.get(reason) ?? [], pod.metadata.name ?? '']);
  }
  const lines = [...byReason].map(([reason, names]) => {
    const others = names.length - 1;
    const more = others === 0 ? '' : ` (and ${others} other pod${others === 1 ? '' : 's'})`;
    return `${names.sort()[0]}${more}: ${reason}`;
  });
  const isCut = ordered.length > PODS_TO_CHECK;
  return [
    ...(isCut ? [`new PodSecurity enforce level only checked against the first ${PODS_TO_CHECK} of ${ordered.length} existing pods`] : []),
    ...(lines.length > 0 ? [`existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${formatLevel(level)}"`] : []),
    ...lines.sort(),
  ];
}

/** Pods in the order in which they are checked: one of each controller first. */
function orderPods(pods: readonly KubeObject[], exemptClasses: readonly string[]): KubeObject[] {
  const seen = new Set<string>();
  const isRepeated = (pod: KubeObject): boolean => {
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid;
    if (controller === undefined || !seen.has(controller)) {
      if (controller !== undefined) seen.add(controller);
      return false;
    }
    return true;
  };
  const held = pods.filter((pod) => !exemptClasses.includes((pod as unknown as Pod).spec.runtimeClassName ?? ''));
  const repeated: KubeObject[] = [];
  const first: KubeObject[] = [];
  for (const pod of held) (isRepeated(pod) ? repeated : first).push(pod);
  return [...first, ...repeated];
}
