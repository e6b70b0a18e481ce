// Validation of the spec of pods and pod templates, in the order of the reference (ValidatePodSpec); the parts have files of their own.
import {
  type FieldError, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, duplicate, forbiddenField, invalidValue, required, tooLong,
  validateAnnotations,
} from '../../../../apimachinery/index.ts';
import { checkIp } from '../../../common/validation/addresses.ts';
import {
  type Errors, type Field, at, checkLabelName, checkLabels, checkOneOf, checkText, each, isEmptyText, isGiven, isWrong,
} from '../../../common/validation/check.ts';
import { createPassedTexts, plainText } from '../../../common/validation/passed-texts.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../../common/values.ts';
import { checkVolumeSource } from '../../volumes/sources.ts';
import { HOST_NETWORK_GATE } from '../gated-fields.ts';
import { checkProfileAnnotations, checkProfilesMatch } from '../profile-annotations.ts';
import { type ContainerContext, checkContainers, checkEphemeralContainers, checkInitContainers, listContainers } from './containers.ts';
import { checkFileVolumes } from './environment.ts';
import type { Volumes } from './mounts.ts';
import { checkPodResources, checkResourceClaims, checkResources } from './resources.ts';
import { checkAffinity, checkSpread, checkTolerations } from './scheduling.ts';
import { checkHostProcesses, checkPodSecurity, checkSystem } from './security.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'];
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];
const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_BYTES = 2048;
const MAX_HOSTNAME = 64;
const LABEL = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const underscored = new RegExp(`^${LABEL}(\\.${LABEL})*$`);

const SEARCH_PROBLEM = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an "
  + `alphanumeric character (e.g. 'example.com', regex used for validation is '${LABEL}(\\.${LABEL})*')`;

/** The pod that a spec belongs to; a template has none. */
interface PodOfSpec {
  readonly name: string;
}

/** Validates the volumes of a pod: names are unique, each has one source. */
function checkVolumes(list: Field, pod: PodOfSpec | undefined): { readonly errors: Errors; readonly volumes: Volumes } {
  const volumes = new Map<string, unknown>();
  const made = new Set(pod?.name ? each(list).filter(({ value }) => isGiven(at({ path: '', value }, 'ephemeral')))
    .map(({ value }) => `${pod.name}-${toText(readPath(value, 'name'))}`) : []);
  const errors = each(list).flatMap((volume) => {
    const name = at(volume, 'name');
    const text = toText(name.value);
    const problems: FieldError[] = [...checkVolumeSource(volume, { volumeName: text, isPod: pod !== undefined, podName: pod?.name }), ...checkLabelName(name)];
    if (volumes.has(text)) problems.push(duplicate(name.path, text));
    if (problems.length === 0) volumes.set(text, volume.value);
    const claim = at(volume, 'persistentVolumeClaim', 'claimName');
    if (made.has(toText(claim.value))) problems.push(isWrong(claim, 'must not reference a PVC that gets created for an ephemeral volume'));
    return problems;
  });
  return { errors, volumes };
}

/** With the network of the host, host ports equal container ports; templates may omit them. */
function checkHostNetwork(spec: Field, isPod: boolean): Errors {
  if (readPath(spec.value, 'hostNetwork') !== true) return [];
  return each(at(spec, 'containers')).flatMap((container) => each(at(container, 'ports'))).flatMap((port) => {
    const host = at(port, 'hostPort');
    const number = toNumber(host.value ?? 0);
    if ((!isPod && number === 0) || number === toNumber(readPath(port.value, 'containerPort') ?? 0)) return [];
    return [invalidValue(host.path, number, 'must match `containerPort` when `hostNetwork` is true')];
  });
}

function checkSearch(search: Field): Errors {
  const text = toText(search.value).replace(/\.$/, '');
  if (toText(search.value) === '.') return [];
  const place = { path: search.path, value: text };
  if (text.length > 253) return [isWrong(place, 'must be no more than 253 characters')];
  return underscored.test(text) ? [] : [isWrong(place, SEARCH_PROBLEM)];
}

function checkDnsConfig(spec: Field): Errors {
  const config = at(spec, 'dnsConfig');
  const [servers, searches] = [at(config, 'nameservers'), at(config, 'searches')];
  if (readPath(spec.value, 'dnsPolicy') === 'None') {
    if (!isGiven(config)) return [required(config.path, 'must provide `dnsConfig` when `dnsPolicy` is None')];
    if (toList(servers.value).length === 0) return [required(servers.path, 'must provide at least one DNS nameserver when `dnsPolicy` is None')];
  }
  const [serverCount, texts] = [toList(servers.value).length, toList(searches.value).map(toText)];
  return [
    ...(serverCount > MAX_NAMESERVERS ? [isWrong(servers, `must not have more than ${MAX_NAMESERVERS} nameservers`)] : []),
    ...each(servers).flatMap((place) => checkIp(place)),
    ...(texts.length > MAX_SEARCHES ? [isWrong(searches, `must not have more than ${MAX_SEARCHES} search paths`)] : []),
    ...(texts.join(' ').length > MAX_SEARCH_BYTES
      ? [isWrong(searches, `must not have more than ${MAX_SEARCH_BYTES} characters (including spaces) in the search list`)] : []),
    ...each(searches).flatMap(checkSearch),
    ...each(at(config, 'options')).filter((option) => isEmptyText(at(option, 'name'))).map((option) => required(option.path, 'must not be empty')),
  ];
}

