// Published modules that ship definitions and examples, fetched by the package manager at test time: nothing of theirs is in this repository.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isJsonObject } from '../../src/base/index.ts';

export type Json = Record<string, any>;

/** A module and where in it definitions and examples are. */
interface PublishedModule {
  readonly path: string;
  readonly version: string;
  readonly definitions: string;
  readonly examples: readonly string[];
}

export const publishedModules: readonly PublishedModule[] = [
  { path: 'sigs.k8s.io/gateway-api', version: 'v1.3.0', definitions: 'config/crd/experimental', examples: ['examples'] },
  { path: 'github.com/cert-manager/cert-manager', version: 'v1.18.2', definitions: 'deploy/crds', examples: ['deploy/manifests', 'test/e2e'] },
  { path: 'github.com/prometheus-operator/prometheus-operator', version: 'v0.84.0', definitions: 'example/prometheus-operator-crd-full',
    examples: ['example'] },
  { path: 'github.com/crossplane/crossplane', version: 'v1.20.0', definitions: 'cluster/crds', examples: ['test/e2e/manifests'] },
  { path: 'github.com/kedacore/keda/v2', version: 'v2.17.2', definitions: 'config/crd/bases', examples: ['config/samples'] },
  { path: 'github.com/argoproj/argo-cd/v2', version: 'v2.14.15', definitions: 'manifests/crds', examples: ['docs/operator-manual', 'applicationset/examples'] },
  { path: 'istio.io/api', version: 'v1.26.2', definitions: 'kubernetes', examples: [] },
  { path: 'github.com/cloudnative-pg/cloudnative-pg', version: 'v1.26.0', definitions: 'config/crd/bases', examples: ['docs/src/samples'] },
];

/** The folder of a module in `cache`; why there is none otherwise. */
export function downloadModule({ path, version }: PublishedModule, cache: string): { readonly folder: string } | { readonly missing: string } {
  const env = { ...process.env, GOMODCACHE: cache, GOFLAGS: '-modcacherw' };
  const { stdout, error } = spawnSync('go', ['mod', 'download', '-json', `${path}@${version}`], { cwd: cache, env, timeout: 120_000, encoding: 'utf8' });
  if (error !== undefined) return { missing: `go: ${error.message}` };
  const answer = JSON.parse(stdout || '{}') as { Dir?: string; Error?: string };
  return answer.Dir === undefined ? { missing: `${path}: ${answer.Error ?? 'no answer'}` } : { folder: answer.Dir };
}

function listFiles(folder: string): string[] {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name));
  return files.map(({ parentPath, name }) => join(parentPath, name)).sort();
}

/** All objects in the YAML files below a folder; lines of templates are left out, files that are no YAML without them too. */
export function readObjects(folder: string): Json[] {
  return listFiles(folder).flatMap((file) => {
    const text = readFileSync(file, 'utf8').split('\n').filter((line) => !line.includes('{{')).join('\n');
    const documents = parseAllDocuments(text);
    if (!Array.isArray(documents)) return [];
    return documents.flatMap((document) => {
      if (document.errors.length > 0) return [];
      const value = document.toJS() as Json | null;
      return isJsonObject(value) && typeof value['kind'] === 'string' ? [value] : [];
    });
  });
}
