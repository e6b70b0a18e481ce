// storage.k8s.io/v1 CSIDriver: it has no generation before its spec changes.
import { type FieldError, type KubeObject, duplicate, equalJson } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { ensureStruct, setAbsent } from '../common/defaults.ts';
import { sameAs } from '../common/former-versions.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkImmutable, checkOneOf, each, isGiven, isWrong, specOf,
} from '../common/validation/check.ts';
import { type Cell, readPath, toList, toNumber, toObjects, toText } from '../common/values.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';

function flagColumn(name: string, field: string, otherwise: boolean): Column {
  const cell = (object: KubeObject): Cell => (readPath(object, 'spec', field) ?? otherwise) === true;
  return column(name, cell, 'boolean');
}

function formatAudiences(object: KubeObject): string {
  const requests = readPath(object, 'spec', 'tokenRequests');
  return requests === undefined || requests === null ? '<unset>' : toObjects(requests).map((request) => toText(request['audience'])).join(',');
}

/** Columns of csidrivers. */
const csiDriverColumns: readonly Column[] = withNameAndAge(
  flagColumn('AttachRequired', 'attachRequired', true),
  flagColumn('PodInfoOnMount', 'podInfoOnMount', false),
  flagColumn('StorageCapacity', 'storageCapacity', false),
  column('TokenRequests', formatAudiences),
  flagColumn('RequiresRepublish', 'requiresRepublish', false),
  column('Modes', (object) => toList(readPath(object, 'spec', 'volumeLifecycleModes')).map(toText).join(',') || '<none>'),
);

/** Defaults of csidrivers. */
function applyCsiDriverDefaults(driver: KubeObject): void {
  const spec = ensureStruct(driver, 'spec');
  setAbsent(spec, {
    attachRequired: true, podInfoOnMount: false, storageCapacity: false, fsGroupPolicy: 'ReadWriteOnceWithFSType', requiresRepublish: false,
    seLinuxMount: false,
  });
  const modes = spec['volumeLifecycleModes'];
  if (!Array.isArray(modes) || modes.length === 0) spec['volumeLifecycleModes'] = ['Persistent'];
}

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;
const MIN_UPDATE_SECONDS = 10;

/** Token requests of a driver: one for each audience. */
function checkTokens(list: Field): Errors {
  const audiences = new Set<string>();
  return each(list).flatMap((token): Errors => {
    const [audience, seconds] = [toText(at(token, 'audience').value), at(token, 'expirationSeconds')];
    if (audiences.has(audience)) return [duplicate(at(token, 'audience').path, audience)];
    audiences.add(audience);
    if (!isGiven(seconds)) return [];
    if (toNumber(seconds.value) < MIN_TOKEN_SECONDS) return [isWrong(seconds, 'may not specify a duration less than 10 minutes')];
    return toNumber(seconds.value) > MAX_TOKEN_SECONDS ? [isWrong(seconds, 'may not specify a duration larger than 2^32 seconds')] : [];
  });
}

function checkDriverOptions(spec: Field): FieldError[] {
  const [period, inSecrets] = [at(spec, 'nodeAllocatableUpdatePeriodSeconds'), at(spec, 'serviceAccountTokenInSecrets')];
  const errors: FieldError[] = [];
  if (isGiven(period) && toNumber(period.value) < MIN_UPDATE_SECONDS) errors.push(isWrong(period, 'must be greater than or equal to 10 seconds'));
  if (isGiven(inSecrets) && each(at(spec, 'tokenRequests')).length === 0) {
    errors.push(isWrong(inSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'));
  }
  return errors;
}

/** Validates csidrivers. */
function validateCsiDriver(driver: KubeObject): Errors {
  const spec = specOf(driver);
  const policy = at(spec, 'fsGroupPolicy');
  return [
    ...checkGivenOneOf(policy, ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...checkTokens(at(spec, 'tokenRequests')),
    ...each(at(spec, 'volumeLifecycleModes')).flatMap(({ value }) =>
      checkOneOf({ path: `${spec.path}.volumeLifecycleModes`, value }, ['Persistent', 'Ephemeral'], true)),
    ...checkDriverOptions(spec),
  ];
}

/** Validates updates of csidrivers. */
function validateCsiDriverUpdate(driver: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(driver), specOf(old)];
  return [
    ...validateCsiDriver(driver), ...checkImmutable({ path: 'spec.attachedRequired', value: at(spec, 'attachRequired').value }, at(before, 'attachRequired')),
    ...checkImmutable(at(spec, 'volumeLifecycleModes'), at(before, 'volumeLifecycleModes')),
  ];
}

/** Warns of token requests without serviceAccountTokenInSecrets. */
function warnOfTokens(root: Field, old?: KubeObject): readonly string[] {
  const tokens = at(root, 'spec', 'tokenRequests').value;
  const isNew = old === undefined || !equalJson(tokens ?? null, readPath(old, 'spec', 'tokenRequests') ?? null);
  if (!isNew || toList(tokens).length === 0 || at(root, 'spec', 'serviceAccountTokenInSecrets').value !== undefined) return [];
  return ['spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in '
    + 'volume attributes'];
}

/** The spec of CSIDriver. */
export const csiDriverKind: KindSpec = {
  kind: 'CSIDriver', plural: 'csidrivers', cluster: true,
  formerVersions: sameAs('storage.k8s.io/v1beta1'),
  unconditionalUpdate: false, returnsDeleted: true,
  metadataChecks: ['update', 'kind'],
  gatedFields: [['VolumeLimitScaling', 'spec.preventPodSchedulingIfMissing']],
  gatedDefaults: { VolumeLimitScaling: (driver) => setAbsent(ensureStruct(driver, 'spec'), { preventPodSchedulingIfMissing: false }) },
  columns: csiDriverColumns,
  applyDefaults: applyCsiDriverDefaults,
  strategy: {
    prepareForUpdate(driver, old) {
      if (!equalJson(driver['spec'], old['spec'])) driver.metadata.generation = (old.metadata.generation ?? 0) + 1;
    },
  },
  validation: { object: validateCsiDriver, update: validateCsiDriverUpdate },
  warnings: warnWith(warnOfTokens),
};
