// The discovery documents as plain values: pure views of the catalog's rows, legacy and aggregated.
import { formatGroupVersion } from '../../apimachinery/index.ts';
import { type Catalog, type Resource, type Subresource, subresourcesIn } from '../../registry/index.ts';
import type { Hashes } from '../dependencies.ts';

/** Verbs of custom resources are not sorted: this is the order in which upstream lists them. */
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function verbsOf({ verbs, custom }: Resource): readonly string[] {
  if (custom) return CUSTOM_VERBS.filter((verb) => (verbs as readonly string[]).includes(verb));
  return verbs.length > 0 ? [...verbs].sort() : ['create'];
}

/** Subresources as they are listed: by name, those of custom resources in the order of the row. */
function subresourcesOf(row: Resource, version: string): readonly Subresource[] {
  const subresources = subresourcesIn(row, version);
  return row.custom ? subresources : [...subresources].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The rows of one group version, in order. */
export function rowsOf(catalog: Catalog, group: string, version: string): readonly Resource[] {
  return catalog.resources().filter((row) => row.group === group && row.versions.some(({ name, served }) => name === version && served));
}

/** Identifies the stored kind: clients compare it to find out whether two group versions hold the same objects. */
function storageVersionHash(row: Resource, catalog: Catalog, hashes: Hashes): string | undefined {
  if (!row.verbs.includes('watch')) return undefined;
  const stored = row.storedAs ? catalog.resources().find(({ group, plural }) => `${group}/${plural}` === row.storedAs) ?? row : row;
  const version = stored.upstreamStorageVersion ?? stored.storageVersion;
  const hash = hashes.sha256(new TextEncoder().encode(`${stored.group}/${version}/${stored.kind}`));
  return btoa(String.fromCharCode(...hash.subarray(0, 8)));
}

function resourceEntry(row: Resource, catalog: Catalog, hashes: Hashes): Record<string, unknown> {
  const hash = storageVersionHash(row, catalog, hashes);
  return {
    name: row.plural, singularName: row.singular, namespaced: row.namespaced, kind: row.kind, verbs: verbsOf(row),
    ...(row.shortNames.length > 0 && { shortNames: row.shortNames }), ...(row.categories.length > 0 && { categories: row.categories }),
    ...(hash && { storageVersionHash: hash }),
  };
}

function subresourceEntry(row: Resource, subresource: Subresource, version: string): Record<string, unknown> {
  const { kind } = subresource;
  const foreign = kind !== undefined && (kind.group !== row.group || kind.version !== version);
  return {
    name: `${row.plural}/${subresource.name}`, singularName: '', namespaced: row.namespaced,
    ...(foreign && { ...(kind.group && { group: kind.group }), version: kind.version }), kind: kind?.kind ?? row.kind,
    verbs: row.custom ? subresource.verbs : [...subresource.verbs].sort(),
  };
}

/** `/api/v1` and `/apis/{group}/{version}`; undefined when nothing of it is served. */
export function apiResourceList(catalog: Catalog, hashes: Hashes, { group, version }: { group: string; version: string }): Record<string, unknown> | undefined {
  const rows = rowsOf(catalog, group, version);
  if (rows.length === 0) return undefined;
  const resources = rows.flatMap((row) => [
    resourceEntry(row, catalog, hashes), ...subresourcesOf(row, version).map((subresource) => subresourceEntry(row, subresource, version)),
  ]);
  // The document of the core group has never had an apiVersion.
  const apiVersion = group === '' ? {} : { apiVersion: 'v1' };
  return { kind: 'APIResourceList', ...apiVersion, groupVersion: formatGroupVersion({ group, version }), resources };
}

function groupEntry(name: string, versions: readonly string[]): Record<string, unknown> {
  const entries = versions.map((version) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: entries, preferredVersion: entries[0] };
}

/** `/apis`. */
export function apiGroupList(catalog: Catalog): Record<string, unknown> {
  const groups = catalog.groups().filter(({ name }) => name !== '').map(({ name, versions }) => groupEntry(name, versions));
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `/apis/{group}`; undefined when there is no such group. */
export function apiGroup(catalog: Catalog, group: string): Record<string, unknown> | undefined {
  const found = catalog.groups().find(({ name }) => name === group && name !== '');
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

/** Built-in kinds that are their resource's own are published without group and version. */
function responseKind(row: Resource, version: string, kind?: Subresource['kind']): ResponseKind {
  if (kind && (kind.group !== row.group || kind.version !== version)) return { group: kind.group, version: kind.version, kind: kind.kind };
  if (row.custom) return { group: row.group, version, kind: kind?.kind ?? row.kind };
  return { group: '', version: '', kind: kind?.kind ?? row.kind };
}

function aggregatedResource(row: Resource, version: string): Record<string, unknown> {
  const subresources = subresourcesOf(row, version).map((subresource) => ({
    subresource: subresource.name, responseKind: responseKind(row, version, subresource.kind),
    verbs: row.custom ? subresource.verbs : [...subresource.verbs].sort(),
  }));
  return {
    resource: row.plural, responseKind: responseKind(row, version), scope: row.namespaced ? 'Namespaced' : 'Cluster', singularResource: row.singular,
    verbs: verbsOf(row), ...(row.shortNames.length > 0 && { shortNames: row.shortNames }), ...(row.categories.length > 0 && { categories: row.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}

/** Aggregated discovery: of the core group for `/api`, of all others for `/apis`. */
export function aggregatedDiscovery(catalog: Catalog, core: boolean): Record<string, unknown> {
  const groups = catalog.groups().filter(({ name }) => (name === '') === core);
  const items = groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map((version) => ({ version, resources: rowsOf(catalog, name, version).map((row) => aggregatedResource(row, version)),
      freshness: 'Current' })),
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}
