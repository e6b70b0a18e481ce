// Documents of manifests with the places where they stand: files, folders, globs, YAML or JSON text, what `helm template` prints.
import { readFileSync } from 'node:fs';
import type { KubernetesObject } from '../../client/index.ts';
import { YamlError, parseYaml } from '../../codec/index.ts';
import { isGlob, listFiles } from './files.ts';

/** A file, a folder (read with all that is below it), a glob, YAML or JSON text of one or more documents, or an object. Lists stand for their items. */
export type ManifestSource = string | KubernetesObject;
/** One or several. */
export type Manifests = ManifestSource | readonly ManifestSource[];

/** Where a document stands. */
export interface DocumentPlace {
  /** `-` for standard input, '' for what stands in no file. */
  readonly file: string;
  /** The line of the file in which the text begins. */
  readonly startLine: number;
  /** The first line with content. */
  readonly line: number;
  /** The document, without what stands before and behind it in its file. */
  readonly text: string;
  /** The template of which Helm has made it; '' where none is named. */
  readonly template: string;
  /** The place in a list, such as `items[2]`; '' for an object of its own. */
  readonly inside: string;
}

/** An object and where it stands. */
export interface ManifestDocument {
  readonly object: KubernetesObject;
  readonly place: DocumentPlace;
}

/** Why something is no object, or not the one that it looks like. */
export interface DocumentProblem {
  readonly place: DocumentPlace;
  readonly line: number;
  readonly message: string;
  /** The document is read all the same. */
  readonly isWarning: boolean;
}

/** What sources hold. */
export interface ReadDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly problems: readonly DocumentProblem[];
}

/** A manifest that cannot be read or applied. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

const isText = (source: string): boolean => /[\n{]|: /.test(source) && !isGlob(source);

/** All objects of the sources, in their order; files of a folder in the order of their names. Throws ManifestError for the first problem. */
export async function readManifests(sources: Manifests): Promise<KubernetesObject[]> {
  const objects: KubernetesObject[] = [];
  for (const source of Array.isArray(sources) ? sources as readonly ManifestSource[] : [sources as ManifestSource]) {
    const { documents, problems } = typeof source === 'string' ? await readSource(source) : readObject(source);
    const problem = problems.find(({ isWarning }) => !isWarning);
    if (problem !== undefined) throw new ManifestError(`${problem.place.file || 'the text'}, line ${problem.line}: ${problem.message}`);
    objects.push(...documents.map(({ object }) => object));
  }
  return objects;
}

/** The documents of files, folders and globs; `-` is what `readInput` answers. Throws ManifestError for a name without files. */
export async function readDocuments(names: readonly string[], readInput: () => string): Promise<ReadDocuments> {
  const found = await Promise.all(names.map((name) => (name === '-' ? parseDocuments(readInput(), '-') : readFiles(name))));
  return join(found);
}

const join = (parts: readonly ReadDocuments[]): ReadDocuments =>
  ({ documents: parts.flatMap(({ documents }) => documents), problems: parts.flatMap(({ problems }) => problems) });

const readSource = (source: string): Promise<ReadDocuments> => (isText(source) ? parseDocuments(source, '') : readFiles(source));

const readFiles = async (name: string): Promise<ReadDocuments> => {
  const files = listFiles(name);
  if (files.length === 0) throw new ManifestError(`${name}: no such manifest`);
  return join(await Promise.all(files.map((file) => parseDocuments(readFileSync(file, 'utf8'), file))));
};

function readObject(object: KubernetesObject): ReadDocuments {
  const place: DocumentPlace = { file: '', startLine: 1, line: 1, text: JSON.stringify(object), template: '', inside: '' };
  if (object.kind === undefined) throw new ManifestError(`an object without a kind: ${place.text.slice(0, 100)}`);
  return { documents: flattenList({ object, place }), problems: [] };
}

/** The documents of a text. */
export async function parseDocuments(text: string, file: string): Promise<ReadDocuments> {
  const parts: ReadDocuments[] = [];
  for (const place of splitDocuments(text, file)) parts.push(await parseDocument(place));
  return join(parts);
}

/** A marker at the beginning of a line ends a document wherever it stands, in texts of several lines too. */
function* splitDocuments(text: string, file: string): Generator<DocumentPlace> {
  let startLine = 1;
  let template = '';
  for (const part of text.split(/^---(?=\s|$)/m)) {
    const lines = part.split('\n');
    const first = lines.findIndex((line) => /^[ \t]*[^#\s]/.test(line));
    template = /^# Source: (.*)$/m.exec(lines.slice(0, Math.max(first, 0)).join('\n'))?.[1]?.trim() ?? '';
    if (first >= 0) yield { file, startLine, line: startLine + first, text: part, template, inside: '' };
    startLine += lines.length - 1;
  }
}

async function parseDocument(place: DocumentPlace): Promise<ReadDocuments> {
  const fail = (message: string, line = place.line, isWarning = false): DocumentProblem => ({ place, line, message, isWarning });
  try {
    const { value, duplicates } = await parseYaml(new TextEncoder().encode(place.text));
    if (value === null || value === undefined) return { documents: [], problems: [] };
    const { kind } = value as KubernetesObject;
    if (typeof value !== 'object' || typeof kind !== 'string') return { documents: [], problems: [fail('this is no Kubernetes object: it has no kind')] };
    const [double] = duplicates;
    const problems = double === undefined ? [] : [fail(double.replace(/^line \d+: /, ''), lineIn(double, place), true)];
    return { documents: flattenList({ object: value as KubernetesObject, place }), problems };
  } catch (error) {
    if (error instanceof YamlError) return { documents: [], problems: [fail(error.message, lineIn(error.message, place))] };
    throw error;
  }
}

/** The line of the file that an error of a document names. */
function lineIn(message: string, { startLine, line }: DocumentPlace): number {
  const named = /\bline (\d{1,9}):/.exec(message)?.[1];
  return named === undefined ? line : startLine + Number(named) - 1;
}

function flattenList({ object, place }: ManifestDocument): ManifestDocument[] {
  const items = object['items'] as unknown;
  if (object.kind?.endsWith('List') !== true || !Array.isArray(items)) return [{ object, place }];
  return (items as KubernetesObject[]).flatMap((item, index) =>
    flattenList({ object: item, place: { ...place, inside: `${place.inside === '' ? '' : `${place.inside}.`}items[${index}]` } }));
}
