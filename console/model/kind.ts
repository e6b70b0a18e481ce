// Kinds as discovery lists them, and the sections in which people look for them.

/** One kind that the server serves, in the version that the server prefers. */
export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly subresources: readonly string[];
}

/** Kinds under one heading. */
export interface Section {
  readonly title: string;
  readonly kinds: readonly Kind[];
}

/** An aggregated discovery document, as far as it is read. */
interface DiscoveryDocument {
  readonly items?: readonly {
    readonly metadata?: { readonly name?: string };
    readonly versions?: readonly {
      readonly version?: string;
      readonly resources?: readonly {
        readonly resource?: string; readonly scope?: string; readonly verbs?: readonly string[]; readonly shortNames?: readonly string[];
        readonly responseKind?: { readonly kind?: string }; readonly subresources?: readonly { readonly subresource?: string }[];
      }[];
    }[];
  }[];
}

/** The kinds of a document that can be read; of several versions the first, which is the preferred one. */
export function readKinds(document: unknown): Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { metadata, versions = [] } of (document as DiscoveryDocument).items ?? []) {
    const group = metadata?.name ?? '';
    for (const { version = '', resources = [] } of versions) {
      for (const { resource = '', scope, verbs = [], shortNames = [], responseKind, subresources = [] } of resources) {
        const id = `${group}/${resource}`;
        if (kinds.has(id) || !verbs.includes('list')) continue;
        kinds.set(id, {
          group, version, plural: resource, kind: responseKind?.kind ?? resource, namespaced: scope === 'Namespaced', verbs, shortNames,
          subresources: subresources.map(({ subresource = '' }) => subresource),
        });
      }
    }
  }
  return [...kinds.values()];
}

const sectionOfGroup: ReadonlyMap<string, string> = new Map([
  ['apps', 'Workloads'], ['batch', 'Workloads'], ['autoscaling', 'Workloads'], ['policy', 'Workloads'], ['networking.k8s.io', 'Network'],
  ['discovery.k8s.io', 'Network'], ['storage.k8s.io', 'Storage'], ['rbac.authorization.k8s.io', 'Access'], ['certificates.k8s.io', 'Access'],
  ['apiextensions.k8s.io', 'Extension'], ['admissionregistration.k8s.io', 'Extension'], ['apiregistration.k8s.io', 'Extension'],
  ['coordination.k8s.io', 'Cluster'], ['node.k8s.io', 'Cluster'], ['scheduling.k8s.io', 'Cluster'], ['flowcontrol.apiserver.k8s.io', 'Cluster'],
  ['resource.k8s.io', 'Devices'], ['internal.apiserver.k8s.io', 'Cluster'], ['storagemigration.k8s.io', 'Cluster'],
]);

const sectionOfCore: ReadonlyMap<string, string> = new Map([
  ['pods', 'Workloads'], ['replicationcontrollers', 'Workloads'], ['podtemplates', 'Workloads'], ['configmaps', 'Configuration'],
  ['secrets', 'Configuration'], ['resourcequotas', 'Configuration'], ['limitranges', 'Configuration'], ['services', 'Network'], ['endpoints', 'Network'],
  ['persistentvolumes', 'Storage'], ['persistentvolumeclaims', 'Storage'], ['serviceaccounts', 'Access'],
]);

const order = ['Cluster', 'Workloads', 'Configuration', 'Network', 'Storage', 'Devices', 'Access', 'Extension'];
/** What people look for first stands first in its section. */
const first = [
  'namespaces', 'nodes', 'events', 'pods', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs', 'configmaps', 'secrets', 'services', 'ingresses',
  'networkpolicies', 'serviceaccounts', 'roles', 'rolebindings', 'customresourcedefinitions',
];

const rankIn = (list: readonly string[], name: string): number => {
  const at = list.indexOf(name);
  return at === -1 ? list.length : at;
};

/** The heading of a kind: one that people know, else its API group. */
export function findSection({ group, plural }: Kind): string {
  return group === '' ? sectionOfCore.get(plural) ?? 'Cluster' : sectionOfGroup.get(group) ?? group;
}

/** Kinds by their headings: the known ones in a fixed order, then the groups of definitions by name. The second form of Events is left out. */
export function groupKinds(kinds: readonly Kind[]): Section[] {
  const sections = new Map<string, Kind[]>();
  for (const kind of kinds) {
    if (kind.group === 'events.k8s.io') continue;
    const title = findSection(kind);
    const known = sections.get(title);
    if (known === undefined) sections.set(title, [kind]);
    else known.push(kind);
  }
  const titles = [...sections.keys()].sort((a, b) => rankIn(order, a) - rankIn(order, b) || a.localeCompare(b));
  const byRank = (a: Kind, b: Kind): number => rankIn(first, a.plural) - rankIn(first, b.plural) || a.kind.localeCompare(b.kind);
  return titles.map((title) => ({ title, kinds: [...sections.get(title) ?? []].sort(byRank) }));
}

/** What the paths of a kind are made of. */
export type KindPath = Pick<Kind, 'group' | 'version' | 'plural' | 'namespaced'>;

/** The kind whose objects hold the others. */
export const namespacesKind = { group: '', version: 'v1', plural: 'namespaces', namespaced: false } as const satisfies KindPath;

/** The path of a kind's objects: of all namespaces, of one, or one object. */
export function formatPath({ group, version, plural, namespaced }: KindPath, namespace = '', name = ''): string {
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced && namespace !== '' ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${scope}/${plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}

/** The field selector of an object by its name, which may hold any letter in kinds of RBAC. */
export const selectName = (name: string): string => `metadata.name=${name.replace(/[\\,=]/g, '\\$&')}`;

/** Group and version as manifests write them. */
export const apiVersionOf = ({ group, version }: Pick<Kind, 'group' | 'version'>): string => (group === '' ? version : `${group}/${version}`);

/** How well a kind answers to a word; 0 for not at all. */
export function scoreKind({ kind, plural, shortNames, group }: Kind, word: string): number {
  const text = word.toLowerCase();
  if (shortNames.includes(text) || plural === text || kind.toLowerCase() === text) return 4;
  if (kind.toLowerCase().startsWith(text)) return 3;
  if (kind.toLowerCase().includes(text) || plural.includes(text)) return 2;
  return group.includes(text) ? 1 : 0;
}
