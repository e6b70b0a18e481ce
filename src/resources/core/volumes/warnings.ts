// Warnings that PersistentVolumes, claims and volumes of pods share.
import { type Field, at } from '../../common/validation/check.ts';
import { readPath } from '../../common/values.ts';
import { warnOfFraction } from '../../common/warnings/quantities.ts';

/** The annotation that named the class before the field existed. */
export const OLD_CLASS = 'volume.beta.kubernetes.io/storage-class';

/** The warning of an object that has the old annotation. */
export const OLD_CLASS_WARNING = `metadata.annotations[${OLD_CLASS}]: deprecated since v1.8; use "storageClassName" attribute instead`;

const oldVolumes: readonly (readonly [string, string])[] = [
  ['photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'], ['gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'deprecated in v1.16, non-functional in v1.22+'], ['flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'deprecated in v1.22, non-functional in v1.25+'], ['quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'deprecated in v1.25, non-functional in v1.26+'], ['cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'deprecated in v1.28, non-functional in v1.31+'],
];

/** Sources whose name in warnings differs from the field. */
const shownAs: Readonly<Record<string, string>> = { storageos: 'storageOS' };

/** Warns of deprecated volume sources. */
export function warnOfOldVolumes(volume: Field): readonly string[] {
  return oldVolumes.filter(([kind]) => readPath(volume.value, kind) !== undefined)
    .map(([kind, text]) => `${at(volume, shownAs[kind] ?? kind).path}: ${text}`);
}

/** Warns of storage requests and limits with a fraction of a byte. */
export function warnOfClaimSpec(spec: Field): readonly string[] {
  return ['requests', 'limits'].flatMap((list) => warnOfFraction(at(spec, 'resources', list), 'storage'));
}
