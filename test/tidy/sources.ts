// The files that the tidy rules look at: found by walking the tree, read once, each with its room and what it imports.
import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** One file of the repository. */
export interface Source {
  /** Path from the repository's root. */
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  /** Folder below src/, '' for files directly in it; console and its folders (console/api); undefined outside. */
  readonly room: string | undefined;
  /** Tests, suites and their data may cross rooms and use `node:` modules. */
  readonly isTest: boolean;
  /** Tables of facts: exempt from sizes and widths. */
  readonly isData: boolean;
  readonly imports: readonly Import[];
}

/** One import; `target` is a path from the root for relative ones. */
interface Import {
  readonly specifier: string;
  readonly target: string | undefined;
}

const IMPORT = /^(?:import|export)\b[^;'"]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm;

function findRoot(from: string): string {
  const names = readdirSync(from);
  return names.includes('package.json') && names.includes('src') && names.includes('tsconfig.json') ? from : findRoot(dirname(from));
}

/** Folders that hold what others wrote: packages, history, the Python client of the slower suites. */
const NOT_OURS: ReadonlySet<string> = new Set(['node_modules', '.git', 'venv']);

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (NOT_OURS.has(entry.name) || entry.name.startsWith('dist')) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

function findImports(path: string, text: string): Import[] {
  return [...text.matchAll(IMPORT)].map((match) => {
    const specifier = match[1] ?? match[2] ?? match[3] ?? '';
    return { specifier, target: specifier.startsWith('.') ? join(dirname(path), specifier) : undefined };
  });
}

/** The room of a file by its path. */
export function findRoom(path: string): string | undefined {
  const [top, folder = '', rest] = path.split('/');
  if (top === 'console') return rest === undefined ? 'console' : `console/${folder}`;
  return top !== 'src' ? undefined : rest === undefined ? '' : folder;
}

function readSource(root: string, file: string): Source {
  const path = relative(root, file);
  const text = readFileSync(file, 'utf8');
  return {
    path, text, lines: text.split('\n'),
    room: findRoom(path),
    isTest: /\.(test|suite)\.ts$/.test(path) || findRoom(path) === undefined,
    isData: path.endsWith('.data.ts') || path.startsWith('src/resources/schema/'),
    imports: findImports(path, text),
  };
}

const isText = /\.(tsx?|css|html|mjs|js|md|ya?ml|json|sh)$/;

/** All TypeScript files, and all text files that people read or tools obey. */
export function readSources(): { readonly code: readonly Source[]; readonly texts: readonly Source[] } {
  const root = findRoot(import.meta.dirname);
  const all = [...walk(root)];
  return {
    code: all.filter((file) => /\.tsx?$/.test(file)).map((file) => readSource(root, file)),
    texts: all.filter((file) => isText.test(file) && !/\/test\/(oracle|data)\//.test(file)).map((file) => readSource(root, file)),
  };
}
