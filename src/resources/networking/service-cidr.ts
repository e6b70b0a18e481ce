// networking.k8s.io/v1 ServiceCIDR: one range per family, which may gain a second family and never change.
import { type KubeObject, invalidValue, parseLenientRange, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { keepUserMetadata, statusOnlyResets } from '../common/status.ts';
import { status } from '../common/subresources.ts';
import { checkCanonicalRange } from '../common/validation/addresses.ts';
import { type Errors, at, each, isWrong, specOf } from '../common/validation/check.ts';
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

/** Validates updates: ranges stay, but that one of a second family may be added, which alone has the rules of new objects looked at. */
function validateServiceCidrUpdate(object: KubeObject, old: KubeObject): Errors {
  const cidrs = at(specOf(object), 'cidrs');
  const [now, before] = [toList(cidrs.value), toList(at(specOf(old), 'cidrs').value)];
  const isGrown = before.length === 1 && now.length === 2;
  if (!isGrown && now.length !== before.length) return [isWrong({ path: cidrs.path, value: cidrs.value ?? null }, 'field is immutable')];
  const changed = each(cidrs).filter((cidr, index) => index < before.length && cidr.value !== before[index]);
  return [...changed.map((cidr) => isWrong(cidr, 'field is immutable')), ...(isGrown ? validateServiceCidr(object) : [])];
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
  validation: { object: validateServiceCidr, update: validateServiceCidrUpdate },
};
