// Validation of projected volumes and of the downward API: files that the cluster writes into a volume.
import { type FieldError, forbiddenField, invalidValue, notSupportedText, required } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkRequired, each, isEmptyText, isGiven, isWrong } from '../../common/validation/check.ts';
import { checkSelector } from '../../common/validation/selectors.ts';
import { checkBundleName, checkSignerName, checkUserAnnotations, isKubernetesSigner } from '../../common/validation/signer-names.ts';
import { readPath, toNumber, toText } from '../../common/values.ts';
import { showPodPart } from '../pods/validation/parts.ts';
import { checkFieldReference, checkKeyToPath, checkLocalPath, checkMode, checkResourceReference } from '../pods/validation/references.ts';

const fields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'];

/** A file of the downward API. */
export function checkDownwardFile(file: Field): Errors {
  const [path, field, resource] = [at(file, 'path'), at(file, 'fieldRef'), at(file, 'resourceFieldRef')];
  const errors: FieldError[] = [...checkRequired(path), ...checkLocalPath(path)];
  if (isGiven(field)) {
    errors.push(...checkFieldReference(field, fields));
    if (isGiven(resource)) errors.push(invalidValue(file.path, 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously'));
  } else if (isGiven(resource)) errors.push(...checkResourceReference(resource, true));
  else errors.push(required(file.path, 'one of fieldRef and resourceFieldRef is required'));
  return [...errors, ...checkMode(at(file, 'mode'))];
}

/** The paths of one volume; each may be taken once. */
class TakenPaths {
  readonly #paths = new Set<string>();
  readonly #volume: Field;

  constructor(volume: Field) {
    this.#volume = volume;
  }

  take(path: string, shown = path): Errors {
    if (path === '') return [];
    if (this.#paths.has(path)) return [invalidValue(this.#volume.path, shown, 'conflicting duplicate paths')];
    this.#paths.add(path);
    return [];
  }
}

type CheckProjection = (source: Field, paths: TakenPaths, volume: Field) => Errors;

const checkKeys: CheckProjection = (source, paths) => {
  const name = at(source, 'name');
  return [
    ...checkRequired(name),
    ...each(at(source, 'items')).flatMap((item) => [
      ...checkKeyToPath(item), ...paths.take(toText(readPath(item.value, 'path')), toText(name.value)),
    ]),
  ];
};

const checkDownward: CheckProjection = (source, paths) => each(at(source, 'items')).flatMap((file) => [
  // The reference omits the index of the list.
  ...checkDownwardFile({ path: source.path, value: file.value }), ...paths.take(toText(readPath(file.value, 'path'))),
]);

const checkToken: CheckProjection = (source, _, volume) => {
  const [lifetime, path] = [at(source, 'expirationSeconds'), readPath(source.value, 'path')];
  const seconds = toNumber(lifetime.value ?? 3600);
  // The error has the path of the volume, not of the source.
  const place = { path: `${volume.path}.path`, value: path };
  return [
    ...(seconds < 600 ? [isWrong(lifetime, 'may not specify a duration less than 10 minutes')] : []),
    ...(seconds > 2 ** 32 ? [isWrong(lifetime, 'may not specify a duration larger than 2^32 seconds')] : []),
    ...(isEmptyText(place) ? [required(place.path)] : checkLocalPath(place)),
  ];
};

function checkBundle(source: Field): Errors {
  const [name, signer, selector] = [at(source, 'name'), at(source, 'signerName'), at(source, 'labelSelector')];
  if (isGiven(name) && isGiven(signer)) {
    return [invalidValue(source.path, showPodPart('ClusterTrustBundleProjection', source.value), 'only one of name and signerName may be used')];
  }
  if (isGiven(name)) {
    return [
      ...(isEmptyText(name) ? [required(name.path, 'must be a valid object name')] : []),
      ...checkBundleName(toText(name.value)).map((problem) => isWrong(name, `not a valid clustertrustbundlename: ${problem}`)),
      ...(isGiven(selector) ? [isWrong(selector, 'labelSelector must be unset if name is specified')] : []),
    ];
  }
  if (!isGiven(signer)) return [required(source.path, 'either name or signerName must be specified')];
  return [
    ...(isEmptyText(signer) ? [required(signer.path, 'must be a valid signer name')] : []), ...checkSignerName(signer),
    ...(isGiven(selector) ? checkSelector(selector) : []),
  ];
}

const checkTrustBundle: CheckProjection = (source, paths) => {
  const path = at(source, 'path');
  return [...checkBundle(source), ...checkRequired(path), ...checkLocalPath(path), ...paths.take(toText(path.value))];
};

const keyTypes = ['RSA3072', 'RSA4096', 'ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519'];
const DAY_S = 86_400;

function checkCertificateLifetime(source: Field): Errors {
  const lifetime = at(source, 'maxExpirationSeconds');
  if (!isGiven(lifetime)) return [];
  const most = isKubernetesSigner(toText(readPath(source.value, 'signerName'))) ? DAY_S : 91 * DAY_S;
  const seconds = toNumber(lifetime.value);
  return [
    ...(seconds < 3600 ? [isWrong(lifetime, 'if provided, maxExpirationSeconds must be >= 3600')] : []),
    ...(seconds > most ? [isWrong(lifetime, `if provided, maxExpirationSeconds must be <= ${most}`)] : []),
  ];
}

const checkCertificate: CheckProjection = (source, paths) => {
  const files = ['credentialBundlePath', 'keyPath', 'certificateChainPath'].map((name) => at(source, name)).filter((place) => !isEmptyText(place));
  const type = at(source, 'keyType');
  return [
    ...checkSignerName(at(source, 'signerName')),
    ...checkUserAnnotations(at(source, 'userAnnotations')),
    ...(keyTypes.includes(toText(type.value)) ? [] : [notSupportedText(type.path, toText(type.value), keyTypes, true)]),
    ...checkCertificateLifetime(source), ...files.flatMap((file) => [...checkLocalPath(file), ...paths.take(toText(file.value))]),
    ...(files.length > 0 ? [] : [required(source.path, 'specify at least one of credentialBundlePath, keyPath, and certificateChainPath')]),
  ];
};

const checks: readonly (readonly [string, CheckProjection])[] = [
  ['secret', checkKeys], ['configMap', checkKeys], ['downwardAPI', checkDownward], ['serviceAccountToken', checkToken],
  ['clusterTrustBundle', checkTrustBundle], ['podCertificate', checkCertificate],
];

/** The sources of a projected volume; no two may write the same file. */
export function checkProjections(volume: Field): Errors {
  const paths = new TakenPaths(volume);
  return each(at(volume, 'sources')).flatMap((entry) => {
    const given = checks.filter(([name]) => isGiven(at(entry, name)));
    const errors = given.flatMap(([name, check]) => check(at(entry, name), paths, volume));
    return given.length > 1 ? [...errors, forbiddenField(entry.path, 'may not specify more than 1 volume type per source')] : errors;
  });
}
