// What the page knows without a browser: kinds under their headings, places, rows in their order, values as people read them.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type Kind, type TableRow, TableModel, byName, compareCells, findTone, formatAge, formatBytes, formatCount, formatDuration, formatPath, groupKinds,
  kindOfRoute, listRoute, objectRoute, parseRoute, readKinds, scoreKind, selectName,
} from './index.ts';

const resource = (name: string, kind: string, more = {}) =>
  ({ resource: name, responseKind: { kind }, scope: 'Namespaced', verbs: ['list', 'get', 'watch'], ...more });
const document = {
  items: [
    { metadata: {}, versions: [
      { version: 'v1', resources: [resource('pods', 'Pod', { shortNames: ['po'] }), resource('bindings', 'Binding', { verbs: ['create'] })] },
    ] },
    { metadata: { name: 'apps' }, versions: [{ version: 'v1', resources: [resource('deployments', 'Deployment', { shortNames: ['deploy'] })] }] },
    { metadata: { name: 'acme.io' }, versions: [
      { version: 'v2', resources: [resource('widgets', 'Widget', { scope: 'Cluster' })] }, { version: 'v1', resources: [resource('widgets', 'Widget')] },
    ] },
  ],
};
const kinds = readKinds(document);
const [pods, deployments, widgets] = kinds as [Kind, Kind, Kind];

describe('kinds', () => {
  test('readKinds reads what can be listed, in the version that is preferred', () => {
    assert.deepEqual(kinds.map(({ group, version, plural, namespaced }) => [group, version, plural, namespaced]),
      [['', 'v1', 'pods', true], ['apps', 'v1', 'deployments', true], ['acme.io', 'v2', 'widgets', false]]);
  });

  test('groupKinds puts kinds under known headings, others under their group', () => {
    assert.deepEqual(groupKinds(kinds).map(({ title, kinds: members }) => [title, members.map(({ kind }) => kind)]),
      [['Workloads', ['Pod', 'Deployment']], ['acme.io', ['Widget']]]);
  });

  test('formatPath writes paths of lists and objects, with names as data', () => {
    assert.equal(formatPath(pods), '/api/v1/pods');
    assert.equal(formatPath(deployments, 'a', 'b'), '/apis/apps/v1/namespaces/a/deployments/b');
    assert.equal(formatPath(widgets, 'ignored', '<a>?'), '/apis/acme.io/v2/widgets/%3Ca%3E%3F');
  });

  test('selectName selects an object whatever its name holds', () => {
    assert.equal(selectName('system:node'), 'metadata.name=system:node');
    assert.equal(selectName('a,b=c\\d'), 'metadata.name=a\\,b\\=c\\\\d');
  });

  test('scoreKind prefers short and whole names', () => {
    assert.deepEqual(['po', 'pod', 'po d', 'od', 'x'].map((word) => scoreKind(pods, word)), [4, 4, 0, 2, 0]);
    assert.deepEqual([scoreKind(deployments, 'dep'), scoreKind(widgets, 'acme')], [3, 1]);
  });
});

describe('routes', () => {
  test('parseRoute reads what listRoute and objectRoute write', () => {
    const list = parseRoute(listRoute(pods, { namespace: 'a', q: 'x y&z', labels: '' }));
    assert.deepEqual([list.view, kindOfRoute(list)], ['list', { group: '', version: 'v1', plural: 'pods' }]);
    assert.deepEqual([...list.query], [['namespace', 'a'], ['q', 'x y&z']]);
    assert.deepEqual(parseRoute(objectRoute(widgets, { name: 'a/b%' })).parts, ['acme.io', 'v2', 'widgets', '-', 'a/b%']);
    assert.deepEqual(parseRoute('#/list/%zz').parts, ['%zz']);
    assert.deepEqual(parseRoute(''), { view: '', parts: [], query: new Map() });
  });
});

