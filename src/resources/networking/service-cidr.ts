// networking.k8s.io/v1 ServiceCIDR: one range per family, which may gain a second family and never change.
import { type FieldError, type KubeObject, invalidValue, parseIpRange, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
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
  const ranges = list.map((text) => parseIpRange(toText(text)));
  const errors: FieldError[] = [];
  if (list.length === 2 && ranges[0] !== undefined && ranges[0].family === ranges[1]?.family) {
    errors.push(invalidValue(cidrs.path, list, 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'));
  }
  return [...errors, ...each(cidrs).flatMap(({ path, value }, index) => {
    const range = ranges[index];
    if (range === undefined) return [invalidValue(path, value, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)')];
    return range.exact ? [] : [invalidValue(path, value, 'must not have bits set beyond the prefix length')];
  })];
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
