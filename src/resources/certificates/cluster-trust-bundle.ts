// certificates.k8s.io ClusterTrustBundle, the same in both versions: certificates of authorities, of one signer or of none; off by default.
import {
  type FieldError, type KubeObject, byteLength, checkDnsSubdomain, invalidValue, isAuthorityCertificate, parsePem, tooLong,
} from '../../apimachinery/index.ts';
import { type Column } from '../../registry/index.ts';
import { column, nameColumn, textOr } from '../common/columns/columns.ts';
import { textFields } from '../common/selectable-fields.ts';
import { type Errors, type Field, at, checkImmutable, checkText, specOf } from '../common/validation/check.ts';
import { checkSignerName } from '../common/validation/signer-names.ts';
import { readPath, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

const bundleColumns: readonly Column[] = [nameColumn, column('SignerName', (object) => textOr(readPath(object, 'spec', 'signerName'), '<none>'))];
const MAX_BUNDLE_BYTES = 1024 * 1024;
const OMITTED = '<value omitted>';

/** The name of a bundle of a signer begins with the signer, its slash written as a colon. */
function checkName(name: string, signer: string): readonly string[] {
  if (signer === '') return name.includes(':') ? ['ClusterTrustBundle without signer name must not have ":" in its name'] : checkDnsSubdomain(name);
  const prefix = `${signer.replaceAll('/', ':')}:`;
  if (!name.startsWith(prefix)) return [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`];
  return checkDnsSubdomain(name.slice(prefix.length));
}

type Block = ReturnType<typeof parsePem>[number];

function findBlockProblem({ type, hasHeaders, bytes }: Block): string | undefined {
  if (type !== 'CERTIFICATE') return `has bad block type: ${type}`;
  if (hasHeaders) return 'has PEM block headers';
  const isAuthority = isAuthorityCertificate(bytes);
  return isAuthority === undefined ? 'does not parse as X.509' : isAuthority ? undefined : 'does not have the CA bit set';
}

function checkBundle({ path, value }: Field): Errors {
  const text = toText(value);
  if (byteLength(text) > MAX_BUNDLE_BYTES) return [tooLong(path, MAX_BUNDLE_BYTES)];
  const blocks = parsePem(text);
  const wrong = (detail: string): FieldError => invalidValue(path, OMITTED, detail);
  const errors = blocks.flatMap((block, index): Errors => {
    const problem = findBlockProblem(block);
    return problem === undefined ? [] : [wrong(`entry ${index} ${problem}`)];
  });
  if (errors.length > 0) return errors;
  if (blocks.length === 0) return [wrong('at least one trust anchor must be provided')];
  const indices = new Map<string, number[]>();
  for (const [index, { bytes }] of blocks.entries()) {
    const id = bytes.join();
    indices.set(id, [...indices.get(id) ?? [], index]);
  }
  return [...indices.values()].filter((same) => same.length > 1).map((same) => wrong(`duplicate trust anchor (indices [${same.join(' ')}])`));
}

/** Validates clustertrustbundles; a bundle that does not change is not read again. */
function validateBundle(bundle: KubeObject, old?: KubeObject): Errors {
  const signer = at(specOf(bundle), 'signerName');
  const trust = at(specOf(bundle), 'trustBundle');
  const isSame = old !== undefined && toText(trust.value) === toText(at(specOf(old), 'trustBundle').value);
  return [
    ...checkText({ path: 'metadata.name', value: bundle.metadata.name }, (name) => checkName(name, toText(signer.value))),
    ...(toText(signer.value) === '' ? [] : checkSignerName(signer)), ...(isSame ? [] : checkBundle(trust)),
  ];
}

/** The spec of ClusterTrustBundle. */
export const clusterTrustBundleKind: KindSpec = {
  kind: 'ClusterTrustBundle', plural: 'clustertrustbundles', cluster: true, versions: ['v1beta1', 'v1alpha1'], gate: 'ClusterTrustBundle',
  nameRule: 'path-segment',
  unconditionalUpdate: false,
  metadataChecks: ['object', 'kind', 'update'],
  columns: bundleColumns,
  selectableFields: textFields('spec.signerName'),
  validation: {
    object: (bundle) => validateBundle(bundle),
    update: (bundle, old) => [...validateBundle(bundle, old), ...checkImmutable(at(specOf(bundle), 'signerName'), at(specOf(old), 'signerName'))],
  },
};
