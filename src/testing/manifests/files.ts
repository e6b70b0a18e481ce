// The files of manifests: by name, by folder, by glob.
import { readdirSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const isManifestFile = (path: string): boolean => /\.(ya?ml|json)$/.test(path);
/** Whether a text is a glob rather than a name or a manifest. */
export const isGlob = (source: string): boolean => /[*?{]/.test(source) && !/[\s:]/.test(source);

/** The files of a name or a glob, those of a folder in the order of their names. */
export const listFiles = (source: string): string[] => (isGlob(source) ? findMatches(source) : findFiles(source));

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
