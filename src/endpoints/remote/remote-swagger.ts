// OpenAPI v2 of other servers, merged into this server's as kube-aggregator does: of each version the paths below it that are free, and the definitions
// that they use. A part gets another name where its own stands for something else. Parts of another form than expected are ignored.
import { isJsonObject } from '../../base/index.ts';
import type { Steps } from '../../base/index.ts';
import type { RemoteVersion } from './remote-apis.ts';


type Json = Readonly<Record<string, unknown>>;
type Parts = Map<string, unknown>;

/** What documents share by name. */
const sharedSections = ['definitions', 'parameters'] as const;
type Section = (typeof sharedSections)[number];

/** A document on its way. */
interface Swagger extends Readonly<Record<Section, Parts>> {
  readonly paths: Parts;
}

const GVK = 'x-kubernetes-group-version-kind';

const partsOf = (document: Json, name: string): Parts => new Map(Object.entries(isJsonObject(document[name]) ? document[name] : {}));
const referenceTo = (section: Section, name: string): string => `#/${section}/${name}`;
const definitionPrefix = referenceTo('definitions', '');

/** The names of definitions that paths refer to, also through other definitions. */
function findUsed({ paths, definitions }: Swagger): Set<string> {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const reference = (value as Json)['$ref'];
    if (typeof reference === 'string' && reference.startsWith(definitionPrefix)) {
      const name = reference.slice(definitionPrefix.length);
      if (!used.has(name)) visit((used.add(name), definitions.get(name)));
    }
    for (const each of Object.values(value)) visit(each);
  };
  for (const item of paths.values()) visit(item);
  return used;
}

/** The document without the other paths, and without definitions that only those used. */
function keepPaths(document: Swagger, isKept: (path: string) => boolean): Swagger {
  const kept = { ...document, paths: new Map([...document.paths].filter(([path]) => isKept(path))) };
  const [before, after] = [findUsed(document), findUsed(kept)];
  return { ...kept, definitions: new Map([...document.definitions].filter(([name]) => after.has(name) || !before.has(name))) };
}

/** A copy in which references to what is renamed are changed. */
function renameReferences(value: unknown, renamed: ReadonlyMap<string, string>): unknown {
  if (renamed.size === 0) return value;
  if (Array.isArray(value)) return value.map((each) => renameReferences(each, renamed));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => {
    const reference = key === '$ref' && typeof each === 'string' ? renamed.get(each) : undefined;
    return [key, reference ?? renameReferences(each, renamed)];
  }));
}

/** What makes parts differ: not the order of keys, not the kinds that they stand for, and not the prose, which each server has of its own. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formOf);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).filter(([key, each]) => key !== GVK && (key !== 'description' || typeof each !== 'string'));
  return Object.fromEntries(entries.sort(([one], [two]) => (one < two ? -1 : 1)).map(([key, each]) => [key, formOf(each)]));
}

const textOf = (part: unknown): string => JSON.stringify(formOf(part));

/** The names that parts get which differ from what is known under theirs: `name_v2` and so on, also one that the same part has got before. */
function* findRenamed(known: Parts, parts: Parts): Iterable<readonly [name: string, renamed: string]> {
  const taken = new Set(known.keys());
  for (const [name, part] of parts) {
    if (!known.has(name)) continue;
    const text = textOf(part);
    let [found, number] = [name, 1];
    while (known.has(found) && textOf(known.get(found)) !== text) found = `${name}_v${++number}`;
    while (!known.has(found) && (taken.has(found) || parts.has(found))) found = `${name}_v${++number}`;
    taken.add(found);
    if (found !== name) yield [name, found];
  }
}

const keyOfKind = (kind: unknown): string => (isJsonObject(kind) ? `${String(kind['group'])}/${String(kind['version'])}.${String(kind['kind'])}` : '');

/** The first of two definitions of the same form, with the kinds of both. */
function uniteKinds(ours: unknown, theirs: unknown): unknown {
  const [before, more] = [ours, theirs].map((each) => (isJsonObject(each) && Array.isArray(each[GVK]) ? each[GVK] as unknown[] : []));
  const known = new Set(before?.map(keyOfKind));
  const added = more?.filter((kind) => !known.has(keyOfKind(kind))) ?? [];
  if (!isJsonObject(ours) || added.length === 0) return ours;
  return { ...ours, [GVK]: [...before ?? [], ...added].sort((one, two) => (keyOfKind(one) < keyOfKind(two) ? -1 : 1)) };
}

/** Adds what is free in the first document; that one is changed. */
function addSwagger(document: Swagger, other: Swagger): void {
  const isFree = (path: string): boolean => !document.paths.has(path);
  const conflicts = [...other.paths.keys()].filter((path) => !isFree(path)).length;
  if (conflicts === other.paths.size) return;
  const free = conflicts === 0 ? other : keepPaths(other, isFree);
  const names = sharedSections.map((section) => ({ section, renamed: new Map(findRenamed(document[section], free[section])) }));
  const references = new Map(names.flatMap(({ section, renamed }) =>
    [...renamed].map(([name, ours]) => [referenceTo(section, name), referenceTo(section, ours)] as const)));
  for (const { section, renamed } of names) {
    for (const [name, part] of free[section]) {
      const ours = renamed.get(name) ?? name;
      const before = document[section].get(ours);
      document[section].set(ours, before === undefined ? renameReferences(part, references) : uniteKinds(before, part));
    }
  }
  for (const [path, item] of free.paths) document.paths.set(path, renameReferences(item, references));
}

const readSwagger = (document: Json): Swagger => ({
  paths: partsOf(document, 'paths'), definitions: partsOf(document, 'definitions'), parameters: partsOf(document, 'parameters'),
});

/** The Swagger document with those of other servers; each version is a step. */
export function* mergeSwagger(document: Record<string, unknown>, versions: readonly RemoteVersion[]): Steps<Record<string, unknown>> {
  const others = versions.filter(({ openApiV2 }) => isJsonObject(openApiV2));
  if (others.length === 0) return document;
  const merged = readSwagger(document);
  for (const { group, version, openApiV2 } of others) {
    addSwagger(merged, keepPaths(readSwagger(openApiV2 as Json), (path) => path.startsWith(`/apis/${group}/${version}/`)));
    yield;
  }
  const filled = sharedSections.filter((section) => merged[section].size > 0).map((section) => [section, Object.fromEntries(merged[section])]);
  return { ...document, paths: Object.fromEntries(merged.paths), ...Object.fromEntries(filled) };
}