function checkGates(spec: Field): Errors {
  const seen = new Set<string>();
  return [
    ...each(at(spec, 'readinessGates')).flatMap((gate) => checkText(at(gate, 'conditionType'), checkQualifiedName)),
    ...each(at(spec, 'schedulingGates')).flatMap((gate) => {
      const name = toText(readPath(gate.value, 'name'));
      const errors: FieldError[] = [...checkText({ path: gate.path, value: name }, checkQualifiedName)];
      if (seen.has(name)) errors.push(duplicate(gate.path, name));
      seen.add(name);
      return errors;
    }),
  ];
}

/** Members that a pod with its own user namespace cannot share with the host. */
function checkHostUsers(spec: Field): Errors {
  if (readPath(spec.value, 'hostUsers') !== false) return [];
  const shared = ([['hostNetwork', 'hostNetwork'], ['hostPID', 'HostPID'], ['hostIPC', 'HostIPC']] as const)
    .filter(([name]) => readPath(spec.value, name) === true);
  return [
    ...shared.map(([name, shown]) => ({
      ...forbiddenField(`${spec.path}.${shown}`, 'when `hostUsers` is false'), ...(name === 'hostNetwork' && { when: `!${HOST_NETWORK_GATE}` }),
    })),
    ...listContainers(spec).map((container) => at(container, 'volumeDevices')).filter(({ value }) => toList(value).length > 0)
      .map(({ path }) => forbiddenField(path, 'when `hostUsers` is false')),
  ];
}

function checkHostnameOverride(spec: Field): Errors {
  const name = at(spec, 'hostnameOverride');
  if (!isGiven(name)) return [];
  const isQualified = readPath(spec.value, 'setHostnameAsFQDN') === true;
  return [
    ...(isQualified ? [forbiddenField(name.path, 'may not be specified when setHostnameAsFQDN is true')] : []),
    ...(readPath(spec.value, 'hostNetwork') === true ? [forbiddenField(name.path, 'may not be specified when hostNetwork is true')] : []),
    ...(toText(name.value).length > MAX_HOSTNAME ? [tooLong(name.path, MAX_HOSTNAME)] : []), ...checkText(name, checkDnsSubdomain),
  ];
}

/** Names of other objects, where given. */
function checkNames(spec: Field): Errors {
  const deadline = at(spec, 'activeDeadlineSeconds');
  const isOut = isGiven(deadline) && (toNumber(deadline.value) < 1 || toNumber(deadline.value) > 2 ** 31 - 1);
  const optional = (name: string, check: (text: string) => readonly string[]): Errors => {
    const place = at(spec, name);
    return isEmptyText(place) ? [] : checkText(place, check);
  };
  return [
    ...optional('serviceAccountName', checkDnsSubdomain), ...optional('nodeName', checkDnsSubdomain),
    ...(isOut ? [isWrong(deadline, 'must be between 1 and 2147483647, inclusive')] : []), ...optional('hostname', checkDnsLabel),
    ...optional('subdomain', checkDnsLabel),
  ];
}

function checkHostAliases(list: Field): Errors {
  return each(list).flatMap((alias) => [
    ...checkIp(at(alias, 'ip')), ...each(at(alias, 'hostnames')).flatMap((name) => checkText(name, checkDnsSubdomain)),
  ]);
}

/** Priority class, preemption policy and overhead. */
function checkClasses(spec: Field): Errors {
  const [priority, runtime, preemption] = [at(spec, 'priorityClassName'), at(spec, 'runtimeClassName'), at(spec, 'preemptionPolicy')];
  const policies = ['PreemptLowerPriority', 'Never'];
  const overhead = at(spec, 'overhead');
  return [
    ...(isEmptyText(priority) ? [] : checkText(priority, checkDnsSubdomain)), ...(isGiven(runtime) ? checkText(runtime, checkDnsSubdomain) : []),
    ...(!isGiven(preemption) ? [] : isEmptyText(preemption) ? [required(preemption.path)] : checkOneOf(preemption, policies, true)),
    ...(isGiven(overhead) ? checkOverhead(overhead) : []),
  ];
}

/** The overhead of a pod, which is validated as limits. */
function checkOverhead(overhead: Field): Errors {
  return checkResources({ path: overhead.path, value: { limits: overhead.value } });
}

