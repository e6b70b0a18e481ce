// The rules that cluster IPs and IP families of a Service have to keep by themselves, whatever families the cluster has. Allocation asks them first, and
// validation does for a Service that is created by way of its status, which gets no addresses.
import { duplicate, invalidValue, notSupported, required } from '../field-error.ts';
import type { FieldError } from '../status.ts';
import { behindStrict, checkLenientIp, parseLenientIp } from './lenient.ts';

/** The fields of a Service's spec that these rules are about. */
interface Addresses {
  readonly type?: string;
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[] | null;
  readonly ipFamilies?: readonly string[] | null;
  readonly ipFamilyPolicy?: string;
}

const IPS_FIELD = 'spec.clusterIPs';
const HEADLESS = 'None';
const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const familyOf = (ip: string): string => parseLenientIp(ip)?.family ?? '';

function checkFamilies({ ipFamilies, ipFamilyPolicy }: Addresses): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, family] of (ipFamilies ?? []).entries()) {
    const field = `spec.ipFamilies[${index}]`;
    if (!families.includes(family)) errors.push(notSupported(field, family, families));
    if (seen.has(family)) errors.push(duplicate(field, family));
    seen.add(family);
  }
  const isKnown = ipFamilyPolicy === undefined || ipFamilyPolicy === null || policies.includes(ipFamilyPolicy);
  return isKnown ? errors : [...errors, notSupported('spec.ipFamilyPolicy', ipFamilyPolicy, policies)];
}

function checkIps(ips: readonly string[], before: readonly string[]): FieldError[] {
  return ips.flatMap((ip, index) => {
    if (index === 0 && ip === HEADLESS) return ips.length > 1 ? [invalidValue(IPS_FIELD, ips, "'None' must be the first and only value")] : [];
    return before.includes(ip) ? [] : checkLenientIp(`${IPS_FIELD}[${index}]`, ip);
  });
}

/** Whether `clusterIP` is the first of the cluster IPs. */
function checkFirst({ clusterIP }: Addresses, ips: readonly string[]): FieldError[] {
  if (!clusterIP) return ips.length === 0 ? [] : [invalidValue(IPS_FIELD, ips, 'must be empty when `clusterIP` is not specified')];
  if (ips.length === 0) return [required(IPS_FIELD)];
  return ips[0] === clusterIP ? [] : [invalidValue(IPS_FIELD, ips, 'first value must match `clusterIP`')];
}

/** Errors in cluster IPs and families of a Service, which one that is a name of another host has none of. What an update keeps was good once. */
export function checkServiceAddresses(spec: Addresses, before?: Addresses): FieldError[] {
  if (spec.type === 'ExternalName') return [];
  const ips = spec.clusterIPs ?? [];
  const bad = checkIps(ips, before?.clusterIPs ?? []);
  const errors = [...checkFirst(spec, ips), ...checkFamilies(spec), ...bad];
  if (ips.length > 2) errors.push(invalidValue(IPS_FIELD, ips, 'may only hold up to 2 values'));
  return [...errors, ...behindStrict(bad, () => checkPairs(spec, ips))];
}

/** Whether addresses that are addresses are of different families, those that the spec names. */
function checkPairs(spec: Addresses, ips: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  if (ips.length > 1 && new Set(ips.map(familyOf)).size < 2) {
    errors.push(invalidValue(IPS_FIELD, ips, 'may specify no more than one IP for each IP family'));
  }
  if (ips.length === 1 && ips[0] === HEADLESS) return errors;
  const different = (spec.ipFamilies ?? []).flatMap((family, index) => {
    const ip = ips[index];
    const differs = ip !== undefined && families.includes(family) && familyOf(ip) !== family;
    return differs ? [invalidValue(`${IPS_FIELD}[${index}]`, ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``)] : [];
  });
  return [...errors, ...different];
}
