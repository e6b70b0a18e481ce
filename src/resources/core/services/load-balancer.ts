// The status of load balancers, which Services and Ingresses share.
import { checkDnsSubdomain, parseIpAddress } from '../../../apimachinery/index.ts';
import { checkIp } from '../../common/validation/addresses.ts';
import { type Errors, type Field, at, checkText, each, isEmptyText, isWrong } from '../../common/validation/check.ts';
import { readPath, toObjects, toText } from '../../common/values.ts';
import { warnOfAddress } from '../../common/warnings/addresses.ts';
import type { Warn } from '../../common/warnings/warnings.ts';

/** The addresses of a load balancer: sorted and unique. */
export function formatLoadBalancer(status: unknown): string {
  const names = toObjects(readPath(status, 'loadBalancer', 'ingress')).map((ingress) => toText(ingress['ip']) || toText(ingress['hostname']));
  return [...new Set(names.filter((name) => name !== ''))].sort().join(',');
}

/** Validates the ingress points of a load balancer; addresses that are stored already may stay. */
export function checkIngressPoints(balancer: Field, old: unknown): Errors {
  const known = toObjects(readPath(old, 'ingress')).map(({ ip }) => ip);
  return each(at(balancer, 'ingress')).flatMap((point) => {
    const [ip, name] = [at(point, 'ip'), at(point, 'hostname')];
    const isAddress = parseIpAddress(toText(name.value)) !== undefined;
    return [
      ...(isEmptyText(ip) || known.includes(ip.value as string) ? [] : checkIp(ip)), ...(isEmptyText(name) ? [] : checkText(name, checkDnsSubdomain)),
      ...(isAddress ? [isWrong(name, 'must be a DNS name, not an IP address')] : []),
    ];
  });
}

/** Warns of addresses of a load balancer that are not in canonical form. */
export const ingressAddresses: Warn = (root) => each(at(root, 'status', 'loadBalancer', 'ingress'))
  .flatMap(({ path, value }) => warnOfAddress({ path, value: readPath(value, 'ip') }));
