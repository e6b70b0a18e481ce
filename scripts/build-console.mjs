// Bundles the console into dist/console/files: scripts and styles under names that change with their content, each compressed once, a list of all
// with their types (manifest.json), and the licences of the packages that the bundle holds.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'dist/console/files');
const types = { '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8', '.html': 'text/html; charset=utf-8',
  '.svg': 'image/svg+xml', '.txt': 'text/plain; charset=utf-8' };

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const { metafile } = await build({
  absWorkingDir: root, entryPoints: { console: 'console/main.tsx' }, outdir: folder, entryNames: '[name]-[hash]', chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]', bundle: true, splitting: true, format: 'esm', platform: 'browser', target: ['chrome111', 'firefox113', 'safari16.4'],
  minify: true, metafile: true, jsx: 'automatic', jsxImportSource: 'preact', legalComments: 'none', logLevel: 'warning',
  tsconfig: 'console/tsconfig.json', define: { 'process.env.NODE_ENV': '"production"' },
});

const outputs = Object.entries(metafile.outputs);
const nameOf = (path) => path.slice(path.lastIndexOf('/') + 1);
const [entry, { cssBundle }] = outputs.find(([, { entryPoint }]) => entryPoint === 'console/main.tsx');
const page = readFileSync(join(root, 'console/index.html'), 'utf8')
  .replace('console.css', nameOf(cssBundle)).replace('console.js', nameOf(entry));
writeFileSync(join(folder, 'index.html'), page);
writeFileSync(join(folder, 'icon.svg'), readFileSync(join(root, 'console/icon.svg')));
writeFileSync(join(folder, 'licences.txt'), collectLicences());

const manifest = {};
for (const name of readdirSync(folder).sort()) {
  const bytes = readFileSync(join(folder, name));
  const type = types[name.slice(name.lastIndexOf('.'))];
  if (type === undefined) throw new Error(`${name} has no media type`);
  manifest[name] = { type, etag: createHash('sha256').update(bytes).digest('base64url').slice(0, 22), hashed: /-[A-Z0-9]{8}\./.test(name) };
  writeFileSync(join(folder, `${name}.gz`), gzipSync(bytes, { level: 9 }));
  writeFileSync(join(folder, `${name}.br`), brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
}
writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));

/** The licence of each package whose files are in the bundle. */
function collectLicences() {
  const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  return [...packages].sort().map((name) => {
    const home = join(root, 'node_modules', name);
    const file = ['LICENSE', 'LICENSE.md', 'license'].map((one) => join(home, one)).find((path) => existsSync(path));
    const { version, license } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    if (!['MIT', 'ISC', 'BSD-3-Clause', 'Apache-2.0'].includes(license) || file === undefined) throw new Error(`${name}: licence ${license}`);
    return `${name} ${version} (${license})\n\n${readFileSync(file, 'utf8').trim()}\n`;
  }).join(`\n${'-'.repeat(80)}\n\n`);
}
