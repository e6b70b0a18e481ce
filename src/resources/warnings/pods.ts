// Warnings about pods and templates of pods: what works, but hardly as meant. In the order in which the reference tells them.
import { readPath, toNumber, toText } from '../columns/common.ts';
import { type Field, at, each } from '../validation/check.ts';
import { warnOfAddress } from './addresses.ts';
import { warnOfContainers, warnOfFraction } from './containers.ts';
import { warnOfLabel, warnOfLabelMap, warnOfNodeAffinity } from './labels.ts';
import { warnOfOverlaps } from './volume-paths.ts';

const oldAnnotations: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

const oldVolumes: readonly (readonly [string, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'], ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'], ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'], ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'], ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** Two kinds of volumes are called otherwise in warnings than in objects. */
const shownAs: Readonly<Record<string, string>> = { storageos: 'storageOS' };

/** Warns of volume sources that are on their way out, wherever they may stand. */
export function warnOfOldVolumes(volume: Field): readonly string[] {
  return oldVolumes.filter(([kind]) => readPath(volume.value, kind) !== undefined)
    .map(([kind, told]) => `${at(volume, shownAs[kind] ?? kind).path}: ${told}`);
}

/** Warns of storage that a claim asks for in fractions of bytes. */
export function warnOfClaimSpec(spec: Field): readonly string[] {
  return ['requests', 'limits'].flatMap((list) => warnOfFraction(at(spec, 'resources', list), 'storage'));
}

function warnOfRepeats(list: Field, name: string, shown: string): readonly string[] {
  const seen = new Set<string>();
  return each(list).flatMap((entry) => {
    const { path, value } = at(entry, name);
    const isNew = !seen.has(toText(value));
    seen.add(toText(value));
    return isNew ? [] : [`${path}: duplicate ${shown} "${toText(value)}"`];
  });
}

const missingSelector = ({ path, value }: Field): readonly string[] =>
  (value === undefined ? [`${path}: a null labelSelector results in matching no pod`] : []);

function warnOfSpread(spec: Field): readonly string[] {
  return each(at(spec, 'topologySpreadConstraints')).flatMap((constraint) => [
    ...warnOfLabel(at(constraint, 'topologyKey'), true), ...missingSelector(at(constraint, 'labelSelector')),
  ]);
}

function warnOfPodAffinity(affinity: Field): readonly string[] {
  const required = each(at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution'));
  const preferred = each(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution'));
  return [
    ...required.flatMap((term) => missingSelector(at(term, 'labelSelector'))),
    ...preferred.flatMap((term) => missingSelector(at(term, 'podAffinityTerm', 'labelSelector'))),
  ];
}

function warnOfAnnotations(metadata: Field): readonly string[] {
  return oldAnnotations.filter(([key]) => readPath(metadata.value, 'annotations', key) !== undefined)
    .map(([key, told]) => `${at(metadata, 'annotations').path}[${key}]: ${told}`);
}

const containersOf = (spec: Field): readonly Field[] => ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) => each(at(spec, list)));

function warnOfSeccomp(metadata: Field, spec: Field): readonly string[] {
  const entry = (key: string): readonly string[] => (readPath(metadata.value, 'annotations', key) === undefined
    ? [] : [`${at(metadata, 'annotations').path}[${key}]: non-functional in v1.27+; use the "seccompProfile" field instead`]);
  const own = at(spec, 'securityContext', 'seccompProfile').value === undefined ? entry('seccomp.security.alpha.kubernetes.io/pod') : [];
  const others = containersOf(spec).filter((container) => at(container, 'securityContext', 'seccompProfile').value === undefined);
  return [...own, ...others.flatMap(({ value }) => entry(`container.seccomp.security.alpha.kubernetes.io/${toText(readPath(value, 'name'))}`))];
}

function warnOfVolumes(spec: Field): readonly string[] {
  const volumes = at(spec, 'volumes');
  const own = each(volumes).flatMap((volume) => {
    return [...warnOfOldVolumes(volume), ...warnOfClaimSpec(at(volume, 'ephemeral', 'volumeClaimTemplate', 'spec'))];
  });
  return [...own, ...warnOfOverlaps(volumes)];
}

/** Warns of what is doubtful about a pod, or about a template that pods will be made from; `pod` is where metadata and spec are. */
export function warnOfPod(pod: Field): readonly string[] {
  const [metadata, spec] = [at(pod, 'metadata'), at(pod, 'spec')];
  const selector = at(spec, 'nodeSelector');
  const secrets = at(spec, 'imagePullSecrets');
  const grace = at(spec, 'terminationGracePeriodSeconds');
  const unnamed = each(secrets).map((secret) => at(secret, 'name')).filter(({ value }) => toText(value) === '');
  return [
    ...warnOfLabelMap(selector, (key) => `${selector.path}[${key}]`), ...warnOfNodeAffinity(at(spec, 'affinity', 'nodeAffinity')), ...warnOfSpread(spec),
    ...warnOfAnnotations(metadata), ...warnOfVolumes(spec),
    ...warnOfRepeats(at(spec, 'hostAliases'), 'ip', 'ip'), ...warnOfRepeats(secrets, 'name', 'name'),
    ...unnamed.map(({ path }) => `${path}: invalid empty name ""`),
    ...['memory', 'ephemeral-storage'].flatMap((name) => warnOfFraction(at(spec, 'overhead'), name)),
    ...warnOfSeccomp(metadata, spec), ...warnOfContainers(containersOf(spec)),
    ...(toNumber(grace.value) < 0 ? [`${grace.path}: must be >= 0; negative values are invalid and will be treated as 1`] : []),
    ...['podAffinity', 'podAntiAffinity'].flatMap((name) => warnOfPodAffinity(at(spec, 'affinity', name))),
    ...each(at(spec, 'dnsConfig', 'nameservers')).flatMap(warnOfAddress),
    ...each(at(spec, 'hostAliases')).flatMap((alias) => warnOfAddress(at(alias, 'ip'))),
  ];
}
