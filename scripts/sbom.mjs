// Prints what the package brings along, as CycloneDX: npm's list of everything in the lock file, less what only development needs. (npm's own
// `--omit dev` leaves out packages that an optional peer needs as well, such as jose and ws.)
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);
const { dependencies: direct } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const bom = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'], {
  cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26, stdio: ['ignore', 'pipe', 'inherit'],
}));
const edges = new Map(bom.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
const top = bom.metadata.component['bom-ref'];
const nameOf = (ref) => ref.slice(0, ref.lastIndexOf('@'));
const shipped = new Set();
const waiting = edges.get(top).filter((ref) => Object.hasOwn(direct, nameOf(ref)));
edges.set(top, [...waiting]);
for (let ref = waiting.pop(); ref !== undefined; ref = waiting.pop()) {
  if (shipped.has(ref)) continue;
  shipped.add(ref);
  waiting.push(...edges.get(ref) ?? []);
}
bom.components = bom.components.filter((component) => shipped.has(component['bom-ref']));
bom.dependencies = [...edges].filter(([ref]) => ref === top || shipped.has(ref)).map(([ref, dependsOn]) => ({ ref, dependsOn }));
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
