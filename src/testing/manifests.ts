// Manifests from wherever a test has them: files, folders, globs, YAML or JSON text, objects.
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { YamlError, parseYaml } from '../codec/index.ts';
import type { KubernetesObject } from './objects.ts';

/** A file, a folder (read with all that is below it), a glob, YAML or JSON text of one or more documents, or an object. Lists stand for their items. */
export type ManifestSource = string | KubernetesObject;
/** One or several. */
export type Manifests = ManifestSource | readonly ManifestSource[];

/** A manifest that cannot be read or applied. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

const isManifestFile = (path: string): boolean => /\.(ya?ml|json)$/.test(path);
const isText = (source: string): boolean => /[\n{]|: /.test(source) && !isGlob(source);
const isGlob = (source: string): boolean => /[*?{]/.test(source) && !/[\s:]/.test(source);

/** All objects of the sources, in their order; files of a folder in the order of their names. */
export async function readManifests(sources: Manifests): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const source of Array.isArray(sources) ? sources as readonly ManifestSource[] : [sources as ManifestSource]) {
    objects.push(...typeof source === 'string' ? await readText(source) : flattenList(source));
  }
  return objects;
}

async function readText(source: string): Promise<KubernetesObject[]> {
  if (isText(source)) return parseManifests(source, 'the text');
  const files = isGlob(source) ? findMatches(source) : findFiles(source);
  if (files.length === 0) throw new ManifestError(`${source}: no such manifest`);
  const objects: KubernetesObject[] = [];
  for (const file of files) objects.push(...await parseManifests(readFileSync(file, 'utf8'), file));
  return objects;
}

function findFiles(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  return stats.isDirectory() ? walk(path).filter(isManifestFile) : [path];
}

const walk = (folder: string): string[] => readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name)).sort();

/** Files that fit a glob with `*`, `?`, `**` and `{a,b}`. */
function findMatches(glob: string): string[] {
  const base = dirname(resolve(glob.slice(0, glob.search(/[*?{]/) + 1)));
  if (statSync(base, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const patterns = expandBraces(relative(base, resolve(glob))).map((pattern) => pattern.split(sep));
  return walk(base).filter((file) => patterns.some((pattern) => fitsPath(pattern, relative(base, file).split(sep))));
}

function expandBraces(glob: string): string[] {
  const [open, close] = [glob.indexOf('{'), glob.indexOf('}')];
  if (open < 0 || close < open) return [glob];
  return glob.slice(open + 1, close).split(',').flatMap((choice) => expandBraces(glob.slice(0, open) + choice + glob.slice(close + 1)));
}

/** `**` stands for any number of folders. */
function fitsPath([first, ...rest]: readonly string[], path: readonly string[]): boolean {
  if (first === undefined) return path.length === 0;
  if (first === '**') return path.some((_, index) => fitsPath(rest, path.slice(index))) || fitsPath(rest, []);
  return path.length > 0 && fitsName(first, path[0] as string) && fitsPath(rest, path.slice(1));
}

function fitsName(pattern: string, name: string): boolean {
  const parts = pattern.split('*');
  let at = 0;
  for (const [index, part] of parts.entries()) {
    const found = index === parts.length - 1 && index > 0 ? Math.max(at, name.length - part.length) : index === 0 ? 0 : findPart(name, part, at);
    if (found < 0 || !fitsPart(name, part, found)) return false;
    at = found + part.length;
  }
  return at === name.length || pattern.endsWith('*');
}

const fitsPart = (name: string, part: string, at: number): boolean =>
  at + part.length <= name.length && [...part].every((character, index) => character === '?' || character === name[at + index]);

function findPart(name: string, part: string, from: number): number {
  for (let at = from; at + part.length <= name.length; at++) if (fitsPart(name, part, at)) return at;
  return -1;
}

async function parseManifests(text: string, where: string): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const [index, document] of splitDocuments(text).entries()) {
    if (/^[ \t]*[^#\s]/m.test(document)) objects.push(...await parseDocument(document, `${where}, document ${index + 1}`));
  }
  return objects;
}

const splitDocuments = (text: string): string[] => text.split(/^---(?=\s|$)[^\n]*$/m);

async function parseDocument(document: string, where: string): Promise<KubernetesObject[]> {
  try {
    const value = (await parseYaml(new TextEncoder().encode(document))).value as unknown;
    if (value === null || value === undefined) return [];
    if (typeof value !== 'object' || typeof (value as KubernetesObject).kind !== 'string') throw new ManifestError(`${where} is no Kubernetes object`);
    return flattenList(value as KubernetesObject);
  } catch (error) {
    if (error instanceof YamlError) throw new ManifestError(`${where}: ${error.message}`, { cause: error });
    throw error;
  }
}

function flattenList(object: KubernetesObject): KubernetesObject[] {
  const items = object['items'] as unknown;
  if (object.kind === undefined) throw new ManifestError(`an object without a kind: ${JSON.stringify(object).slice(0, 100)}`);
  return object.kind.endsWith('List') && Array.isArray(items) ? (items as KubernetesObject[]).flatMap(flattenList) : [object];
}
