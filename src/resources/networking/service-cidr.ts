// networking.k8s.io/v1 ServiceCIDR: one range per family, which may gain a second family and never change.
import { type KubeObject, invalidValue, parseLenientRange, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { checkCanonicalRange } from '../common/validation/addresses.ts';
import { type Errors, at, each, specOf } from '../common/validation/check.ts';
import { readPath, toList, toText } from '../common/values.ts';
import type { KindSpec } from '../kind-spec.ts';

/** Columns of servicecidrs. */
const serviceCidrColumns: readonly Column[] = withNameAndAge(
  column('CIDRs', (object) => toList(readPath(object, 'spec', 'cidrs')).map(toText).join(',')),
);

/** Validates servicecidrs: one range, or one of each family. */
function validateServiceCidr(object: KubeObject): Errors {
  const cidrs = at(specOf(object), 'cidrs');
  const list = toList(cidrs.value);
  if (list.length === 0) return [required(cidrs.path, 'at least one CIDR required')];
  if (list.length > 2) return [invalidValue(cidrs.path, { CIDRs: list }, 'may only hold up to 2 values')];
  const errors = each(cidrs).flatMap(checkCanonicalRange);
  const [family, other] = list.map((text) => parseLenientRange(toText(text))?.family);
  if (list.length < 2 || family === undefined || family !== other) return errors;
  return [...errors, invalidValue(cidrs.path, list, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64')];
}

/** Errors of an update that changes a range; a second family may be added. */
function checkSameRanges(object: KubeObject, old: KubeObject): Errors {
  const [now, before] = [toList(at(specOf(object), 'cidrs').value), toList(at(specOf(old), 'cidrs').value)];
  return before.every((range, index) => now[index] === range) ? [] : [invalidValue('spec.cidrs[0]', toText(now[0]), 'field is immutable')];
}

/** The spec of ServiceCIDR. */
export const serviceCidrKind: KindSpec = {
  kind: 'ServiceCIDR', plural: 'servicecidrs', cluster: true,
  versions: ['v1', 'v1beta1'],
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  resetFields: statusOnlyResets,
  columns: serviceCidrColumns,
  strategy: keepUserMetadata,
  validation: { object: validateServiceCidr, update: (object, old) => [...checkSameRanges(object, old), ...validateServiceCidr(object)] },
};
