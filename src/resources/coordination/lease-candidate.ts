// coordination.k8s.io LeaseCandidate, the same in both versions; off by default.
import {
  type KubeObject, type SemanticVersion, checkConfigMapKey, compareVersions, invalidValue, parseVersion, required,
} from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { type Errors, type Field, at, checkImmutable, checkRequired, checkText, isEmptyText, none, specOf } from '../common/validation/check.ts';
import { toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { BY_EMULATION, checkStrategy } from './lease-strategy.ts';

const candidateColumns: readonly Column[] = withNameAndAge(
  textColumn('LeaseName', 'spec', 'leaseName'), textColumn('BinaryVersion', 'spec', 'binaryVersion'),
  textColumn('EmulationVersion', 'spec', 'emulationVersion'),
);
const isZero = (version: SemanticVersion | undefined): boolean =>
  version === undefined || (version.pre.length === 0 && version.numbers.every((number) => number === 0));

function checkVersion(place: Field): Errors {
  return isEmptyText(place) || parseVersion(toText(place.value)) !== undefined ? none
    : [invalidValue(place.path, place.value, 'must be a valid semantic version')];
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
