// Which of some rules a caller does not hold: the question behind the escalation checks, answered one atom at a time (one group, resource,
// verb and name). Mirrors the reference's comparison and the way it prints what is missing.
import { type PolicyRule, matches, matchesPath } from './rule.ts';

const none: readonly string[] = [];

/** The atoms of a rule, in the reference's order. */
function* splitRule(rule: PolicyRule): Generator<PolicyRule> {
  const { apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none, verbs } = rule;
  for (const group of apiGroups) {
    for (const resource of resources) {
      for (const verb of verbs) {
        const atom: PolicyRule = { verbs: [verb], apiGroups: [group], resources: [resource] };
        if (resourceNames.length === 0) yield atom;
        else for (const name of resourceNames) yield { ...atom, resourceNames: [name] };
      }
    }
  }
  for (const url of nonResourceURLs) for (const verb of verbs) yield { verbs: [verb], nonResourceURLs: [url] };
}

function holdsResource(owned: readonly string[] = none, wanted: string): boolean {
  if (matches(owned, wanted)) return true;
  const slash = wanted.indexOf('/');
  return slash >= 0 && owned.includes(`*/${wanted.slice(slash + 1)}`);
}

/** Whether one rule gives all of an atom. */
function coversAtom(owner: PolicyRule, atom: PolicyRule): boolean {
  if (!matches(owner.verbs, atom.verbs[0] as string)) return false;
  const [url] = atom.nonResourceURLs ?? none;
  if (url !== undefined) return matchesPath(owner.nonResourceURLs, url);
  const { resourceNames = none } = owner;
  const [name] = atom.resourceNames ?? none;
  const [group = ''] = atom.apiGroups ?? none;
  const [resource = ''] = atom.resources ?? none;
  return matches(owner.apiGroups, group) && holdsResource(owner.resources, resource)
    && (resourceNames.length === 0 || (name !== undefined && resourceNames.includes(name)));
}

/** Atoms that are looked at one by one; rules that stand for more are compared as a whole, so that a short request cannot ask for endless work. */
const ATOM_LIMIT = 50_000;

function countAtoms({ apiGroups = none, resources = none, resourceNames = none, nonResourceURLs = none, verbs }: PolicyRule): number {
  return verbs.length * (apiGroups.length * resources.length * Math.max(1, resourceNames.length) + nonResourceURLs.length);
}

function holdsAll(owned: readonly string[] = none, wanted: readonly string[] = none): boolean {
  if (owned.includes('*')) return true;
  const known = new Set(owned);
  return wanted.every((one) => known.has(one));
}

/** Whether one rule gives all of another, without wildcards in between. */
function coversRule(owner: PolicyRule, rule: PolicyRule): boolean {
  const named = owner.resourceNames ?? none;
  return holdsAll(owner.verbs, rule.verbs) && holdsAll(owner.apiGroups, rule.apiGroups) && holdsAll(owner.resources, rule.resources)
    && holdsAll(owner.nonResourceURLs, rule.nonResourceURLs)
    && (named.length === 0 || ((rule.resourceNames ?? none).length > 0 && holdsAll(named, rule.resourceNames)));
}

/** What of `wanted` the `owned` rules do not give, as atoms; of rules beyond the limit, as they are. */
export function findUncovered(owned: readonly PolicyRule[], wanted: readonly PolicyRule[]): PolicyRule[] {
  const missing: PolicyRule[] = [];
  let left = ATOM_LIMIT;
  for (const rule of wanted) {
    const atoms = countAtoms(rule);
    if (atoms > left) {
      if (!owned.some((owner) => coversRule(owner, rule))) missing.push(rule);
      continue;
    }
    left -= atoms;
    for (const atom of splitRule(rule)) if (!owned.some((owner) => coversAtom(owner, atom))) missing.push(atom);
  }
  return missing;
}

/** Atoms of the same resource and name as one rule with all their verbs; others as they are. */
function mergeAtoms(atoms: readonly PolicyRule[]): PolicyRule[] {
  const merged = new Map<string, PolicyRule & { readonly verbs: string[] }>();
  for (const [index, atom] of atoms.entries()) {
    const key = atom.nonResourceURLs === undefined ? JSON.stringify([atom.apiGroups, atom.resources, atom.resourceNames ?? null]) : String(index);
    const known = merged.get(key);
    if (known === undefined) merged.set(key, { ...atom, verbs: [...atom.verbs] });
    else known.verbs.push(...atom.verbs);
  }
  return [...merged.values()];
}

function describeRule(rule: PolicyRule): string {
  const parts = (
    [['APIGroups', rule.apiGroups], ['Resources', rule.resources], ['NonResourceURLs', rule.nonResourceURLs], ['ResourceNames', rule.resourceNames],
      ['Verbs', rule.verbs]] as const
  ).filter(([, values]) => values !== undefined && values.length > 0);
  return `{${parts.map(([name, values]) => `${name}:[${(values as readonly string[]).map((value) => JSON.stringify(value)).join(' ')}]`).join(', ')}}`;
}

/** Missing atoms as the reference prints them: one line per rule, sorted, without doubles. */
export function describeMissing(atoms: readonly PolicyRule[]): string {
  return [...new Set(mergeAtoms(atoms).map(describeRule))].sort().join('\n');
}
