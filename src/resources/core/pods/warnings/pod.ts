// Warnings about pods and pod templates, in the order of the reference (GetWarningsForPod, GetWarningsForPodTemplate).
import { type Field, at, each } from '../../../common/validation/check.ts';
import { createPassedTexts } from '../../../common/validation/passed-texts.ts';
import { readPath, toNumber, toObject, toText } from '../../../common/values.ts';
import { warnOfAddress } from '../../../common/warnings/addresses.ts';
import { warnOfLabel, warnOfLabelMap, warnOfNodeAffinity } from '../../../common/warnings/labels.ts';
import { warnOfFraction } from '../../../common/warnings/quantities.ts';
import type { Warn } from '../../../common/warnings/warnings.ts';
import { warnOfClaimSpec, warnOfOldVolumes } from '../../volumes/warnings.ts';
import { warnOfAppArmor } from '../app-armor.ts';
import { textOfSpec } from '../spec-text.ts';
import { warnOfContainers } from './containers.ts';
import { warnOfOverlaps } from './volume-paths.ts';

/** Warns of addresses in the status that are not in canonical form. */
export const podAddresses: Warn = (root) => [['podIPs', 'ip'], ['hostIPs', 'ip']].flatMap(([list, member]) => {
  return each(at(root, 'status', list as string)).flatMap((entry) => warnOfAddress(at(entry, member as string)));
});

const oldAnnotations: readonly (readonly [string, string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
];

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
    .map(([key, text]) => `${at(metadata, 'annotations').path}[${key}]: ${text}`);
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

/** The warnings of a pod or a pod template; `pod` is the field that holds metadata and spec. */
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
    ...warnOfSeccomp(metadata, spec), ...(pod.path === '' ? [] : warnOfAppArmor(pod)), ...warnOfContainers(containersOf(spec)),
    ...(toNumber(grace.value) < 0 ? [`${grace.path}: must be >= 0; negative values are invalid and will be treated as 1`] : []),
    ...['podAffinity', 'podAntiAffinity'].flatMap((name) => warnOfPodAffinity(at(spec, 'affinity', name))),
    ...each(at(spec, 'dnsConfig', 'nameservers')).flatMap(warnOfAddress),
    ...each(at(spec, 'hostAliases')).flatMap((alias) => warnOfAddress(at(alias, 'ip'))),
  ];
}

const warnOnce = createPassedTexts();

/** The warnings of a new pod, whose field has no path. */
export function warnOfNewPod(pod: Field): readonly string[] {
  const text = textOfSpec(readPath(pod.value, 'spec'));
  // Of annotations the keys matter.
  const keys = Object.keys(toObject(readPath(pod.value, 'metadata', 'annotations')));
  return warnOnce(text && `${JSON.stringify(keys)} ${text}`, () => warnOfPod(pod));
}
