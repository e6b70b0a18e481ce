// Addresses that Endpoints and EndpointSlices may not contain: unspecified, loopback, link-local.
import { type IpAddress, containsAddress, invalidValue, parseIpRange } from '../../../apimachinery/index.ts';
import { toText } from '../values.ts';
import type { Errors, Field } from './check.ts';

/** The protocols of ports. */
export const protocols = ['SCTP', 'TCP', 'UDP'];

const specialRanges: readonly (readonly [string, readonly string[]])[] = [
  ['may not be unspecified (ADDRESS)', ['0.0.0.0/32', '::/128']],
  ['may not be in the loopback range (127.0.0.0/8, ::1/128)', ['127.0.0.0/8', '::1/128']],
  ['may not be in the link-local range (169.254.0.0/16, fe80::/10)', ['169.254.0.0/16', 'fe80::/10']],
  ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)', ['224.0.0.0/24', 'ff02::/16']],
];
const special = specialRanges.map(([problem, ranges]) => ({ problem, ranges: ranges.map(parseIpRange).filter((range) => range !== undefined) }));

/** The address must not be in one of the special ranges. */
export function checkReachable({ path, value }: Field, address: IpAddress): Errors {
  return special.filter(({ ranges }) => ranges.some((range) => containsAddress(range, address))).map(({ problem }) =>
    invalidValue(path, value, problem.replace('ADDRESS', () => toText(value))));
}
