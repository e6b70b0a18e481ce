// Which IP families a Service has: what the client said, checked, and what it left open, filled in. Mirrors initIPFamilyFields of the
// reference, with the checks of cluster IPs that come before it there.
import { type FieldError, describeBadIp, duplicate, invalidValue, notSupported, parseIpAddress } from '../../apimachinery/index.ts';
import { type ServiceSpec, HEADLESS, isHeadless, isSameList, listIps, needsClusterIp } from './service.ts';

const IPS_FIELD = 'spec.clusterIPs';
const POLICY_FIELD = 'spec.ipFamilyPolicy';
const families = ['IPv4', 'IPv6'];
const policies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const familyOf = (ip: string): string => parseIpAddress(ip)?.family ?? '';

function checkFamilies({ ipFamilies, ipFamilyPolicy }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [index, family] of (ipFamilies ?? []).entries()) {
    const field = `spec.ipFamilies[${index}]`;
    if (!families.includes(family)) errors.push(notSupported(field, family, families));
    if (seen.has(family)) errors.push(duplicate(field, family));
    seen.add(family);
  }
  if (ipFamilyPolicy !== undefined && !policies.includes(ipFamilyPolicy)) errors.push(notSupported(POLICY_FIELD, ipFamilyPolicy, policies));
  return errors;
}

function checkIps(ips: readonly string[]): FieldError[] {
  if (ips[0] === HEADLESS) return ips.length > 1 ? [invalidValue(IPS_FIELD, ips, "'None' must be the first and only value")] : [];
  return ips.flatMap((ip, index) => {
    const problem = describeBadIp(ip);
    return problem === undefined ? [] : [invalidValue(`${IPS_FIELD}[${index}]`, ip, problem)];
  });
}

/** Errors in cluster IPs and families taken by themselves. */
function checkAddressFields(spec: ServiceSpec): FieldError[] {
  const ips = listIps(spec);
  const errors = checkFamilies(spec);
  if (!spec.clusterIP && ips.length > 0) errors.push(invalidValue(IPS_FIELD, ips, 'must be empty when `clusterIP` is not specified'));
  if (spec.clusterIP && ips.length > 0 && ips[0] !== spec.clusterIP) errors.push(invalidValue(IPS_FIELD, ips, 'first value must match `clusterIP`'));
  const bad = checkIps(ips);
  errors.push(...bad);
  if (ips.length > 2) errors.push(invalidValue(IPS_FIELD, ips, 'may only hold up to 2 values'));
  if (bad.length > 0) return errors;
  if (ips.length === 2 && familyOf(ips[0] as string) === familyOf(ips[1] as string)) {
    errors.push(invalidValue(IPS_FIELD, ips, 'may specify no more than one IP for each IP family'));
  }
  if (errors.length > 0 || isHeadless(spec)) return errors;
  return (spec.ipFamilies ?? []).flatMap((family, index) => {
    const ip = ips[index];
    const differs = ip !== undefined && familyOf(ip) !== family;
    return differs ? [invalidValue(`${IPS_FIELD}[${index}]`, ip, `expected an ${family} value as indicated by \`ipFamilies[${index}]\``)] : [];
  });
}

function inferPolicy(spec: ServiceSpec, withoutSelector: boolean): string {
  if (withoutSelector) return 'RequireDualStack';
  return listIps(spec).length === 2 || (spec.ipFamilies ?? []).length === 2 ? 'RequireDualStack' : 'SingleStack';
}

function checkConfigured(spec: ServiceSpec, configured: readonly string[]): FieldError[] {
  const errors = (spec.ipFamilies ?? []).flatMap((family, index) =>
    (configured.includes(family) ? [] : [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')]));
  if (spec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2) {
    errors.push(invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  if (spec.ipFamilyPolicy === 'SingleStack') {
    const text = "must be 'RequireDualStack' or 'PreferDualStack' when multiple cluster IPs are specified";
    if (listIps(spec).length === 2) errors.push(invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, text));
    else if ((spec.ipFamilies ?? []).length === 2) {
      errors.push(invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"));
    }
  }
  return errors;
}

/** A change to SingleStack gives the second address back, unless the client changed addresses or families too. */
function trimToSingleStack(spec: ServiceSpec, before: ServiceSpec | undefined): void {
  if (spec.ipFamilyPolicy !== 'SingleStack' || before === undefined || before.ipFamilyPolicy === 'SingleStack') return;
  if (isSameList(spec.clusterIPs, before.clusterIPs)) spec.clusterIPs = listIps(spec).slice(0, 1);
  if (isSameList(spec.ipFamilies, before.ipFamilies)) spec.ipFamilies = (spec.ipFamilies ?? []).slice(0, 1);
}

/** Fills in families and policy, in place; the errors are why that cannot be. `configured` are the families of the cluster, the default first. */
export function resolveFamilies(spec: ServiceSpec,
  { before, configured }: { readonly before: ServiceSpec | undefined; readonly configured: readonly string[] }): FieldError[] {
  if (!needsClusterIp(spec)) return [];
  const isUpdate = before !== undefined && needsClusterIp(before);
  if (isUpdate) trimToSingleStack(spec, before);
  const errors = checkAddressFields(spec);
  if (errors.length > 0) return errors;
  // Services that prefer two families stay as they are when the cluster gains or loses one.
  const untouched = isUpdate && spec.ipFamilyPolicy === 'PreferDualStack' && before.ipFamilyPolicy === 'PreferDualStack'
    && isSameList(spec.clusterIPs, before.clusterIPs) && isSameList(spec.ipFamilies, before.ipFamilies);
  if (untouched) return [];
  const withoutSelector = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= inferPolicy(spec, withoutSelector);
  const named = [...spec.ipFamilies ?? []];
  if (!isHeadless(spec)) for (const ip of listIps(spec).slice(named.length)) named.push(familyOf(ip));
  if (!withoutSelector) {
    const refused = checkConfigured({ ...spec, ipFamilies: named }, configured);
    if (refused.length > 0) return refused;
  }
  if (named.length === 0) named.push(configured[0] as string);
  const other = named[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  if (named.length === 1 && spec.ipFamilyPolicy !== 'SingleStack' && (withoutSelector || configured.includes(other))) named.push(other);
  spec.ipFamilies = named;
  return [];
}
