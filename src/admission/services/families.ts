// Which IP families a Service has: what the client said, checked, and what it left open, filled in. Mirrors initIPFamilyFields of the
// reference, with the checks of cluster IPs that come before it there.
import { type FieldError, checkServiceAddresses, invalidValue, parseLenientIp, selectProblems } from '../../apimachinery/index.ts';
import { type ServiceSpec, isHeadless, isSameList, listIps, needsClusterIp } from './service.ts';

const IPS_FIELD = 'spec.clusterIPs';
const POLICY_FIELD = 'spec.ipFamilyPolicy';
const familyOf = (ip: string): string => parseLenientIp(ip)?.family ?? '';

const DUAL = "must be 'RequireDualStack' or 'PreferDualStack' when multiple";

/** Whether the policy suits the numbers of addresses and families. */
function checkPolicy(spec: ServiceSpec): FieldError[] {
  if (spec.ipFamilyPolicy !== 'SingleStack') return [];
  return [
    ...(listIps(spec).length === 2 ? [invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, `${DUAL} cluster IPs are specified`)] : []),
    ...((spec.ipFamilies ?? []).length === 2 ? [invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, `${DUAL} IP families are specified`)] : []),
  ];
}

/** The families that the client has named, and those of the addresses beyond them; and the errors of addresses that the cluster has no family for. */
function nameFamilies(spec: ServiceSpec, configured: readonly string[]): { readonly named: string[]; readonly errors: FieldError[] } {
  const named = [...spec.ipFamilies ?? []];
  const errors: FieldError[] = [];
  if (isHeadless(spec)) return { named, errors };
  const ips = listIps(spec);
  for (const [index, ip] of ips.entries()) {
    if (index < named.length) continue;
    if (configured.includes(familyOf(ip))) named.push(familyOf(ip));
    else errors.push(invalidValue(`${IPS_FIELD}[${index}]`, ips, `${familyOf(ip)} is not configured on this cluster`));
  }
  return { named, errors };
}

function checkConfigured(spec: ServiceSpec, named: readonly string[], configured: readonly string[]): FieldError[] {
  const isAlone = spec.ipFamilyPolicy === 'RequireDualStack' && configured.length < 2;
  return [
    ...(isAlone ? [invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services')] : []),
    ...named.flatMap((family, index) =>
      (configured.includes(family) ? [] : [invalidValue(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster')])),
  ];
}

/** One address or family of two is given back by a change to SingleStack alone. */
function checkReduced(spec: ServiceSpec, before: ServiceSpec | undefined): FieldError[] {
  if (before === undefined || spec.ipFamilyPolicy === 'SingleStack') return [];
  const lists = [['cluster IP', spec.clusterIPs, before.clusterIPs], ['IP family', spec.ipFamilies, before.ipFamilies]] as const;
  return lists.filter(([, now, old]) => (now ?? []).length > 0 && (now ?? []).length < (old ?? []).length)
    .map(([name]) => invalidValue(POLICY_FIELD, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${name}`));
}

/** A change to SingleStack gives the second address back, unless the client changed addresses or families too. */
function trimToSingleStack(spec: ServiceSpec, before: ServiceSpec | undefined): void {
  if (spec.ipFamilyPolicy !== 'SingleStack' || before === undefined || before.ipFamilyPolicy === 'SingleStack') return;
  if (isSameList(spec.clusterIPs, before.clusterIPs)) spec.clusterIPs = listIps(spec).slice(0, 1);
  if (isSameList(spec.ipFamilies, before.ipFamilies)) spec.ipFamilies = (spec.ipFamilies ?? []).slice(0, 1);
}

/** Services that prefer two families stay as they are when the cluster gains or loses one, unless their type changes. */
function isUntouched(spec: ServiceSpec, before: ServiceSpec | undefined): boolean {
  return before !== undefined && before.type === spec.type && spec.ipFamilyPolicy === 'PreferDualStack' && before.ipFamilyPolicy === 'PreferDualStack'
    && isSameList(spec.clusterIPs, before.clusterIPs) && isSameList(spec.ipFamilies, before.ipFamilies);
}

/** What the families of a Service depend on besides its spec. */
interface FamilyCircumstances {
  readonly before: ServiceSpec | undefined;
  /** The families of the cluster, the default first. */
  readonly configured: readonly string[];
  /** Whether addresses in forms of older releases are refused; by default they are. */
  readonly isStrict?: boolean;
}

/** Fills in families and policy, in place; the errors are why that cannot be. `configured` are the families of the cluster, the default first. */
export function resolveFamilies(spec: ServiceSpec, { before, configured, isStrict = true }: FamilyCircumstances): FieldError[] {
  if (!needsClusterIp(spec)) return [];
  const held = before !== undefined && needsClusterIp(before) ? before : undefined;
  const checkAddresses = (): FieldError[] => [...selectProblems(checkServiceAddresses(spec, before), () => isStrict)];
  if (isUntouched(spec, held)) return checkAddresses();
  const withoutSelector = isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= held?.ipFamilyPolicy ?? (withoutSelector ? 'RequireDualStack' : 'SingleStack');
  const errors = checkAddresses();
  if (errors.length > 0) return errors;
  trimToSingleStack(spec, held);
  const { named, errors: unnamed } = nameFamilies(spec, configured);
  const unfit = [...checkReduced(spec, before), ...checkPolicy(spec), ...unnamed];
  if (unfit.length > 0) return unfit;
  const refused = withoutSelector ? [] : checkConfigured(spec, named, configured);
  if (refused.length > 0) return refused;
  if (named.length === 0) named.push(configured[0] as string);
  const other = named[0] === 'IPv4' ? 'IPv6' : 'IPv4';
  if (named.length === 1 && spec.ipFamilyPolicy !== 'SingleStack' && (withoutSelector || configured.includes(other))) named.push(other);
  spec.ipFamilies = named;
  return [];
}