function checkSchedulingGroup(group: Field): Errors {
  const name = at(group, 'podGroupName');
  if (!isGiven(group)) return [];
  return isGiven(name) ? checkText(name, checkDnsSubdomain) : [invalidValue(name.path, null, 'must specify one of: `podGroupName`')];
}

/** The parts of a pod that checks of its containers use. */
function readContext(spec: Field, volumes: Volumes): ContainerContext {
  const claims = toObjects(readPath(spec.value, 'resourceClaims')).map((claim) => toText(claim['name']));
  return { spec, volumes, claims: new Set(claims.filter((name) => name !== '')) };
}

/** One of a list; a text that is empty is missing. */
const checkChoice = (place: Field, choices: readonly string[]): Errors => (isEmptyText(place) ? [required(place.path)] : checkOneOf(place, choices, true));

/** Validates the spec of a pod, or of a template when there is no pod. */
export function validatePodSpec(spec: Field, pod?: PodOfSpec): Errors {
  const { errors, volumes } = checkVolumes(at(spec, 'volumes'), pod);
  const context = readContext(spec, volumes);
  const { claims } = context;
  const grace = at(spec, 'terminationGracePeriodSeconds');
  return [
    ...(isGiven(grace) ? [] : [required(grace.path)]), ...errors, ...checkResourceClaims(at(spec, 'resourceClaims')),
    ...checkContainers(at(spec, 'containers'), context), ...checkInitContainers(at(spec, 'initContainers'), context),
    ...checkEphemeralContainers(at(spec, 'ephemeralContainers'), context), ...checkPodResources(spec, claims), ...checkHostNetwork(spec, pod !== undefined),
    ...checkChoice(at(spec, 'restartPolicy'), restartPolicies), ...checkChoice(at(spec, 'dnsPolicy'), dnsPolicies),
    ...checkLabels(at(spec, 'nodeSelector')), ...checkPodSecurity(spec), ...checkAffinity(at(spec, 'affinity')), ...checkDnsConfig(spec),
    ...checkGates(spec), ...checkSpread(at(spec, 'topologySpreadConstraints')),
    ...checkHostProcesses(spec, listContainers(spec)), ...checkHostUsers(spec), ...checkHostnameOverride(spec),
    ...checkNames(spec), ...checkTolerations(at(spec, 'tolerations')), ...checkHostAliases(at(spec, 'hostAliases')), ...checkClasses(spec),
    ...checkSystem(spec, listContainers(spec)), ...checkSchedulingGroup(at(spec, 'schedulingGroup')), ...checkFileVolumes(spec, listContainers(spec)),
  ];
}

const DELETION_COST = 'controller.kubernetes.io/pod-deletion-cost';

/** The annotation of a pod that mirrors one of a kubelet's own. */
export const MIRROR_POD = 'kubernetes.io/config.mirror';

/** Validates annotations that have a meaning for pods; `spec` is that of the pod or template. */
export function checkPodAnnotations(annotations: Field, spec: unknown): Errors {
  const { [DELETION_COST]: cost, [MIRROR_POD]: mirror } = toObject(annotations.value);
  const isUnbound = mirror !== undefined && toText(readPath(spec, 'nodeName')) === '';
  const isNumber = cost === undefined || (/^(?:0|-?[1-9][0-9]*)$/.test(toText(cost)) && Math.abs(Number(cost)) < 2 ** 31);
  return [
    ...(isUnbound ? [invalidValue(`${annotations.path}[${MIRROR_POD}]`, mirror, 'must set spec.nodeName if mirror pod annotation is set')] : []),
    ...(isNumber ? [] : [invalidValue(`${annotations.path}[${DELETION_COST}]`, cost, 'must be a 32bit integer')]),
    ...checkProfileAnnotations(annotations, spec),
  ];
}

/** Validates labels and annotations of a template; the paths omit `metadata`, as in the reference. */
export function validateTemplateMetadata(template: Field): Errors {
  const metadata = toObject(readPath(template.value, 'metadata'));
  const annotations = { path: `${template.path}.annotations`, value: metadata['annotations'] };
  return [
    ...checkLabels({ path: `${template.path}.labels`, value: metadata['labels'] }),
    ...validateAnnotations(toObject(annotations.value) as Record<string, string>, annotations.path),
    ...checkPodAnnotations(annotations, readPath(template.value, 'spec')),
  ];
}

const checkTemplateOnce = createPassedTexts();

/** Validates a template of pods. */
export function validatePodTemplateSpec(template: Field): Errors {
  return checkTemplateOnce(plainText(template.value), () => {
    const ephemeral = at(template, 'spec', 'ephemeralContainers');
    return [
      ...validateTemplateMetadata(template), ...validatePodSpec(at(template, 'spec')),
      ...checkProfilesMatch(toObject(readPath(template.value, 'metadata', 'annotations')), at(template, 'spec')),
      ...(toList(ephemeral.value).length > 0 ? [forbiddenField(ephemeral.path, 'ephemeral containers not allowed in pod template')] : []),
    ];
  });
}
