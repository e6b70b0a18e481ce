// coordination.k8s.io LeaseCandidate, the same in both versions; off by default.
import {
  type KubeObject, checkConfigMapKey, checkQualifiedName, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { type Errors, type Field, at, checkImmutable, checkRequired, checkText, isEmptyText, none, specOf } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

const candidateColumns: readonly Column[] = withNameAndAge(
  textColumn('LeaseName', 'spec', 'leaseName'), textColumn('BinaryVersion', 'spec', 'binaryVersion'),
  textColumn('EmulationVersion', 'spec', 'emulationVersion'),
);
const BY_EMULATION = 'OldestEmulationVersion';

/** A semantic version: three numbers, then identifiers of a pre-release, which come before the release. Build metadata counts for nothing. */
interface SemanticVersion {
  readonly numbers: readonly number[];
  readonly pre: readonly string[];
}

const isNumeric = (text: string): boolean => /^\d+$/.test(text);
const isIdentifier = (text: string): boolean => /^[0-9A-Za-z-]+$/.test(text);
const hasNoLeadingZero = (text: string): boolean => text === '0' || !text.startsWith('0');

function parseVersion(text: string): SemanticVersion | undefined {
  const [whole = '', ...build] = text.split('+');
  const dash = whole.indexOf('-');
  const numbers = (dash < 0 ? whole : whole.slice(0, dash)).split('.');
  const pre = dash < 0 ? [] : whole.slice(dash + 1).split('.');
  if (numbers.length !== 3 || !numbers.every((part) => isNumeric(part) && hasNoLeadingZero(part))) return undefined;
  if (!pre.every((part) => isIdentifier(part) && (!isNumeric(part) || hasNoLeadingZero(part)))) return undefined;
  if (build.length > 1 || !build.every((part) => part.split('.').every(isIdentifier))) return undefined;
  return { numbers: numbers.map(Number), pre };
}

function compareIdentifiers(a: string, b: string): number {
  if (isNumeric(a) && isNumeric(b)) return Number(a) - Number(b);
  if (isNumeric(a) !== isNumeric(b)) return isNumeric(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  const byNumber = a.numbers.map((number, index) => number - (b.numbers[index] as number)).find((difference) => difference !== 0);
  if (byNumber !== undefined) return byNumber;
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  const shared = a.pre.slice(0, b.pre.length).map((part, index) => compareIdentifiers(part, b.pre[index] as string)).find((difference) => difference !== 0);
  return shared ?? a.pre.length - b.pre.length;
}

const isZero = (version: SemanticVersion | undefined): boolean =>
  version === undefined || (version.pre.length === 0 && version.numbers.every((number) => number === 0));

function checkVersion(place: Field): Errors {
  return isEmptyText(place) || parseVersion(toText(place.value)) !== undefined ? none
    : [invalidValue(place.path, place.value, 'must be a valid semantic version')];
}

/** A strategy of Kubernetes, or a name with a domain. The reference repeats the name of the field in its path. */
function checkStrategy(place: Field): Errors {
  const repeated = { path: `${place.path}.strategy`, value: place.value };
  if (toText(place.value).includes('/')) return checkText(repeated, checkQualifiedName);
  return place.value === BY_EMULATION ? none : [notSupported(repeated.path, repeated.value, [BY_EMULATION])];
}

function checkSpec(spec: Field): Errors {
  const [binary, emulation, strategy] = [at(spec, 'binaryVersion'), at(spec, 'emulationVersion'), at(spec, 'strategy')];
  const [binaryVersion, emulationVersion] = [binary, emulation].map(({ value }) => parseVersion(toText(value)));
  // A version that does not parse counts as 0.0.0.
  const zero: SemanticVersion = { numbers: [0, 0, 0], pre: [] };
  const isOlder = !isEmptyText(binary) && !isEmptyText(emulation) && compareVersions(binaryVersion ?? zero, emulationVersion ?? zero) < 0;
  const lacksEmulation = strategy.value === BY_EMULATION && isZero(emulationVersion);
  return [
    ...checkRequired(at(spec, 'leaseName')), ...checkVersion(emulation), ...checkRequired(binary), ...checkVersion(binary),
    ...(isOlder ? [invalidValue(binary.path, binary.value, 'must be greater than or equal to `emulationVersion`')] : []),
    ...(lacksEmulation ? [required(emulation.path, 'must be specified when `strategy` is \'OldestEmulationVersion\'')] : []),
    ...(isEmptyText(strategy) ? [required(strategy.path)] : checkStrategy(strategy)),
  ];
}

/** Validates leasecandidates. */
function validateCandidate(candidate: KubeObject): Errors {
  return [...checkText({ path: 'metadata.name', value: candidate.metadata.name }, checkConfigMapKey), ...checkSpec(specOf(candidate))];
}

/** The spec of LeaseCandidate. */
export const leaseCandidateKind: KindSpec = {
  kind: 'LeaseCandidate', plural: 'leasecandidates', versions: ['v1beta1', 'v1alpha2'], nameRule: 'path-segment',
  createOnUpdate: true, unconditionalUpdate: false,
  metadataChecks: ['lenient-update', 'kind'],
  columns: candidateColumns,
  validation: {
    object: validateCandidate,
    update: (object, old) => [...checkSpec(specOf(object)), ...checkImmutable(at(specOf(object), 'leaseName'), at(specOf(old), 'leaseName'))],
  },
};
