// What other servers say of their APIs, read for this server's documents: discovery in its two forms, and the index of OpenAPI v3. Parts of another
// form than expected are ignored. OpenAPI v2 has a file of its own, remote-swagger.ts.
import { isJsonObject } from '../../base/index.ts';
import type { GroupVersion } from './remote-apis.ts';

type Json = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object. */
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The resources of a version in an APIGroupDiscoveryList; none where the list leaves the version out, undefined where it is no such list. */
export function readAggregatedResources(document: unknown, { group, version }: GroupVersion): readonly Json[] | undefined {
  if (!isJsonObject(document) || document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  const found = listOf(document['items']).find(({ metadata }) => isJsonObject(metadata) && metadata['name'] === group);
  return listOf(listOf(found?.['versions']).find((each) => each['version'] === version)?.['resources']).map(withKinds);
}

/** As upstream, absent kinds become empty ones, since some releases of client-go cannot do without. */
function withKinds({ resource, responseKind: kind, subresources, ...rest }: Json): Json {
  const inner = listOf(subresources).map(({ subresource, responseKind: ofSubresource, ...more }) =>
    ({ subresource, responseKind: ofSubresource ?? responseKind({}), ...more }));
  return { resource, responseKind: kind ?? responseKind({}), ...rest, ...(inner.length > 0 && { subresources: inner }) };
}

function responseKind({ group, version, kind }: Json): Json {
  return { group: textOf(group), version: textOf(version), kind: textOf(kind) };
}

function convertSubresources(name: string, all: readonly Json[]): Json[] {
  return all.filter((each) => textOf(each['name']).startsWith(`${name}/`)).map((each) => ({
    subresource: textOf(each['name']).slice(name.length + 1), responseKind: responseKind(each), verbs: each['verbs'] ?? [],
  }));
}

/** The resources of an APIResourceList as aggregated discovery has them; undefined where it is no such list. */
export function convertLegacyResources(document: unknown): readonly Json[] | undefined {
  if (!isJsonObject(document) || !Array.isArray(document['resources'])) return undefined;
  const all = listOf(document['resources']);
  return all.filter(({ name }) => !textOf(name).includes('/')).map((each) => {
    const { name, singularName, namespaced, verbs, shortNames, categories } = each;
    const subresources = convertSubresources(textOf(name), all);
    return {
      resource: name, responseKind: responseKind(each), scope: namespaced === true ? 'Namespaced' : 'Cluster', singularResource: textOf(singularName),
      verbs: verbs ?? [], ...(Array.isArray(shortNames) && { shortNames }), ...(Array.isArray(categories) && { categories }),
      ...(subresources.length > 0 && { subresources }),
    };
  });
}

/** The documents of an index of OpenAPI v3, by their path, with the address of each. */
export function readOpenApiIndex(document: unknown): ReadonlyMap<string, string> {
  const paths = isJsonObject(document) && isJsonObject(document['paths']) ? document['paths'] : {};
  const entries = Object.entries(paths).map(([path, entry]) => [path, isJsonObject(entry) ? textOf(entry['serverRelativeURL']) : ''] as const);
  return new Map(entries.filter(([path, url]) => path.startsWith('apis/') && url !== ''));
}
