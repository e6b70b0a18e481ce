// Creates and updates of every built-in kind: good objects of the oracle with changes along their schemas.
import type { Area, Case, Facts, Json, Request, Seed } from '../case.ts';
import { findSchema } from '../facts.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance, mutateObject } from '../values.ts';

/** What would change the answers to other cases is tried without being stored. */
const isWide = ({ path, body }: Seed): boolean => !path.includes('{ns}')
  && (/admissionregistration|apiregistration|flowcontrol|customresource|servicecidrs|\/namespaces$/.test(path)
    || /globalDefault|is-default-class/.test(JSON.stringify(body)));

const VALIDATIONS = ['', '', '', 'fieldValidation=Strict', 'fieldValidation=Ignore'];

/** A seed under a name that no other case has. */
export function takeSeed(dice: Dice, seeds: readonly Seed[]): Seed {
  const { path, body } = dice.pick(seeds);
  const object = structuredClone(body);
  if (typeof object['metadata']?.name === 'string' && !object['metadata'].name.includes('{id}')
    && !path.includes('{ns}')) object['metadata'].name = `${object['metadata'].name}-{id}`;
  return { path, body: object };
}

const withQuery = (path: string, ...pairs: readonly string[]): string => {
  const query = pairs.filter((pair) => pair !== '').join('&');
  return query === '' ? path : `${path}?${query}`;
};

function makeCase(dice: Dice, facts: Facts): Case {
  const seed = takeSeed(dice, chance(dice, 12) ? facts.refused : facts.seeds);
  const schema = findSchema(facts.schemas, seed.body) as Json;
  const change = (object: Json, most: number): Json => mutateObject(dice, facts.schemas, { object, schema, changes: 1 + dice.below(most) });
  const first = change(seed.body, 3);
  // Reviews and bindings are asked, not kept.
  if (/reviews$|bindings$/.test(seed.path) && !seed.path.includes('rbac')) return { requests: [{ method: 'POST', path: seed.path, body: first }] };
  if (isWide(seed) || chance(dice, 60)) {
    return { requests: [{ method: 'POST', path: withQuery(seed.path, 'dryRun=All', dice.pick(VALIDATIONS)), body: first }] };
  }
  const good = chance(dice, 60) ? seed.body : first;
  const one = `${seed.path}/${String(good['metadata']?.name ?? 'absent')}`;
  const requests: Request[] = [{ method: 'POST', path: seed.path, body: good, save: { rv: 'metadata.resourceVersion' } }];
  for (let count = 1 + dice.below(3); count > 0; count--) {
    const changed = change(good, 2);
    const where = dice.pick(['', '', '', '/status']);
    const path = withQuery(one + where, dice.pick(VALIDATIONS));
    if (typeof changed['metadata'] === 'object' && changed['metadata'] !== null && chance(dice, 70)) changed['metadata'].resourceVersion = '{rv}';
    requests.push({ method: 'PUT', path, body: changed, save: { rv: 'metadata.resourceVersion' } });
  }
  if (chance(dice, 30)) requests.push({ path: seed.path, accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' });
  return { requests };
}

/** Creates and updates of built-in kinds. */
export const kinds: Area = { name: 'kinds', count: 2000, makeCase };
