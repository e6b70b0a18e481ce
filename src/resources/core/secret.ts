// core/v1 Secret: the keys that each type requires, and stringData, which is write-only.
import { type FieldError, type KubeObject, invalidValue, parsePem, required, tooLong, validateObjectMeta } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { JsonError, parseJson } from '../../codec/index.ts';
import { column, textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { readPointer } from '../common/defaults.ts';
import { textFields } from '../common/selectable-fields.ts';
import { type Errors, type Field, checkImmutable, memberOf } from '../common/validation/check.ts';
import { readPath, toObject, toText } from '../common/values.ts';
import { warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { MAX_DATA_BYTES, checkKey, checkSealed, countEntries, decodedLength } from './config-data.ts';

/** Columns of secrets. */
const secretColumns: readonly Column[] = withNameAndAge(textColumn('Type', 'type'), column('Data', countEntries('data')));
const secretFields = textFields('type');

/** Defaults of secrets; the write-only `stringData` is moved into `data`. */
function applySecretDefaults(secret: KubeObject): void {
  if (!secret['type']) secret['type'] = 'Opaque';
  const texts = readPointer(secret, 'stringData');
  if (texts === undefined) return;
  const encoded = Object.entries(texts).map(([key, text]) => [key, Buffer.from(toText(text), 'utf8').toString('base64')]);
  if (encoded.length > 0) secret['data'] = { ...toObject(secret['data']), ...Object.fromEntries(encoded) };
  delete secret['stringData'];
}

/** Keys that secrets of a type must have. */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  'kubernetes.io/tls': ['tls.crt', 'tls.key'],
  'kubernetes.io/dockerconfigjson': ['.dockerconfigjson'],
  'kubernetes.io/dockercfg': ['.dockercfg'],
};

const ACCOUNT_ANNOTATION = 'kubernetes.io/service-account.name';

/** Credentials of registries are a JSON object; errors do not show them. */
function checkSecretJson(path: string, base64: string): Errors {
  const refuse = (why: string): Errors => [invalidValue(path, '<secret contents redacted>', why)];
  try {
    const { value } = parseJson(Buffer.from(base64, 'base64'));
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return [];
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value === 'string' ? 'string' : 'number';
    return refuse(`json: cannot unmarshal ${type} into Go value of type map[string]interface {}`);
  } catch (error) {
    if (error instanceof JsonError) return refuse(error.message);
    throw error;
  }
}

function checkSecretType(secret: KubeObject, data: Readonly<Record<string, unknown>>): Errors {
  const type = toText(secret['type']);
  if (type === 'kubernetes.io/service-account-token' && !secret.metadata.annotations?.[ACCOUNT_ANNOTATION]) {
    return [required(`metadata.annotations[${ACCOUNT_ANNOTATION}]`)];
  }
  if (type === 'kubernetes.io/basic-auth' && data['username'] === undefined && data['password'] === undefined) {
    return [required('data[username]'), required('data[password]')];
  }
  if (type === 'kubernetes.io/ssh-auth' && !data['ssh-privatekey']) return [required('data[ssh-privatekey]')];
  const keys = Object.hasOwn(requiredKeys, type) ? requiredKeys[type] as readonly string[] : [];
  const missing = keys.filter((key) => !Object.hasOwn(data, key)).map((key) => required(`data[${key}]`));
  return missing.length > 0 || type === 'kubernetes.io/tls' ? missing : keys.flatMap((key) => checkSecretJson(`data[${key}]`, toText(data[key])));
}

/** Validates secrets. */
function validateSecret(secret: KubeObject): Errors {
  const data = toObject(secret['data']);
  const size = Object.values(data).reduce((sum: number, text) => sum + decodedLength(toText(text)), 0);
  const errors: FieldError[] = Object.keys(data).sort().flatMap((key) => checkKey('data', key));
  if (size > MAX_DATA_BYTES) errors.push(tooLong('data', MAX_DATA_BYTES));
  return [...errors, ...checkSecretType(secret, data)];
}

/** Validates updates of secrets: what may not change, then metadata and data, as the reference does. */
function validateSecretUpdate(secret: KubeObject, old: KubeObject): Errors {
  return [...checkImmutable(memberOf(secret, 'type'), memberOf(old, 'type')), ...checkSealed(secret, old, ['data']),
    ...validateObjectMeta(secret.metadata, { namespaced: true, nameRule: 'dns-subdomain' }), ...validateSecret(secret)];
}

function decodeText(value: unknown): string {
  try {
    return atob(toText(value));
  } catch {
    return '';
  }
}

/** Warns of TLS secrets without certificate or key. */
function warnOfTlsSecret(root: Field): readonly string[] {
  if (readPath(root.value, 'type') !== 'kubernetes.io/tls') return [];
  const missing = [['tls.crt', 'certificate'], ['tls.key', 'key']].filter(([member]) => {
    return parsePem(decodeText(readPath(root.value, 'data', member as string))).length === 0;
  });
  return missing.slice(0, 1).map(([, what]) => `tls: failed to find any PEM data in ${what as string} input`);
}

/** The spec of Secret. */
export const secretKind: KindSpec = {
  kind: 'Secret', plural: 'secrets',
  selectableFields: secretFields,
  metadataChecks: ['update', 'kind'],
  columns: secretColumns,
  applyDefaults: applySecretDefaults,
  // What a patch leaves without a version has no default.
  strategy: { prepareForUpdate: (secret, old) => void (secret['type'] ||= old['type']) },
  validation: { object: validateSecret, update: validateSecretUpdate },
  warnings: warnWith(warnOfTlsSecret),
};
