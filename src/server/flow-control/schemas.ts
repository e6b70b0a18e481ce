// Which FlowSchema a request belongs to. Subjects are evaluated once per user; what is left for a request is a walk over the few schemas
// that know the user, most of which match everything. Mirrors the matching rules of the reference's flow control.
import { BoundedCache } from '../../base/index.ts';
import type { User } from '../../auth/index.ts';
import { parseServiceAccountUsername } from '../../auth/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { RequestInfo } from '../../endpoints/index.ts';

/** What a FlowSchema says, as far as requests are concerned. */
export interface FlowSchema {
  readonly name: string;
  readonly uid: string;
  readonly precedence: number;
  /** Name of its priority level. */
  readonly level: string;
  readonly distinguisher: 'ByUser' | 'ByNamespace' | '';
  readonly rules: readonly Rule[];
}

interface Rule {
  readonly subjects: readonly Subject[];
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
}

interface Subject {
  readonly kind: string;
  readonly user?: { readonly name: string };
  readonly group?: { readonly name: string };
  readonly serviceAccount?: { readonly name: string; readonly namespace: string };
}

/** undefined: whatever it is. */
type Names = ReadonlySet<string> | undefined;

interface ResourceRule {
  readonly verbs: Names;
  readonly apiGroups: Names;
  readonly resources: Names;
  readonly namespaces: Names;
  readonly clusterScope: boolean;
}

interface NonResourceRule {
  readonly verbs: Names;
  readonly paths: readonly string[];
}

const readNames = (list: readonly string[] | undefined): Names => (list?.length === 1 && list[0] === '*' ? undefined : new Set(list ?? []));

interface WrittenRule {
  readonly subjects?: readonly Subject[];
  readonly resourceRules?: readonly {
    readonly verbs?: readonly string[]; readonly apiGroups?: readonly string[]; readonly resources?: readonly string[];
    readonly namespaces?: readonly string[]; readonly clusterScope?: boolean;
  }[];
  readonly nonResourceRules?: readonly { readonly verbs?: readonly string[]; readonly nonResourceURLs?: readonly string[] }[];
}

interface WrittenSpec {
  readonly priorityLevelConfiguration?: { readonly name?: string };
  readonly matchingPrecedence?: number;
  readonly distinguisherMethod?: { readonly type?: string };
  readonly rules?: readonly WrittenRule[];
}

/** Reads a FlowSchema object. */
export function readFlowSchema(object: KubeObject): FlowSchema {
  const spec = (object['spec'] ?? {}) as WrittenSpec;
  const method = spec.distinguisherMethod?.type;
  return {
    name: object.metadata.name ?? '', uid: object.metadata.uid ?? '', precedence: spec.matchingPrecedence ?? 1000,
    level: spec.priorityLevelConfiguration?.name ?? '', distinguisher: method === 'ByUser' || method === 'ByNamespace' ? method : '',
    rules: (spec.rules ?? []).map((rule) => ({
      subjects: rule.subjects ?? [],
      resourceRules: (rule.resourceRules ?? []).map(({ verbs, apiGroups, resources, namespaces, clusterScope }) => ({
        verbs: readNames(verbs), apiGroups: readNames(apiGroups), resources: readNames(resources), namespaces: readNames(namespaces),
        clusterScope: clusterScope === true,
      })),
      nonResourceRules: (rule.nonResourceRules ?? []).map(({ verbs, nonResourceURLs }) => ({ verbs: readNames(verbs), paths: nonResourceURLs ?? [] })),
    })),
  };
}

function matchesSubject({ name, groups }: User, { kind, user, group, serviceAccount }: Subject): boolean {
  if (kind === 'User') return user !== undefined && (user.name === '*' || user.name === name);
  if (kind === 'Group') return group !== undefined && (group.name === '*' || groups.includes(group.name));
  if (kind !== 'ServiceAccount' || serviceAccount === undefined) return false;
  const account = parseServiceAccountUsername(name);
  return account !== undefined && account.namespace === serviceAccount.namespace && (serviceAccount.name === '*' || serviceAccount.name === account.name);
}

const has = (names: Names, name: string): boolean => names === undefined || names.has(name);

function matchesResource({ verbs, apiGroups, resources, namespaces, clusterScope }: ResourceRule, info: RequestInfo): boolean {
  if (!has(verbs, info.verb) || !has(apiGroups, info.group)) return false;
  if (resources !== undefined && !resources.has(info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`)) return false;
  return info.namespace === '' ? clusterScope : has(namespaces, info.namespace);
}

function matchesPath(path: string, wanted: string): boolean {
  if (wanted === '*' || wanted === path) return true;
  const prefix = wanted.endsWith('*') ? wanted.slice(0, -1) : wanted;
  return path.startsWith(prefix.endsWith('/') ? prefix : `${prefix}/`);
}

const matchesNonResource = ({ verbs, paths }: NonResourceRule, { verb, path }: RequestInfo): boolean =>
  has(verbs, verb) && paths.some((wanted) => matchesPath(path, wanted));

/** A schema's rules for one user. */
interface Candidate<T> {
  readonly value: T;
  readonly resourceRules: readonly ResourceRule[];
  readonly nonResourceRules: readonly NonResourceRule[];
}

/** Users remembered beside those whose record is still around. */
const MAX_KNOWN_USERS = 1024;

/** Finds the first schema that a request matches; `T` is what is kept with each of them. */
export class Classifier<T> {
  readonly #schemas: readonly { readonly schema: FlowSchema; readonly value: T }[];
  readonly #byUser = new WeakMap<User, readonly Candidate<T>[]>();
  readonly #byName = new BoundedCache<string, readonly Candidate<T>[]>({ limit: MAX_KNOWN_USERS });

  /** Lower precedence first, then by name. */
  constructor(schemas: readonly { readonly schema: FlowSchema; readonly value: T }[]) {
    this.#schemas = [...schemas].sort((a, b) => a.schema.precedence - b.schema.precedence || (a.schema.name < b.schema.name ? -1 : 1));
  }

  classify(user: User, info: RequestInfo): T | undefined {
    for (const { value, resourceRules, nonResourceRules } of this.#byUser.get(user) ?? this.#findCandidates(user)) {
      if (info.isResource) {
        for (const rule of resourceRules) if (matchesResource(rule, info)) return value;
      } else {
        for (const rule of nonResourceRules) if (matchesNonResource(rule, info)) return value;
      }
    }
    return undefined;
  }

  #findCandidates(user: User): readonly Candidate<T>[] {
    const key = `${user.name}\n${user.groups.join('\n')}`;
    const found = this.#byName.getOrMake(key, () => this.#schemas.map(({ schema, value }) => {
      const rules = schema.rules.filter(({ subjects }) => subjects.some((subject) => matchesSubject(user, subject)));
      return { value, resourceRules: rules.flatMap((rule) => rule.resourceRules), nonResourceRules: rules.flatMap((rule) => rule.nonResourceRules) };
    }).filter(({ resourceRules, nonResourceRules }) => resourceRules.length + nonResourceRules.length > 0));
    this.#byUser.set(user, found);
    return found;
  }
}
