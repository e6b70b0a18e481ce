// Validation of the environment variables of a container.
import { type FieldError, checkDnsLabel, invalidValue, notFoundValue, required, validateName } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkText, each, isEmptyText, isGiven, isWrong } from '../../../common/validation/check.ts';
import { readPath, toObjects, toText } from '../../../common/values.ts';
import { checkFieldReference, checkKeySelector, checkNoBacksteps, checkResourceReference } from './references.ts';

const NAME_PROBLEM = "a valid environment variable name must consist only of printable ASCII characters other than '='";

const fields = [
  'metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.serviceAccountName', 'status.hostIP', 'status.hostIPs', 'status.podIP',
  'status.podIPs',
];
/** Whether an environment variable may have this name. */
export const isVariableName = (name: string): boolean => /^[ -<>-~]+$/.test(name);

const checkVariableName = (place: Field): Errors => (isVariableName(toText(place.value)) ? [] : [isWrong(place, NAME_PROBLEM)]);

/** A value from a file in a volume (fileKeyRef). */
function checkFileKey(reference: Field): Errors {
  const [key, volume, path] = [at(reference, 'key'), at(reference, 'volumeName'), at(reference, 'path')];
  return [
    ...(isEmptyText(key) ? [required(key.path)] : checkVariableName(key)),
    ...(isEmptyText(volume) ? [required(volume.path)] : checkText(volume, checkDnsLabel)),
    ...(isEmptyText(path) ? [required(path.path)] : checkNoBacksteps(path)),
  ];
}

const sources: readonly (readonly [string, (reference: Field) => Errors])[] = [
  ['fieldRef', (reference) => checkFieldReference(reference, fields)], ['resourceFieldRef', (reference) => checkResourceReference(reference, false)],
  ['configMapKeyRef', checkKeySelector], ['secretKeyRef', checkKeySelector], ['fileKeyRef', checkFileKey],
];
const NO_SOURCE = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';

function checkSource(variable: Field): Errors {
  const source = at(variable, 'valueFrom');
  if (!isGiven(source)) return [];
  const given = sources.filter(([name]) => isGiven(at(source, name)));
  const errors = given.flatMap(([name, check]) => check(at(source, name)));
  if (given.length === 0) return [invalidValue(source.path, '', NO_SOURCE)];
  if (!isEmptyText(at(variable, 'value'))) return [...errors, invalidValue(source.path, '', 'may not be specified when `value` is not empty')];
  return given.length > 1 ? [...errors, invalidValue(source.path, '', 'may not have more than one field specified at a time')] : errors;
}

/** The reference holds the name of the source to the rule of prefixes, which may end with a dash. */
function checkWhole(source: Field): Errors {
  const name = at(source, 'name');
  return isEmptyText(name) ? [required(name.path)] : checkText(name, (text) => validateName('dns-subdomain', text, true));
}

/** Validates `env` and `envFrom` of a container. */
export function checkEnvironment(container: Field): Errors {
  const list = at(container, 'envFrom');
  const errors: FieldError[] = each(at(container, 'env')).flatMap((variable) => {
    const name = at(variable, 'name');
    return [...(isEmptyText(name) ? [required(name.path)] : checkVariableName(name)), ...checkSource(variable)];
  });
  for (const source of each(list)) {
    const prefix = at(source, 'prefix');
    const given = ['configMapRef', 'secretRef'].map((name) => at(source, name)).filter(isGiven);
    errors.push(...(isEmptyText(prefix) ? [] : checkVariableName(prefix)), ...given.flatMap(checkWhole));
    if (given.length === 0) errors.push(invalidValue(list.path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    if (given.length > 1) errors.push(invalidValue(list.path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

/** The volumes of fileKeyRef exist and are emptyDirs. */
export function checkFileVolumes(spec: Field, containers: readonly Field[]): Errors {
  const volumes = new Map(toObjects(readPath(spec.value, 'volumes')).map((volume) => [volume['name'], volume]));
  return containers.flatMap((container) => each(at(container, 'env'))).flatMap((variable): Errors => {
    const reference = at(variable, 'valueFrom', 'fileKeyRef');
    if (!isGiven(reference)) return [];
    const name = at(reference, 'volumeName');
    const volume = volumes.get(toText(name.value));
    if (volume === undefined) return [notFoundValue(name.path, toText(name.value))];
    return isGiven({ path: '', value: volume['emptyDir'] }) ? [] : [isWrong(name, 'referenced volume must be of type emptyDir')];
  });
}
