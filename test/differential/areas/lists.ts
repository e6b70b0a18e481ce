// Lists and watches in a namespace with some objects: selectors, versions, limits, tables and partial metadata. Deletions with their options.
import type { Area, Case, Json, Request } from '../case.ts';
import type { Dice } from '../../fuzz/mutate.ts';
import { chance } from '../values.ts';

const LABELS = ['l=a', 'l!=a', 'l in (a,b)', 'l notin (a)', 'l', '!l', 'l=a,m=b', 'm', 'l==b', 'l in (', 'l=a=b', '=', ',', 'l>1', 'n>5', 'n<5', 'n>x',
  'l in ()', 'a b=c', 'x/y=z', 'X/y/z=a', 'l=a,,m', '!m,l in (a , b)', 'l notin (b),m!=b', `l=${'x'.repeat(64)}`, 'l=', 'l in (a,)', '(l)', 'L=A'];
const FIELDS = ['metadata.name=a', 'metadata.name!=a', 'metadata.namespace={ns}', 'metadata.name=a,metadata.namespace={ns}', 'spec.nodeName=',
  'spec.nodeName=n1', 'status.phase=Pending', 'status.phase!=Running', 'type=Opaque', 'bogus=1', 'metadata.name', 'metadata.name==b', '=',
  'metadata.name=a\\,b', 'metadata.name=a,', 'spec.restartPolicy=Always', 'spec.schedulerName=default-scheduler', 'spec.serviceAccountName=', 'status.podIP=',
  'spec.hostNetwork=false', 'metadata.name=a\\', 'metadata.name in (a)'];
const VERSIONS = ['resourceVersion=0', 'resourceVersion={rv}', 'resourceVersion={rv}&resourceVersionMatch=Exact',
  'resourceVersion={rv}&resourceVersionMatch=NotOlderThan', 'resourceVersionMatch=Exact', 'resourceVersion=0&resourceVersionMatch=Exact',
  'resourceVersion=0&resourceVersionMatch=NotOlderThan',
  'resourceVersion=abc', 'resourceVersion=-1', 'resourceVersion=01', 'resourceVersionMatch=bogus', 'resourceVersion={rv}&resourceVersionMatch=bogus',
    'resourceVersion=', 'resourceVersionMatch=NotOlderThan', 'resourceVersion=1.5', 'resourceVersion={rv}&resourceVersionMatch='];
const LIMITS = ['limit=1', 'limit=2', 'limit=0', 'limit=-1', 'limit=abc', 'limit=100', 'limit=2&continue={next}', 'limit=1&continue={next}', 'continue=bogus',
  'continue={next}', 'continue={next}&resourceVersion=0', 'continue={next}&resourceVersion={rv}',
  'limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhXHUwMDAwIn0', 'limit=9223372036854775808', 'limit=1e3'];
const ACCEPTS = ['application/json;as=Table;v=v1;g=meta.k8s.io', 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io', 'application/json;as=Table;v=v1beta1;g=meta.k8s.io', 'application/yaml',
  'application/json;as=Table;v=v2;g=meta.k8s.io', 'application/json;as=Table;v=v2;g=meta.k8s.io,application/json'];
const KINDS: Readonly<Record<string, Json>> = {
  configmaps: { data: { a: 'b' } }, secrets: { stringData: { a: 'b' } }, pods: { spec: { containers: [{ name: 'c', image: 'i' }] } }, serviceaccounts: {},
    limitranges: { spec: { limits: [] } },
};

const encode = (pair: string): string => {
  const at = pair.indexOf('=');
  return `${pair.slice(0, at + 1)}${encodeURIComponent(pair.slice(at + 1)).replaceAll('%7B', '{').replaceAll('%7D', '}')}`;
};

function makeObject(dice: Dice, kind: string, name: string): Json {
  const labels = { ...(chance(dice, 60) && { l: dice.pick(['a', 'b']) }), ...(chance(dice, 40) && { m: 'b' }),
    ...(chance(dice, 30) && { n: dice.pick(['3', '7', 'x']) }) };
  return { metadata: { name, labels, ...(chance(dice, 12) && { finalizers: ['example.com/f'] }) }, ...structuredClone(KINDS[kind] as Json) };
}

function makeList(dice: Dice, path: string): Request {
  const pairs: string[] = [];
  if (chance(dice, 40)) pairs.push(encode(`labelSelector=${dice.pick(LABELS)}`));
  if (chance(dice, 30)) pairs.push(encode(`fieldSelector=${dice.pick(FIELDS)}`));
  if (chance(dice, 35)) pairs.push(dice.pick(VERSIONS));
  if (chance(dice, 45)) pairs.push(dice.pick(LIMITS));
  if (chance(dice, 8)) pairs.push(dice.pick(['pretty=true', 'includeObject=None', 'includeObject=Object', 'includeObject=x', 'timeoutSeconds=1', 'timeout=5s',
    'timeout=x', 'sendInitialEvents=true', 'allowWatchBookmarks=true', 'watch=x', 'watch=false', 'timeoutSeconds=x']));
  const all = [...new Map(pairs.flatMap((pair) => pair.split('&')).map((pair) => [pair.split('=')[0], pair])).values()];
  return { path: all.length === 0 ? path : `${path}?${all.join('&')}`, ...(chance(dice, 25) && { accept: dice.pick(ACCEPTS) }),
    save: { next: 'metadata.continue' } };
}

