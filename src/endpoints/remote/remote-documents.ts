// What other servers say of their APIs, read for this server's documents: discovery in its two forms, the index of OpenAPI v3, and OpenAPI v2
// merged into this server's. Parts of another form than expected are ignored.
import type { GroupVersion, RemoteVersion } from './remote-apis.ts';

type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value);
const listOf = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The resources of a version in an APIGroupDiscoveryList; none where the list leaves the version out, undefined where it is no such list. */
export function readAggregatedResources(document: unknown, { group, version }: GroupVersion): readonly Json[] | undefined {
  if (!isObject(document) || document['kind'] !== 'APIGroupDiscoveryList') return undefined;
  const found = listOf(document['items']).find(({ metadata }) => isObject(metadata) && metadata['name'] === group);
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
  if (!isObject(document) || !Array.isArray(document['resources'])) return undefined;
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
  const paths = isObject(document) && isObject(document['paths']) ? document['paths'] : {};
  const entries = Object.entries(paths).map(([path, entry]) => [path, isObject(entry) ? textOf(entry['serverRelativeURL']) : ''] as const);
  return new Map(entries.filter(([path, url]) => path.startsWith('apis/') && url !== ''));
}

/** What documents share by name. */
const sharedSections = ['definitions', 'parameters'] as const;
type Section = (typeof sharedSections)[number];

/** A copy in which references to what is renamed are changed. */
function renameReferences(value: unknown, renamed: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((each) => renameReferences(each, renamed));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => {
    const reference = key === '$ref' && typeof each === 'string' ? renamed.get(each) : undefined;
    return [key, reference ?? renameReferences(each, renamed)];
  }));
}

const referenceTo = (section: Section, name: string): string => `#/${section}/${name}`;

/** References to what is there under the same name with another content, each with the first free one of the form `name_v2`. */
function* findRenamed(section: Section, parts: Json, known: ReadonlyMap<string, unknown>): Iterable<[string, string]> {
  for (const [name, part] of Object.entries(parts)) {
    if (!known.has(name) || JSON.stringify(known.get(name)) === JSON.stringify(part)) continue;
    let number = 2;
    while (known.has(`${name}_v${number}`)) number += 1;
    yield [referenceTo(section, name), referenceTo(section, `${name}_v${number}`)];
  }
}

const partsOf = (document: Json, name: string): Json => (isObject(document[name]) ? document[name] : {});

/** The Swagger document with those of other servers: their paths below `/apis/` where they are free, their definitions and shared parameters. */
export function mergeSwagger(document: Record<string, unknown>, versions: readonly RemoteVersion[]): Record<string, unknown> {
  const documents = new Set(versions.map(({ openApiV2 }) => openApiV2).filter(isObject));
  if (documents.size === 0) return document;
  const sections = sharedSections.map((section) => ({ section, known: new Map(Object.entries(partsOf(document, section))) }));
  const paths = new Map(Object.entries(partsOf(document, 'paths')));
  for (const other of documents) {
    const renamed = new Map(sections.flatMap(({ section, known }) => [...findRenamed(section, partsOf(other, section), known)]));
    for (const { section, known } of sections) {
      for (const [name, part] of Object.entries(partsOf(other, section))) {
        const ours = renamed.get(referenceTo(section, name))?.slice(referenceTo(section, '').length) ?? name;
        if (!known.has(ours)) known.set(ours, renameReferences(part, renamed));
      }
    }
    for (const [path, item] of Object.entries(partsOf(other, 'paths'))) {
      if (path.startsWith('/apis/') && !paths.has(path)) paths.set(path, renameReferences(item, renamed));
    }
  }
  const filled = sections.filter(({ known }) => known.size > 0).map(({ section, known }) => [section, Object.fromEntries(known)]);
  return { ...document, paths: Object.fromEntries(paths), ...Object.fromEntries(filled) };
}
