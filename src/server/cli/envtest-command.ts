// `pintle envtest`: a folder of programs with which controller-runtime's envtest starts Pintle. Its `etcd` says that it is healthy and holds nothing; its
// `kube-apiserver` is `pintle serve` in memory, with the flags that envtest gives.
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { text, toggle } from '../options/schema.ts';
import { type Command, print } from './command.ts';

const schema = {
  dir: text({ flag: 'dir', help: 'The folder; by default one in the folder for temporary files.' }),
  bare: toggle({
    flag: 'bare', default: false,
    help: 'Only the controllers of kube-apiserver: namespaces do not end and nothing is garbage-collected, as with the programs that envtest downloads.',
  }),
} as const;

/** Answers 200 on the port of --listen-client-urls, which is all that envtest asks of etcd. */
const ETCD_PROGRAM = 'const url = new URL(process.argv.find((arg) => arg.startsWith("--listen-client-urls=")).slice(21)); '
  + 'require("node:http").createServer((_, response) => response.end("{\\"health\\":\\"true\\"}")).listen(url.port, url.hostname)';

const quote = (word: string): string => `'${word.replaceAll('\'', '\'\\\'\'')}'`;

/** envtest reads the help for flags that differ between releases; none of those is needed. */
const helpLines = ['case "$1" in', '  --help | -h) echo "Usage: a program of pintle envtest"; exit 0 ;;', 'esac'];

/** The controllers that kube-apiserver has; kube-controller-manager has the others. */
const ownControllers = [
  'bootstrap', 'bootstrap-roles', 'kubernetes-service', 'extension-apiserver-authentication', 'flow-control', 'apiservices', 'apiserver-identity',
];

/** Writes the programs of an assets folder. */
export function writeAssets(directory: string, { node, program, bare }: { readonly node: string; readonly program: string; readonly bare: boolean }): void {
  const flags = bare ? ` --controllers=${ownControllers.join()}` : '';
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const write = (name: string, lines: readonly string[]): void => {
    const path = join(directory, name);
    writeFileSync(path, ['#!/bin/sh', ...helpLines, ...lines, ''].join('\n'));
    chmodSync(path, 0o755);
  };
  write('etcd', [`exec ${quote(node)} -e ${quote(ETCD_PROGRAM)} -- "$@"`]);
  write('kube-apiserver', [
    '# The state is in memory: what leads to etcd is left out.',
    'for arg; do', '  shift', '  case "$arg" in', '    --etcd-*) ;;', '    *) set -- "$@" "$arg" ;;', '  esac', 'done',
    `exec ${quote(node)} ${quote(program)} serve --data-dir=${flags} "$@"`,
  ]);
}

/** Prints the path of the folder. */
export const envtestCommand: Command<typeof schema> = {
  name: 'envtest', summary: 'Print a folder for KUBEBUILDER_ASSETS with which envtest starts Pintle.', schema,
  async run({ settings: { dir, bare } }) {
    const directory = dir === '' ? join(tmpdir(), `pintle-envtest-${userInfo().uid}${bare ? '-bare' : ''}`) : resolve(dir);
    writeAssets(directory, { bare, node: process.execPath, program: realpathSync(process.argv[1] as string) });
    return print(directory);
  },
};
