// What this program is, and which Kubernetes it answers as.
import { readFileSync } from 'node:fs';

/** The document of /version: the Kubernetes release whose behaviour is served. */
export const kubernetesVersion = {
  major: '1', minor: '36', emulationMajor: '1', emulationMinor: '36', minCompatibilityMajor: '1', minCompatibilityMinor: '35',
  gitVersion: 'v1.36.3', gitCommit: '', gitTreeState: 'clean', buildDate: '1970-01-01T00:00:00Z',
  goVersion: '', compiler: 'node', platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
} as const;

/** The version of this package. */
export function readPackageVersion(): string {
  // The compiled file is in dist/bin as a bundle and in dist/src/server/cli as a module.
  for (const path of ['../../package.json', '../../../../package.json']) {
    try {
      const manifest = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { name?: string; version?: string };
      if (manifest.name === 'pintle' && manifest.version !== undefined) return manifest.version;
    } catch {
      // Not at this level.
    }
  }
  return 'unknown';
}
