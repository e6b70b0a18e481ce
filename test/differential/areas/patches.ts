// Patches of all four kinds on objects of built-in kinds, with their options.
import type { Area, Case, Facts, Json, Request } from '../case.ts';
import { findSchema } from '../facts.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance, makeValue, makeWrong, mutateObject, resolve } from '../values.ts';
import { takeSeed } from './kinds.ts';

const kinds = [
  'configmaps', 'secrets', 'pods', 'services', 'deployments', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs', 'ingresses',
  'networkpolicies', 'roles', 'rolebindings', 'serviceaccounts', 'horizontalpodautoscalers', 'endpointslices', 'leases', 'poddisruptionbudgets',
  'replicasets', 'persistentvolumeclaims',
];
const TYPES = ['application/json-patch+json', 'application/merge-patch+json', 'application/strategic-merge-patch+json',
  'application/apply-patch+yaml'] as const;

/** All places of an object as JSON pointers, with what is there. */
function* pointers(value: unknown, at = ''): Iterable<readonly [pointer: string, value: unknown]> {
  if (at !== '') yield [at, value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, item] of Object.entries(value)) yield* pointers(item, `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`);
}

function makeOperation(dice: Dice, object: Json, facts: Facts): Json {
  const all = [...pointers(object)];
  const [pointer, value] = dice.pick(all);
  const path = chance(dice, 75) ? pointer : dice.pick([`${pointer}/-`, `${pointer}/0`, `${pointer}/none`, pointer.slice(1), `${pointer}~`, '', '/',
    `${pointer}/-1`, `${pointer}/01`, '/metadata/labels/a', '/metadata/annotations', '/status', '/kind']);
  const other = chance(dice, 50) ? structuredClone(value) : chance(dice, 60) ? structuredClone(dice.pick(all)[1]) : makeWrong(dice);
  const op = dice.pick(['add', 'replace', 'remove', 'test', 'copy', 'move', 'add', 'replace', 'test']);
  void facts;
  if (chance(dice, 3)) return { op: dice.pick(['Add', '', 'merge', 7]), path, value: other };
  if (op === 'copy' || op === 'move') return { op, path, from: chance(dice, 85) ? dice.pick(all)[0] : '/none' };
  return op === 'remove' ? { op, path } : chance(dice, 95) ? { op, path, value: other } : { op, path };
}

/** A part of an object: some of its fields, some of them changed or null. */
function takePart(dice: Dice, value: unknown, depth = 0): unknown {
  if (Array.isArray(value)) return chance(dice, 70) ? value.filter(() => chance(dice, 75)).map((item) => takePart(dice, item, depth + 1))
    : structuredClone(value);
  if (typeof value !== 'object' || value === null) return chance(dice, 88) ? value : dice.pick(['other', 7, null, 'a', true, '', {}, []]);
  const fields = Object.entries(value).filter(([key]) => depth === 0 || chance(dice, key === 'name' ? 92 : 70));
  return Object.fromEntries(fields.map(([key, item]) => [key, chance(dice, 4) ? null : takePart(dice, item, depth + 1)]));
}

function* maps(value: unknown): Iterable<Json> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Json;
  for (const item of Object.values(value)) yield* maps(item);
}

/** Puts a directive of strategic merge into some map of a patch. */
function addDirective(dice: Dice, patch: Json): void {
  const owner = dice.pick([...maps(patch)]);
  const lists = Object.entries(owner).filter(([, value]) => Array.isArray(value)) as [string, unknown[]][];
  const sort = dice.below(6);
  if (sort < 2) owner['$patch'] = dice.pick(['delete', 'replace', 'merge', 'bogus']);
  else if (sort === 2) owner['$retainKeys'] = dice.pick<unknown>([Object.keys(owner), ['type'], [], 'x']);
  else if (lists.length === 0) owner['$deleteFromPrimitiveList/finalizers'] = ['a'];
  else {
    const [name, items] = dice.pick(lists);
    const order = items.map((item) => (typeof item === 'object' && item !== null ? Object.fromEntries(Object.entries(item).slice(0, 1)) : item));
    if (sort === 3) owner[`$setElementOrder/${name}`] = chance(dice, 50) ? [...order].reverse() : order;
    else if (sort === 4) owner[`$deleteFromPrimitiveList/${name}`] = order;
    else items.push({ $patch: dice.pick(['delete', 'replace']), ...(order[0] as Json | undefined) });
  }
}

