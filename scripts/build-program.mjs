// Bundles the command into dist/bin: the program as one script (program.cjs) with its bytecode (program.bytecode), the command that runs it
// (pintle.js), and the entry of its worker threads. The bytecode is that of a server that has started and answered.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const common = {
  absWorkingDir: root, outdir: 'dist/bin', bundle: true, platform: 'node', target: 'node20', minifyWhitespace: true, minifySyntax: true, logLevel: 'warning',
};
await build({
  ...common, format: 'esm', splitting: true, packages: 'external', legalComments: 'none',
  entryPoints: { pintle: 'src/bundled-main.ts', 'worker-tasks': 'src/server/worker/worker-tasks.ts', 'serving-process': 'src/server/processes/serving-process.ts' },
});
const { outputFiles: [bundle] } = await build({
  ...common, format: 'cjs', entryPoints: { program: 'src/program.ts' }, write: false, define: { 'import.meta.url': '__bundle.url' },
  // A static import of a package that is ES modules alone would need a require that not every Node 22 has.
  external: Object.keys(dependencies).filter((name) => name !== '@noble/ciphers'),
  banner: { js: '(function(exports,require,module,__bundle){' }, footer: { js: '})' },
});
writeFileSync(join(root, 'dist/bin/program.cjs'), bundle.text.replaceAll(/\bimport\(/g, '__bundle.load('));

const { compileProgram } = await import('../dist/src/compile-program.js');
const { load, createBytecode } = compileProgram(new URL('../dist/bin/', import.meta.url));
const READY_MS = 60_000;
const data = mkdtempSync(join(tmpdir(), 'pintle-build-'));
process.stdout.write = () => true;
const ended = load().main(['serve', '--data-dir', data, '--secure-port', '0']);
const kubeconfig = join(data, 'admin.kubeconfig');
let url;
const giveUpAt = Date.now() + READY_MS;
while (await ask('/readyz') !== 200) {
  if (Date.now() > giveUpAt) {
    process.stderr.write('the server that the bytecode is taken from did not become ready\n');
    process.exit(1);
  }
  await sleep(10);
}
await ask('/api/v1/namespaces');
writeFileSync(join(root, 'dist/bin/program.bytecode'), createBytecode());
process.kill(process.pid, 'SIGTERM');
process.exitCode = await ended;
rmSync(data, { recursive: true });

/** The status of an answer; 0 while there is none. */
async function ask(path) {
  try {
    url ??= /server: (\S+)/.exec(readFileSync(kubeconfig, 'utf8'))[1];
    return await new Promise((resolve, reject) => {
      get(url + path, { rejectUnauthorized: false, agent: false }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
    });
  } catch {
    return 0;
  }
}
