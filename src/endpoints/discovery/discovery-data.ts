// The discovery documents as plain values, legacy and aggregated: pure functions of the catalog's resources and of
// what other servers say of theirs.
import { formatGroupVersion } from '../../apimachinery/index.ts';
import { type Catalog, type Resource, type Subresource, subresourcesIn, versionIn } from '../../registry/index.ts';
import type { Hashes } from '../dependencies.ts';
import { type RemoteApis, mergeGroups } from '../remote/remote-apis.ts';

/** What the documents are made of. */
interface DiscoverySource {
  readonly catalog: Catalog;
  readonly remote: RemoteApis;
}

/** The verbs of custom resources in upstream's order, which is not sorted. */
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function verbsOf({ verbs, custom }: Resource): readonly string[] {
  if (custom) return customVerbs.filter((verb) => (verbs as readonly string[]).includes(verb));
  return verbs.length > 0 ? [...verbs].sort() : ['create'];
}

/** Subresources in upstream's order: by name; those of custom resources as the resource lists them. */
function subresourcesOf(resource: Resource, version: string): readonly Subresource[] {
  const subresources = subresourcesIn(resource, version);
  return resource.custom ? subresources : [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The resources of one group version, in order. */
export function resourcesOf(catalog: Catalog, group: string, version: string): readonly Resource[] {
  return catalog.resources().filter((resource) => resource.group === group && versionIn(resource, version)?.served === true);
}

/** A hash of the stored kind, by which clients find out whether two group versions have the same objects. */
function storageVersionHash(resource: Resource, catalog: Catalog, hashes: Hashes): string | undefined {
  if (!resource.verbs.includes('watch')) return undefined;
  const stored = resource.storedAs ? catalog.resources().find(({ group, plural }) => `${group}/${plural}` === resource.storedAs) ?? resource : resource;
  const version = stored.upstreamStorageVersion ?? stored.storageVersion;
  const hash = hashes.sha256(new TextEncoder().encode(`${stored.group}/${version}/${stored.kind}`));
  return btoa(String.fromCharCode(...hash.subarray(0, 8)));
}

function resourceEntry(resource: Resource, catalog: Catalog, hashes: Hashes): Record<string, unknown> {
  const hash = storageVersionHash(resource, catalog, hashes);
  return {
    name: resource.plural, singularName: resource.singular, namespaced: resource.namespaced, kind: resource.kind, verbs: verbsOf(resource),
    ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }), ...(resource.categories.length > 0 && { categories: resource.categories }),
    ...(hash && { storageVersionHash: hash }),
  };
}

function subresourceEntry(resource: Resource, subresource: Subresource, version: string): Record<string, unknown> {
  const { kind } = subresource;
  const foreign = kind !== undefined && (kind.group !== resource.group || kind.version !== version);
  return {
    name: `${resource.plural}/${subresource.name}`, singularName: '', namespaced: resource.namespaced,
    ...(foreign && { ...(kind.group && { group: kind.group }), version: kind.version }), kind: kind?.kind ?? resource.kind,
    verbs: resource.custom ? subresource.verbs : [...subresource.verbs].sort(),
  };
}

/** `/api/v1` and `/apis/{group}/{version}`; undefined for a group version that is not served. */
export function apiResourceList(catalog: Catalog, hashes: Hashes, { group, version }: { group: string; version: string }): Record<string, unknown> | undefined {
  const resources = resourcesOf(catalog, group, version);
  if (resources.length === 0) return undefined;
  const entries = resources.flatMap((resource) => [
    resourceEntry(resource, catalog, hashes), ...subresourcesOf(resource, version).map((subresource) => subresourceEntry(resource, subresource, version)),
  ]);
  // Upstream omits the apiVersion in the document of the core group.
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  return { kind: 'APIResourceList', ...apiVersion, groupVersion: formatGroupVersion({ group, version }), resources: entries };
}

function groupEntry(name: string, versions: readonly string[]): Record<string, unknown> {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** `/apis`. */
export function apiGroupList(catalog: Catalog, remote: RemoteApis): Record<string, unknown> {
  const groups = mergeGroups(catalog, remote).filter(({ name }) => name !== '').map(({ name, versions }) => groupEntry(name, versions));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/{group}`; undefined when there is no such group. */
export function apiGroup({ catalog, remote }: DiscoverySource, group: string): Record<string, unknown> | undefined {
  const found = mergeGroups(catalog, remote).find(({ name }) => name === group && name !== '');
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(found.name, found.versions) };
}

/** `/api`. */
export function apiVersions(catalog: Catalog, serverAddress: string): Record<string, unknown> {
  const versions = catalog.groups().find(({ name }) => name === '')?.versions ?? ['v1'];
  return { kind: 'APIVersions', versions, serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }] };
}

interface ResponseKind {
  group: string;
  version: string;
  kind: string;
}

/** Upstream publishes a built-in kind without group and version, unless it differs from that of its resource. */
function responseKind(resource: Resource, version: string, kind?: Subresource['kind']): ResponseKind {
  if (kind && (kind.group !== resource.group || kind.version !== version)) return { group: kind.group, version: kind.version, kind: kind.kind };
  if (resource.custom) return { group: resource.group, version, kind: kind?.kind ?? resource.kind };
  return { group: '', version: '', kind: kind?.kind ?? resource.kind };
}

function aggregatedResource(resource: Resource, version: string): Record<string, unknown> {
  const { plural, singular, shortNames, categories, namespaced } = resource;
  const subresources = subresourcesOf(resource, version).map((subresource) => ({
    subresource: subresource.name, responseKind: responseKind(resource, version, subresource.kind),
    verbs: resource.custom ? subresource.verbs : [...subresource.verbs].sort(),
  }));
  return {
    resource: plural, responseKind: responseKind(resource, version), scope: namespaced ? 'Namespaced' : 'Cluster', singularResource: singular,
    verbs: verbsOf(resource), ...(shortNames.length > 0 && { shortNames }), ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** A version of other servers is stale until it is known, and has no list of resources where that is empty. */
function aggregatedVersion({ catalog, remote }: DiscoverySource, group: string, version: string): Record<string, unknown> {
  const rows = resourcesOf(catalog, group, version);
  const other = rows.every(({ custom }) => custom) ? remote.find(group, version) : undefined;
  if (other === undefined) return { version, resources: rows.map((row) => aggregatedResource(row, version)), freshness: 'Current' };
  const { resources = [], isFresh = false } = other.discovery ?? {};
  return { version, ...(resources.length > 0 && { resources }), freshness: isFresh ? 'Current' : 'Stale' };
}

/** Aggregated discovery: of the core group for `/api`, of all others for `/apis`. */
export function aggregatedDiscovery(source: DiscoverySource, core: boolean): Record<string, unknown> {
  const groups = mergeGroups(source.catalog, source.remote).filter(({ name }) => (name === '') === core);
  const items = groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map((version) => aggregatedVersion(source, name, version)),
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}
