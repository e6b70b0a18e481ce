// Objects that Kubernetes' own unit tests of validation use: the tests are run once in an instrumented copy, outside of the repository, and what they hand
// to the functions of validation becomes cases. Nothing of upstream is in the repository.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestClient } from '../../../src/test-support/index.ts';
import { noGo, prepare, upstreamDirectory } from '../../upstream/prepare.ts';
import type { Area, Case, Json, Request } from '../case.ts';

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url));
const GO = path.join(ROOT, 'test/differential/harvest/go');
const SHIMS = path.join(ROOT, 'test/upstream/go');
const LARGEST_OUTPUT = 1 << 30;

/** A recorded call of validation: one object, or the new and the old one of an update. */
interface Call {
  readonly function: string;
  readonly objects: readonly Json[];
}

const foldersIn = (directory: string): string[] =>
  readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);

/** The packages with functions of validation, by their folders: the folder of their module, and theirs in it. */
function listPackages(directory: string): (readonly [module: string, folder: string])[] {
  const groups = foldersIn(path.join(directory, 'kubernetes/pkg/apis')).map((group) => ['kubernetes', `pkg/apis/${group}/validation`] as const);
  const isThere = ([module, folder]: readonly [string, string]): boolean => existsSync(path.join(directory, module, folder));
  return [...groups, ['apiextensions', 'pkg/apis/apiextensions/validation'] as const].filter(isThere);
}

const moduleNames: Readonly<Record<string, string>> = { kubernetes: 'k8s.io/kubernetes', apiextensions: 'k8s.io/apiextensions-apiserver' };

/** Runs the tests and returns the file of what they called; once for each state of the programs. Takes a minute or two, the first time several. */
function record(): string {
  if (noGo !== false) throw new Error(noGo);
  const directory = path.join(upstreamDirectory, 'harvest');
  const programs = ['record/record.go', 'instrument/main.go', 'convert/main.go'].map((name) => path.join(GO, name)) as [string, string, string];
  const mark = programs.reduce((hash, file) => hash.update(readFileSync(file)), createHash('sha256')).digest('hex').slice(0, 16);
  const cases = path.join(directory, `cases-${mark}.jsonl`);
  if (existsSync(cases)) return cases;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  prepare(directory, SHIMS);
  const main = path.join(directory, 'main');
  const packages = listPackages(directory);
  const instrument = path.join(directory, 'instrument');
  execFileSync('go', ['build', '-o', instrument, programs[1]], { cwd: directory });
  execFileSync(instrument, [programs[0], ...packages.map(([module, folder]) => path.join(directory, module, folder))]);
  const calls = path.join(directory, 'calls.jsonl');
  for (const [module, folder] of packages) {
    execFileSync('go', ['test', '-mod=mod', '-vet=off', '-count=1', `${moduleNames[module]}/${folder}`], {
      cwd: main, env: { ...process.env, RECORD_CALLS: calls }, maxBuffer: LARGEST_OUTPUT });
  }
  mkdirSync(path.join(main, 'convert'), { recursive: true });
  cpSync(programs[2], path.join(main, 'convert/main.go'));
  const converted = execFileSync('go', ['run', '-mod=mod', './convert'], { cwd: main, input: readFileSync(calls), maxBuffer: LARGEST_OUTPUT });
  writeFileSync(cases, converted);
  return cases;
}

/** Where objects of a kind are: their collections, by `apiVersion kind`. */
async function readCollections(client: TestClient): Promise<ReadonlyMap<string, string>> {
  const { groups } = (await client.request({ path: '/apis' })).body as { groups: { versions: { groupVersion: string }[] }[] };
  const paths = ['/api/v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => `/apis/${groupVersion}`))];
  const found = new Map<string, string>();
  for (const place of paths) {
    const { groupVersion, resources } = (await client.request({ path: place })).body as { groupVersion: string; resources: Json[] };
    for (const { name, kind, namespaced } of resources.filter((one) => !one['name'].includes('/'))) {
      found.set(`${groupVersion} ${kind}`, `${place}${namespaced === true ? '/namespaces/{ns}' : ''}/${name}`);
    }
  }
  return found;
}

const subresources: readonly (readonly [RegExp, string])[] = [
  [/StatusUpdate/, '/status'], [/PodResize/, '/resize'], [/EphemeralContainersUpdate/, '/ephemeralcontainers'], [/ApprovalUpdate/, '/approval'],
];

function withMetadata(object: Json, collection: string, name?: string): Json {
  const { namespace: _namespace, creationTimestamp: _created, deletionTimestamp: _deleted, deletionGracePeriodSeconds: _grace,
    ...metadata } = object['metadata'] ?? {};
  const isNamed = name !== undefined && metadata['name'] !== undefined;
  return { ...object, metadata: { ...metadata, ...(isNamed && { name }), ...(collection.includes('{ns}') && { namespace: '{ns}' }) } };
}

/** The requests of a call; none where its kind is not served. Definitions keep their names, which follow from what they say. */
function makeCase(call: Call, collections: ReadonlyMap<string, string>): Case | undefined {
  const [object, old] = call.objects as [Json, Json?];
  const collection = collections.get(`${object['apiVersion']} ${object['kind']}`);
  if (collection === undefined) return undefined;
  const isDefinition = collection.endsWith('/customresourcedefinitions');
  if (old === undefined || old['kind'] !== object['kind'] || isDefinition) {
    return { requests: [{ method: 'POST', path: `${collection}?dryRun=All`, body: withMetadata(object, collection) }] };
  }
  const isRenamed = object['metadata']?.name !== old['metadata']?.name;
  const before = withMetadata({ ...old, metadata: { ...old['metadata'], ownerReferences: undefined } }, collection, '{id}');
  const after = withMetadata(object, collection, isRenamed ? undefined : '{id}');
  const one = `${collection}/{id}`;
  const writes: Request[] = [{ method: 'POST', path: collection, body: before, isNeeded: true }];
  if (Object.keys(old['status'] ?? {}).length > 0) writes.push({ method: 'PUT', path: `${one}/status`, body: before });
  const place = subresources.find(([pattern]) => pattern.test(call.function))?.[1] ?? '';
  return { requests: [...writes, { method: 'PUT', path: `${one}${place}`, body: after }] };
}

/** The area of those cases, all of them by default. */
export async function readHarvest(client: TestClient): Promise<Area> {
  const collections = await readCollections(client);
  const calls = readFileSync(record(), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Call);
  const cases = calls.map((call) => makeCase(call, collections)).filter((made) => made !== undefined);
  return { name: 'harvest', count: cases.length, makeCase: (_dice, _facts, index) => cases[index % cases.length] as Case };
}
