// What cases are made of: the schemas that the server publishes, and the objects of the oracle's scenarios that the reference took.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { TestClient } from '../../src/test-support/index.ts';
import type { Facts, Json, Seed } from './case.ts';

const oracle = fileURLToPath(new URL('../../../test/oracle', import.meta.url));

/** Collects the bodies of the scenarios and the schemas of a running server. */
export async function readFacts(client: TestClient): Promise<Facts> {
  const schemas: Record<string, Json> = {};
  const index = (await client.request({ path: '/openapi/v3' })).body as Json | undefined;
  const text = index ?? JSON.parse((await client.request({ path: '/openapi/v3' })).text);
  for (const { serverRelativeURL } of Object.values(text.paths) as Json[]) {
    const document = JSON.parse((await client.request({ path: serverRelativeURL })).text) as Json;
    Object.assign(schemas, document['components']?.schemas);
  }
  const [good, refused] = await readSeeds();
  const isDefinition = ({ path: at }: Seed): boolean => at.includes('/customresourcedefinitions');
  const isBuiltin = ({ body }: Seed): boolean => findSchema(schemas, body) !== undefined;
  return {
    schemas, definitions: good.filter(isDefinition), seeds: good.filter((seed) => !isDefinition(seed) && isBuiltin(seed)), refused: refused.filter(isBuiltin),
  };
}

async function readSeeds(): Promise<readonly [Seed[], Seed[]]> {
  const good = new Map<string, Seed>();
  const refused = new Map<string, Seed>();
  for (const file of readdirSync(path.join(oracle, 'scenarios')).filter((name) => name.endsWith('.mjs')).sort()) {
    const { default: scenarios } = await import(pathToFileURL(path.join(oracle, 'scenarios', file)).href) as { default: Json[] };
    const golden = JSON.parse(readFileSync(path.join(oracle, 'golden', file.replace(/mjs$/, 'json')), 'utf8')) as Record<string, Json[]>;
    for (const scenario of scenarios) {
      let visible = 0;
      for (const step of scenario['steps'] as Json[]) {
        const answer = step['sleep'] || step['quiet'] ? undefined : golden[scenario['name']]?.[visible++];
        const seed = toSeed(step);
        if (seed !== undefined) (answer === undefined || answer['status'] === 201 ? good : refused).set(JSON.stringify(seed), seed);
      }
    }
  }
  return [[...good.values()], [...refused.values()]];
}

/** A POST of an object to a collection whose only open names are the namespace and the word of the case. */
function toSeed(step: Json): Seed | undefined {
  const { method, body } = step;
  const at = String(step['path'] ?? '').split('?')[0] as string;
  const isPlain = method === 'POST' && typeof body === 'object' && typeof body.kind === 'string' && body.metadata !== null;
  if (!isPlain || step['type'] !== undefined || step['as'] !== undefined || !isCollection(at)) return undefined;
  const open = JSON.stringify([at, body]).match(/\{[a-zA-Z]\w*\}/g) ?? [];
  return open.every((name) => name === '{ns}' || name === '{id}') ? { path: at, body } : undefined;
}

const isCollection = (at: string): boolean => /^\/(api\/v1|apis\/[^/]+\/[^/]+)\/(namespaces\/\{ns\}\/)?[a-z]+$/.test(at);

/** The schema of an object's kind. */
export function findSchema(schemas: Facts['schemas'], body: Json): Json | undefined {
  const [group, version] = String(body['apiVersion']).includes('/') ? String(body['apiVersion']).split('/') : ['', body['apiVersion']];
  return kindsOf(schemas).get(`${group}/${version}/${body['kind']}`);
}

const kinds = new WeakMap<object, Map<string, Json>>();

function kindsOf(schemas: Facts['schemas']): Map<string, Json> {
  const known = kinds.get(schemas);
  if (known !== undefined) return known;
  const all = new Map<string, Json>();
  for (const schema of Object.values(schemas)) {
    for (const { group, version, kind } of (schema['x-kubernetes-group-version-kind'] ?? []) as Json[]) {
      if (schema['properties']?.metadata !== undefined) all.set(`${group}/${version}/${kind}`, schema);
    }
  }
  kinds.set(schemas, all);
  return all;
}