const row = (name: string, ...cells: unknown[]): TableRow =>
  ({ cells: [name, ...cells], object: { metadata: { name, namespace: 'a', uid: `uid-${name}`, creationTimestamp: `2026-01-0${cells.length}T00:00:00Z` } } });

function fill(...rows: TableRow[]): TableModel {
  const model = new TableModel();
  model.setColumns(['Name', 'Ready', 'Age'].map((name) => ({ name, type: 'string', description: '', priority: 0 })));
  for (const one of rows) model.add(one);
  model.refresh();
  return model;
}

const names = (model: TableModel): string[] => model.rows.map(({ name }) => name);

describe('TableModel', () => {
  test('rows are in the order of names until another column is chosen', () => {
    const model = fill(row('b', '10/10'), row('a', '9/10'), row('c', '1/1'));
    assert.deepEqual(names(model), ['a', 'b', 'c']);
    model.arrange({ column: 1, isDescending: true, text: '' });
    model.refresh();
    assert.deepEqual(names(model), ['b', 'a', 'c']);
  });

  test('a change that keeps the place of its row needs no new order', () => {
    const model = fill(row('a', '0/1'), row('b', '0/1'));
    const [first] = model.rows;
    model.apply({ type: 'MODIFIED', row: row('a', '1/1') });
    assert.equal(model.isStale, false);
    assert.deepEqual([first?.cells[1], first?.version], ['1/1', 1]);
    model.arrange({ column: 1, isDescending: false, text: '' });
    model.refresh();
    model.apply({ type: 'MODIFIED', row: row('a', '2/1') });
    assert.equal(model.isStale, true);
  });

  test('rows come, go, and leave when a new list lacks them', () => {
    const model = fill(row('a'), row('b'), row('c'));
    model.apply({ type: 'DELETED', row: row('b') });
    model.apply({ type: 'ADDED', row: row('d') });
    model.refresh();
    assert.deepEqual(names(model), ['a', 'c', 'd']);
    model.retain(new Set(['uid-c']));
    model.refresh();
    assert.deepEqual([names(model), model.size], [['c'], 1]);
  });

  test('text filters by names and cells, as they change', () => {
    const model = fill(row('web', 'Running'), row('db', 'Pending'));
    model.arrange({ ...byName, text: 'pend' });
    model.refresh();
    assert.deepEqual(names(model), ['db']);
    model.apply({ type: 'MODIFIED', row: row('web', 'Pending') });
    model.refresh();
    assert.deepEqual(names(model), ['db', 'web']);
  });

  test('the age column orders by the time of creation', () => {
    const model = fill(row('old'), row('young', '1'));
    model.arrange({ column: 2, isDescending: false, text: '' });
    model.refresh();
    assert.deepEqual(names(model), ['young', 'old']);
  });

  test('compareCells compares numbers as such', () => {
    assert.ok(compareCells('2/3', '10/3') < 0 && compareCells(2, 10) < 0 && compareCells('b', 'a') > 0);
    assert.equal(compareCells(undefined, ''), 0);
  });
});

test('formatDuration writes one or two units', () => {
  const hour = 3_600_000;
  assert.deepEqual([0, 45_000, 200_000, 20 * hour, 50 * hour, 400 * hour, -5].map(formatDuration), ['0s', '45s', '3m20s', '20h', '2d2h', '16d', '0s']);
  assert.equal(formatAge('no time', 0), '');
});

test('formatCount, formatBytes and findTone', () => {
  assert.deepEqual([formatCount(999), formatCount(1_234_567)], ['999', '1\u202f234\u202f567']);
  assert.deepEqual([0, 1023, 1536, 200 * 1024 ** 2].map(formatBytes), ['0 B', '1023 B', '1.5 KiB', '200 MiB']);
  assert.deepEqual(['Running', 'Pending', 'CrashLoopBackOff', '<b>'].map(findTone), ['good', 'busy', 'bad', '']);
});