/** The body of a patch of a type, for an object. */
export function makePatch(dice: Dice, type: string,
  { object, facts, schema }: { readonly object: Json; readonly facts: Facts; readonly schema: Json }): unknown {
  if (chance(dice, 2)) return dice.pick<unknown>(['', '{', '[]', '{}', 'null', '7', '"a"', '[{}]', 'a: b', 'a: {']);
  if (type === TYPES[0]) return Array.from({ length: 1 + dice.below(3) }, () => makeOperation(dice, object, facts));
  const changed = chance(dice, 60) ? mutateObject(dice, facts.schemas, { object, schema, changes: 1 + dice.below(2) }) : structuredClone(object);
  if (chance(dice, 25)) {
    const properties = Object.keys(resolve(facts.schemas, schema)['properties'] ?? {}).filter((name) => name !== 'metadata');
    if (properties.length > 0) {
      const key = dice.pick(properties);
      changed[key] = makeValue(dice, { schemas: facts.schemas, schema: resolve(facts.schemas, schema)['properties'][key], key, depth: 1 });
    }
  }
  const patch = takePart(dice, changed) as Json;
  if (type === TYPES[2]) for (let count = dice.below(3); count > 0; count--) addDirective(dice, patch);
  if (type === TYPES[3]) return chance(dice, 95) ? { apiVersion: object['apiVersion'], kind: object['kind'], ...patch } : patch;
  if (chance(dice, 60)) for (const name of ['apiVersion', 'kind']) delete patch[name];
  if (typeof patch['metadata'] === 'object' && patch['metadata'] !== null && chance(dice, 60)) delete patch['metadata'].name;
  return patch;
}

/** The options of a patch, as they stand behind its path. */
export function makeOptions(dice: Dice, type: string): string {
  const pairs: string[] = [];
  const isApply = type === TYPES[3];
  if (isApply ? chance(dice, 96)
    : chance(dice,
    15)) pairs.push(`fieldManager=${dice.pick(['one', 'two', 'one', 'two', 'kubectl', '', 'a%00b', 'x'.repeat(129)].slice(0, chance(dice, 93) ? 4 : 8))}`);
  if (isApply ? chance(dice, 60) : chance(dice, 3)) pairs.push(`force=${dice.pick(['true', 'true', 'false', '1', 'yes'].slice(0, chance(dice, 90) ? 3 : 5))}`);
  if (chance(dice, 8)) pairs.push(`dryRun=${dice.pick(['All', 'All', 'None', ''])}`);
  if (chance(dice, 12)) pairs.push(`fieldValidation=${dice.pick(['Strict', 'Ignore', 'Warn', 'bogus'])}`);
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

function makeCase(dice: Dice, facts: Facts): Case {
  const seeds = facts.seeds.filter(({ path }) => kinds.includes(path.split('/').at(-1) as string));
  const { path, body } = takeSeed(dice, seeds);
  const schema = findSchema(facts.schemas, body) as Json;
  const name = String(body['metadata']?.name ?? 'a');
  body['metadata'] = { ...body['metadata'], name };
  const requests: Request[] = chance(dice, 94) ? [{ method: 'POST', path, body }] : [];
  for (let count = 2 + dice.below(5); count > 0; count--) {
    const type = dice.pick(TYPES);
    const where = dice.pick(['', '', '', '', '', '/status', ...(/deployments|statefulsets|replicasets/.test(path) ? ['/scale'] : [])]);
    const patch = where === '/scale' ? { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name }, spec: { replicas: dice.below(4) } } : body;
    const scale = where === '/scale' ? findSchema(facts.schemas, patch as Json) ?? schema : schema;
    requests.push({ method: 'PATCH', path: `${path}/${name}${where}${makeOptions(dice, type)}`, type,
      body: makePatch(dice, type, { object: patch, facts, schema: scale }) });
  }
  return { requests };
}

/** Patches of built-in kinds. */
export const patches: Area = { name: 'patches', count: 1200, makeCase };
