// coordination.k8s.io/v1 Lease.
import { type KubeObject, forbiddenField, invalidValue } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { textColumn, withNameAndAge } from '../common/columns/columns.ts';
import { sameAs } from '../common/former-versions.ts';
import { type Errors, at, checkNotNegative, isEmptyText, specOf } from '../common/validation/check.ts';
import { toNumber } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';
import { checkStrategy } from './lease-strategy.ts';

/** Columns of leases. */
const leaseColumns: readonly Column[] = withNameAndAge(textColumn('Holder', 'spec', 'holderIdentity'));

/** Validates leases. */
function validateLease(lease: KubeObject): Errors {
  const seconds = at(specOf(lease), 'leaseDurationSeconds');
  const positive = seconds.value === undefined || toNumber(seconds.value) > 0;
  const errors = positive ? [] : [invalidValue(seconds.path, seconds.value, 'must be greater than 0')];
  const [strategy, preferred] = [at(specOf(lease), 'strategy'), at(specOf(lease), 'preferredHolder')];
  return [
    ...errors, ...checkNotNegative(at(specOf(lease), 'leaseTransitions')),
    ...(strategy.value === undefined || strategy.value === null ? [] : checkStrategy(strategy)),
    ...(isEmptyText(preferred) || !isEmptyText(strategy) ? [] : [forbiddenField(preferred.path, 'may only be specified if `strategy` is defined')]),
  ];
}

/** The spec of Lease. */
export const leaseKind: KindSpec = {
  kind: 'Lease', plural: 'leases',
  formerVersions: sameAs('coordination.k8s.io/v1beta1'),
  createOnUpdate: true, unconditionalUpdate: false,
  metadataChecks: ['lenient-update', 'kind'],
  columns: leaseColumns,
  gatedFields: [['CoordinatedLeaderElection', 'spec.strategy'], ['CoordinatedLeaderElection', 'spec.preferredHolder']],
  validation: { object: validateLease },
};