function makeWatch(dice: Dice, path: string): Request {
  const pairs = ['watch=1', 'timeoutSeconds=1'];
  if (chance(dice, 40)) pairs.push(encode(`labelSelector=${dice.pick(LABELS)}`));
  if (chance(dice, 30)) pairs.push(encode(`fieldSelector=${dice.pick(FIELDS)}`));
  pairs.push(dice.pick(['resourceVersion={rv}', 'resourceVersion={rv}', 'resourceVersion=0', 'resourceVersion=',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', 'sendInitialEvents=true', 'sendInitialEvents=false',
    'resourceVersion=abc', 'resourceVersionMatch=Exact', 'limit=1&resourceVersion={rv}', 'continue=x', 'allowWatchBookmarks=true&resourceVersion={rv}',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion={rv}',
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan', 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={rv}',
      'sendInitialEvents=true&resourceVersionMatch=Exact']));
  return { path: `${path}?${pairs.join('&')}`, ...(chance(dice, 20) && { accept: dice.pick(ACCEPTS) }) };
}

const FINALIZERS: readonly unknown[] = [{ metadata: { finalizers: null } }, { metadata: { finalizers: ['example.com/g'] } },
  { metadata: { finalizers: ['orphan'] } }, { metadata: { finalizers: ['example.com/f', 'example.com/g'] } }, { metadata: { labels: { l: 'c' } } },
  { metadata: { deletionTimestamp: null } }, { metadata: { finalizers: ['bogus'] } }];

function makeDelete(dice: Dice, path: string): Request {
  const uid = '123e4567-e89b-12d3-a456-426614174000';
  const options = {
    ...(chance(dice, 35) && { propagationPolicy: dice.pick(['Foreground', 'Background', 'Orphan', 'bogus', '']) }),
      ...(chance(dice, 10) && { orphanDependents: chance(dice, 50) }),
    ...(chance(dice, 30) && { gracePeriodSeconds: dice.pick([0, 0, 1, 30, -1, -5]) }), ...(chance(dice, 20)
      && { preconditions: dice.pick<Json>([{ uid }, { resourceVersion: '{rv}' }, { resourceVersion: '1' }, {}]) }),
    ...(chance(dice, 15) && { dryRun: dice.pick<unknown>([['All'], ['x'], [], ['All', 'All']]) }),
      ...(chance(dice, 10) && { kind: dice.pick(['DeleteOptions', 'ConfigMap', 'x']), apiVersion: dice.pick(['v1', 'meta.k8s.io/v1', 'x/v1']) }),
    ...(chance(dice, 5) && { ignoreStoreReadErrorWithClusterBreakingPotential: true }), ...(chance(dice, 4) && { bogus: 1 }),
  };
  const query = chance(dice, 25)
    ? `?${dice.pick(['propagationPolicy=Orphan', 'gracePeriodSeconds=0', 'dryRun=All', 'dryRun=x', 'propagationPolicy=x', 'gracePeriodSeconds=x', 'orphanDependents=true', 'propagationPolicy=Foreground', 'orphanDependents=x', 'propagationPolicy=Orphan&orphanDependents=true'])}` : '';
  return { method: 'DELETE', path: `${path}${query}`, ...(chance(dice, 60) && { body: options }),
    ...(chance(dice, 4) && { body: dice.pick<unknown>(['{', '', 'x', '[]', 'null']) }) };
}

function makeCase(dice: Dice, deletes: number): Case {
  const kind = dice.pick(Object.keys(KINDS));
  const path = `/api/v1/namespaces/{ns}/${kind}`;
  const names = ['a', 'b', 'c', 'd', 'e'].filter(() => chance(dice, 80));
  const requests: Request[] = names.map((name, index) => ({ method: 'POST', path, body: makeObject(dice, kind, name),
    ...(index === 1 && { save: { rv: 'metadata.resourceVersion' } }) }));
  for (let count = 10; count > 0; count--) {
    const name = dice.pick(names.length > 0 ? names : ['a']);
    if (!chance(dice, deletes)) {
      requests.push(chance(dice, 12) ? makeWatch(dice, path) : makeList(dice, path));
      continue;
    }
    const sort = dice.below(10);
    if (sort < 5) requests.push(makeDelete(dice, `${path}/${name}`));
    else if (sort < 7) requests.push({ method: 'PATCH', path: `${path}/${name}`, body: dice.pick(FINALIZERS) });
    else if (sort < 8) requests.push({ path: `${path}/${name}`, save: { rv: 'metadata.resourceVersion' } });
    else if (sort < 9) requests.push({ method: 'POST', path, body: makeObject(dice, kind, name), save: { rv: 'metadata.resourceVersion' } });
    else requests.push(makeDelete(dice, `${path}${chance(dice, 50) ? `?${encode(`labelSelector=${dice.pick(LABELS)}`)}` : ''}`.replace(/\?$/, '')));
  }
  requests.push({ path });
  // A query of a deletion may meet one that is there.
  return { requests: requests.map((request) => ({ ...request, path: request.path.replace(/(\?.*)\?/, '$1&') })) };
}

/** Lists and watches. */
export const lists: Area = { name: 'lists', count: 400, makeCase: (dice) => makeCase(dice, 5) };

/** Deletions and what they leave. */
export const deletions: Area = { name: 'deletions', count: 400, makeCase: (dice) => makeCase(dice, 80) };
