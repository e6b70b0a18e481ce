// The Pod Security policy of a namespace: a level and a version for each of three modes, read from the labels of the namespace over the defaults
// of the server's configuration. Mirrors upstream's PolicyToEvaluate: labels that cannot be read count as the strictest level to enforce, and as
// no level to audit or to warn about.
import { type FieldError, invalidValue } from '../../apimachinery/index.ts';

/** How strict a policy is. */
export type Level = 'privileged' | 'baseline' | 'restricted';

/** The modes of a policy, in the order of their labels. */
export const modes = ['enforce', 'audit', 'warn'] as const;
type Mode = (typeof modes)[number];

/** A level as a Kubernetes minor version defines it; `latest` is the version that is served. */
export interface LevelVersion {
  readonly level: Level;
  /** The minor of 1.x. */
  readonly minor: number | 'latest';
}

/** What a namespace enforces, audits and warns about. */
export type Policy = Readonly<Record<Mode, LevelVersion>>;

const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
export const LABEL_PREFIX = 'pod-security.kubernetes.io/';
const privileged: LevelVersion = { level: 'privileged', minor: 'latest' };

/** The policy of a namespace without labels, unless the configuration says otherwise. */
export const privilegedPolicy: Policy = { enforce: privileged, audit: privileged, warn: privileged };

/** A level and its version as messages show them. */
export const formatLevel = ({ level, minor }: LevelVersion): string => `${level}:${minor === 'latest' ? minor : `v1.${minor}`}`;

/** Negative where the first level is less strict than the second. */
export const compareLevels = (one: Level, two: Level): number => levels.indexOf(one) - levels.indexOf(two);

/** Whether two levels permit the same pods. */
export const isSameLevel = (one: LevelVersion, two: LevelVersion): boolean =>
  one.level === two.level && (one.level === 'privileged' || one.minor === two.minor);

/** Whether a policy neither refuses nor reports anything. */
export const isPrivileged = (policy: Policy): boolean => modes.every((mode) => policy[mode].level === 'privileged');

/** Reads a level; undefined where it is none. */
export const parseLevel = (text: string): Level | undefined => levels.find((level) => level === text);

/** Reads `latest` or `v1.x`; undefined where it is neither. */
export function parseVersion(text: string): number | 'latest' | undefined {
  if (text === 'latest') return text;
  return /^v1\.(?:0|[1-9]\d{0,8})$/.test(text) ? Number(text.slice(3)) : undefined;
}

/** The labels of one mode. */
export const labelsOf = (mode: Mode): { readonly level: string; readonly version: string } =>
  ({ level: `${LABEL_PREFIX}${mode}`, version: `${LABEL_PREFIX}${mode}-version` });

type Labels = Readonly<Record<string, string>>;

interface ReadMode {
  readonly value: LevelVersion;
  readonly errors: readonly FieldError[];
  readonly hasLevel: boolean;
  readonly hasVersion: boolean;
}

function readMode(labels: Labels, mode: Mode, fallback: LevelVersion): ReadMode {
  const names = labelsOf(mode);
  const [levelText, versionText] = [labels[names.level], labels[names.version]];
  const level = levelText === undefined ? fallback.level : parseLevel(levelText);
  const minor = versionText === undefined ? fallback.minor : parseVersion(versionText);
  const fail = (label: string, text: string, why: string): FieldError => invalidValue(`metadata.labels[${label}]`, text, why);
  return {
    value: { level: level ?? (mode === 'enforce' ? 'restricted' : 'privileged'), minor: minor ?? 'latest' },
    errors: [
      ...(level === undefined ? [fail(names.level, levelText ?? '', `must be one of ${levels.join(', ')}`)] : []),
      ...(minor === undefined ? [fail(names.version, versionText ?? '', 'must be "latest" or "v1.x"')] : []),
    ],
    hasLevel: levelText !== undefined && level !== undefined, hasVersion: versionText !== undefined,
  };
}

/** The policy of a namespace, and what is wrong with its labels. A level to enforce that is stricter than the one to warn about is warned about. */
export function readPolicy(labels: Labels = {}, defaults: Policy = privilegedPolicy): { readonly policy: Policy; readonly errors: readonly FieldError[] } {
  const [enforce, audit, warn] = modes.map((mode) => readMode(labels, mode, defaults[mode])) as [ReadMode, ReadMode, ReadMode];
  const isWarned = enforce.hasLevel && labels[labelsOf('warn').level] === undefined && compareLevels(enforce.value.level, warn.value.level) > 0;
  const warned = isWarned ? { level: enforce.value.level, minor: warn.hasVersion ? warn.value.minor : enforce.value.minor } : warn.value;
  return { policy: { enforce: enforce.value, audit: audit.value, warn: warned }, errors: [...enforce.errors, ...audit.errors, ...warn.errors] };
}
