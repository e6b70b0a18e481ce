// core/v1 ServiceAccount: its references to secrets are names and nothing else.
import type { KubeObject } from '../../apimachinery/index.ts';
import { nameAndAgeColumns } from '../common/columns/columns.ts';
import { createOnly } from '../common/subresources.ts';
import type { Field } from '../common/validation/check.ts';
import { readPath, toText } from '../common/values.ts';
import { annotation, warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Keeps nothing of references to secrets but the names. */
function keepSecretNames(account: KubeObject): void {
  if (!Array.isArray(account['secrets'])) return;
  account['secrets'] = account['secrets'].map((secret) => {
    const name = toText(readPath(secret, 'name'));
    return name === '' ? {} : { name };
  });
}

const MOUNTABLE = 'kubernetes.io/enforce-mountable-secrets';

/** Warns of service accounts that gain the annotation enforce-mountable-secrets. */
function warnOfAccount(root: Field, old?: KubeObject): readonly string[] {
  const isOld = old?.metadata.annotations?.[MOUNTABLE] !== undefined;
  if (isOld || annotation(root, MOUNTABLE) === undefined) return [];
  return [`metadata.annotations[${MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets`];
}

/** The spec of ServiceAccount. */
export const serviceAccountKind: KindSpec = {
  kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'],
  returnsDeleted: true,
  subresources: [{ name: 'token', verbs: createOnly, kind: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' } }],
  metadataChecks: ['update', 'kind', 'object'],
  columns: nameAndAgeColumns,
  strategy: {
    prepareForCreate: keepSecretNames,
    prepareForUpdate: keepSecretNames,
  },
  warnings: warnWith(warnOfAccount),
};
