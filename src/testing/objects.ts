// How tests name objects.
import type { Catalog, Resource } from '../registry/index.ts';

/**
 * Names objects: `pods`, `pods/web`, `deployments.apps/web`, `Pod/web`, or what an object says of itself. The namespace is that of the object, or
 * `default`; lists without one are of all namespaces.
 */
export type Reference = string | {
  readonly apiVersion?: string | undefined; readonly kind?: string | undefined; readonly name?: string | undefined; readonly namespace?: string | undefined;
  readonly metadata?: { readonly name?: string | undefined; readonly namespace?: string | undefined } | undefined;
};

/** A reference whose resource is served. */
export interface Located {
  readonly resource: Resource;
  readonly version: string;
  /** '' for cluster-scoped resources. */
  readonly namespace: string;
  /** '' for all objects. */
  readonly name: string;
}

/** Finds the resource that a reference names; undefined when none is served. `namespace` is where a text's object is. */
export function locate(catalog: Catalog, reference: Reference, namespace = 'default'): Located | undefined {
  if (typeof reference === 'string') {
    const [word = '', name = ''] = reference.split('/');
    const resource = findByWord(catalog, word);
    return resource && { resource, version: preferredVersion(resource), namespace: resource.namespaced ? namespace : '', name };
  }
  const { apiVersion = '', kind = '', metadata } = reference;
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') as [string, string] : ['', apiVersion];
  const resource = apiVersion === '' ? findByWord(catalog, kind) : catalog.findKind(group, kind);
  if (resource === undefined || (version !== '' && !resource.versions.some((row) => row.name === version && row.served))) return undefined;
  return {
    resource, version: version === '' ? preferredVersion(resource) : version, name: reference.name ?? metadata?.name ?? '',
    namespace: resource.namespaced ? reference.namespace ?? metadata?.namespace ?? namespace : '',
  };
}

/** As kubectl reads a type: plural, singular, short name or kind, with a group behind a dot where one is needed. */
function findByWord(catalog: Catalog, word: string): Resource | undefined {
  const dot = word.indexOf('.');
  const [noun, group] = dot < 0 ? [word, undefined] : [word.slice(0, dot), word.slice(dot + 1)];
  const rows = catalog.resources().filter((row) => row.virtual !== true && (group === undefined || row.group === group));
  const lower = noun.toLowerCase();
  return rows.find(({ plural }) => plural === noun) ?? rows.find(({ kind }) => kind === noun)
    ?? rows.find(({ singular, shortNames }) => singular === lower || shortNames.includes(lower));
}

const preferredVersion = ({ versions, storageVersion }: Resource): string =>
  (versions.some(({ name, served }) => served && name === storageVersion) ? storageVersion : versions.find(({ served }) => served)?.name ?? storageVersion);

/** The path of an object or, without a name, of the list. `allNamespaces` leaves the namespace out. */
export function pathOf({ resource, version, namespace, name }: Located, allNamespaces = false): string {
  const root = resource.group === '' ? `/api/${version}` : `/apis/${resource.group}/${version}`;
  const inside = namespace === '' || allNamespaces ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${inside}/${resource.plural}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
}

/** A reference as errors show it. */
export function showReference(reference: Reference): string {
  if (typeof reference === 'string') return reference;
  const { namespace, name, metadata } = reference;
  const where = namespace ?? metadata?.namespace;
  return `${reference.kind ?? ''} ${where === undefined ? '' : `${where}/`}${name ?? metadata?.name ?? ''}`;
}
