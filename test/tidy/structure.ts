// Rules about many files at once: no loops of imports, and no folder with more files than one look takes in.
import path from 'node:path';
import type { Source } from './sources.ts';

const FOLDER_LIMIT = 15;

/** Loops of imports among files, type imports included: one entry per loop, its files in order of their paths. */
export function findCircles(sources: readonly Source[]): string[][] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const targetsOf = (file: string): string[] => (byPath.get(file)?.imports ?? []).flatMap(({ target = '' }) => (byPath.has(target) ? [target] : []));
  const reachOf = new Map<string, Set<string>>();
  for (const { path: start } of sources) {
    const reached = new Set<string>();
    const waiting = targetsOf(start);
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      if (reached.has(file)) continue;
      reached.add(file);
      waiting.push(...targetsOf(file));
    }
    reachOf.set(start, reached);
  }
  const circles = new Map<string, string[]>();
  for (const [file, reached] of reachOf) {
    if (!reached.has(file)) continue;
    const members = [...reached].filter((other) => reachOf.get(other)?.has(file) === true).sort();
    circles.set(members.join(' '), members);
  }
  return [...circles.values()];
}

const isCounted = ({ path: file, isData }: Source): boolean =>
  /^(src|console)\//.test(file) && !isData && !/(\.(test|suite)|(^|\/)(index|testing))\.ts$/.test(file);

/** Folders of src/ and console/ with more source files than the limit; doors, tests, suites and data do not count. */
export function findLargeFolders(sources: readonly Source[]): string[] {
  const counts = new Map<string, number>();
  for (const source of sources.filter(isCounted)) {
    const folder = path.posix.dirname(source.path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > FOLDER_LIMIT).map(([folder, count]) => `${folder}: ${count} files`);
}
