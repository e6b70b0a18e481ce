// Makes Kubernetes' own integration tests ready to run against a program: fetches them as Go modules, copies them to a directory outside of the
// repository, and puts `go/` in place of the three files that would start a server inside the test's process.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** Where the tests, their programs and the logs are kept. */
export const upstreamDirectory = process.env['PINTLE_UPSTREAM'] ?? path.join(homedir(), '.cache/pintle-upstream');

/** The release whose tests are run, and the version of the modules that it is made of. */
const RELEASE = '1.36.3';
const MODULES = '0.36.3';

/** Where each file of ours is put. */
const places: Readonly<Record<string, string>> = {
  'undertest.go': 'kubernetes/test/utils/undertest/undertest.go',
  'testserver.go': 'kubernetes/cmd/kube-apiserver/app/testing/testserver.go',
  'framework_server.go': 'kubernetes/test/integration/framework/test_server.go',
  'fixtures_server.go': 'apiextensions/test/integration/fixtures/server.go',
};

/** The reason for which Go is not there, or false. */
export const noGo: string | false = spawnSync('go', ['version']).status === 0 ? false : 'go is not on PATH';

const runGo = (directory: string, ...args: readonly string[]): string => execFileSync('go', args, { cwd: directory, encoding: 'utf8', maxBuffer: 1 << 26 });

/** The replacements of Kubernetes' go.mod lead to its staging folders, which the module lacks: the modules published from them take their place. */
function writeModule(main: string, kubernetes: string): void {
  const goMod = readFileSync(path.join(kubernetes, 'go.mod'), 'utf8');
  const staged = Array.from(goMod.matchAll(/^\t(k8s\.io\/[a-z-]+) => \.\/staging/gm), (found) => found[1] as string);
  const replacements = [
    'replace k8s.io/kubernetes => ../kubernetes', 'replace k8s.io/apiextensions-apiserver => ../apiextensions',
    ...staged.filter((name) => name !== 'k8s.io/apiextensions-apiserver').map((name) => `replace ${name} => ${name} v${MODULES}`),
  ];
  const version = /^go (\S+)/m.exec(goMod)?.[1] ?? '1.26.0';
  writeFileSync(path.join(main, 'go.mod'), `module undertest\n\ngo ${version}\n\nrequire k8s.io/kubernetes v${RELEASE}\n\n${replacements.join('\n')}\n`);
  const imports = ['k8s.io/apiextensions-apiserver/test/integration/fixtures', 'k8s.io/kubernetes/test/integration/framework'];
  writeFileSync(path.join(main, 'tools.go'), `//go:build tools\n\npackage tools\n\nimport (\n${imports.map((name) => `\t_ "${name}"\n`).join('')})\n`);
}

function copyModule(from: string, to: string): void {
  cpSync(from, to, { recursive: true });
  // Modules are read-only in Go's cache.
  execFileSync('chmod', ['-R', 'u+w', to]);
}

/** Prepares a directory, once for each release and each state of our files; returns the mark of both. */
export function prepare(directory: string, ours: string): string {
  const hash = createHash('sha256').update(RELEASE);
  for (const file of readdirSync(ours).sort()) hash.update(readFileSync(path.join(ours, file)));
  const mark = hash.digest('hex').slice(0, 16);
  const marker = path.join(directory, 'prepared');
  if (existsSync(marker) && readFileSync(marker, 'utf8') === mark) return mark;
  const main = path.join(directory, 'main');
  mkdirSync(main, { recursive: true });
  const wanted = { kubernetes: `k8s.io/kubernetes@v${RELEASE}`, apiextensions: `k8s.io/apiextensions-apiserver@v${MODULES}` };
  for (const [name, module] of Object.entries(wanted)) {
    const { Dir: from } = JSON.parse(runGo(directory, 'mod', 'download', '-json', module)) as { Dir: string };
    const to = path.join(directory, name);
    if (!existsSync(to)) copyModule(from, to);
  }
  for (const [file, place] of Object.entries(places)) {
    mkdirSync(path.dirname(path.join(directory, place)), { recursive: true });
    cpSync(path.join(ours, file), path.join(directory, place));
  }
  writeModule(main, path.join(directory, 'kubernetes'));
  runGo(main, 'mod', 'tidy', '-e');
  writeFileSync(marker, mark);
  return mark;
}

/** A package of tests, built. */
export interface TestProgram {
  readonly file: string;
  /** Tests read files beside them. */
  readonly directory: string;
}

/** Builds the tests of a package: `apiextensions`, or a path below Kubernetes' test/integration; the first one takes minutes. */
export function build(directory: string, name: string, mark: string): TestProgram {
  const isExtensions = name === 'apiextensions';
  const where = isExtensions ? 'apiextensions/test/integration' : `kubernetes/test/integration/${name}`;
  const module = isExtensions ? 'k8s.io/apiextensions-apiserver/test/integration' : `k8s.io/kubernetes/test/integration/${name}`;
  const file = path.join(directory, `${name.replaceAll('/', '-')}-${mark}.test`);
  if (!existsSync(file)) runGo(path.join(directory, 'main'), 'test', '-mod=mod', '-vet=off', '-c', '-o', file, module);
  return { file, directory: path.join(directory, where) };
}
