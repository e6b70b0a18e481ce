// Services as releases before lists of addresses and families have stored them: what they lack is read into them.
import { type KubeObject, parseLenientIp } from '../../../apimachinery/index.ts';
import type { Resource } from '../../../registry/index.ts';
import { ensureStruct } from '../../common/defaults.ts';
import { toList, toObject, toText } from '../../common/values.ts';

type IpFamily = 'IPv4' | 'IPv6';

/** Families of a Service without them: those of its addresses; a headless one that selects no pods may have endpoints of both. */
function findFamilies(spec: Readonly<Record<string, unknown>>, primary: IpFamily): readonly IpFamily[] {
  if (spec['clusterIP'] !== 'None') return toList(spec['clusterIPs']).map((ip) => (parseLenientIp(toText(ip))?.family === 'IPv6' ? 'IPv6' : 'IPv4'));
  const selects = Object.keys(toObject(spec['selector'])).length > 0;
  return selects ? [primary] : [primary, primary === 'IPv4' ? 'IPv6' : 'IPv4'];
}

/** Completes a stored Service; `primary` is the first family of the cluster. A name of another host has no internalTrafficPolicy. */
export function completeService(service: KubeObject, primary: IpFamily): void {
  const spec = ensureStruct(service, 'spec');
  const ip = toText(spec['clusterIP']);
  if (ip !== '' && toList(spec['clusterIPs']).length === 0) spec['clusterIPs'] = [ip];
  if (spec['type'] === 'ExternalName') delete spec['internalTrafficPolicy'];
  else if (toList(spec['ipFamilies']).length === 0) setFamilies(spec, findFamilies(spec, primary));
}

function setFamilies(spec: Record<string, unknown>, families: readonly IpFamily[]): void {
  if (families.length === 0) return;
  spec['ipFamilies'] = families;
  spec['ipFamilyPolicy'] = families.length === 1 ? 'SingleStack' : 'RequireDualStack';
}

/** The row of Services on a cluster of this first family; others as they are. */
export function withPrimaryFamily(row: Resource, primary: IpFamily): Resource {
  if (row.group !== '' || row.kind !== 'Service' || primary === 'IPv4') return row;
  return { ...row, completeForeign: (service) => completeService(service, primary) };
}
