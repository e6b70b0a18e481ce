// Which kubectl binaries there are: those that PINTLE_KUBECTL names, or those beside what PATH leads to (kubectl, kubectl.1.27 …).
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** One kubectl. */
export interface Kubectl {
  readonly path: string;
  /** Major and minor: 1.33. */
  readonly version: string;
}

const named = (): string => process.env['PINTLE_KUBECTL'] ?? '';

function listCandidates(): string[] {
  if (named() !== '') return named().split(/[,:\s]+/).filter((path) => path !== '');
  const folder = (process.env['PATH'] ?? '').split(delimiter).find((entry) => entry !== '' && existsSync(join(entry, 'kubectl')));
  if (folder === undefined) return [];
  const real = realpathSync(join(folder, 'kubectl'));
  const versioned = readdirSync(dirname(real)).filter((name) => /^kubectl\.\d+\.\d+$/.test(name));
  return versioned.length > 0 ? versioned.map((name) => join(dirname(real), name)) : [real];
}

function readVersion(path: string): string | undefined {
  const result = spawnSync(path, ['version', '--client', '-o', 'json'], { encoding: 'utf8', timeout: 20_000 });
  return /"gitVersion": "v(\d+\.\d+)/.exec(result.stdout ?? '')?.[1];
}

const minor = (version: string): number => Number(version.split('.')[1]);

/** Each kubectl that PINTLE_KUBECTL names, else the newest and the oldest at hand; newest first, empty when there is none. */
export function findKubectls(): Kubectl[] {
  const found = listCandidates().flatMap((path) => {
    const version = readVersion(path);
    return version === undefined ? [] : [{ path, version }];
  });
  found.sort((left, right) => minor(right.version) - minor(left.version));
  return named() !== '' || found.length < 2 ? found : [found[0] as Kubectl, found.at(-1) as Kubectl];
}
