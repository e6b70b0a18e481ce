// Tables: definitions, cells, the object of a row.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, StatusError } from '../../apimachinery/index.ts';
import type { Column, StoredObject } from '../../registry/index.ts';
import { makeResource } from '../testing.ts';
import { columnDefinitions, parseIncludeObject, type TableContext, tableOfEvent, tableOfObject, tableRow } from './table.ts';

const column = (name: string, cell: Column['cell'], more: Partial<Column> = {}): Column =>
  ({ name, type: 'string', format: '', description: '', priority: 0, cell, ...more });
const columns = [
  column('Name', ({ metadata }) => metadata.name ?? ''), column('Gone', () => undefined as never), column('Hidden', () => 'h', { undeclared: true }),
];
const things = makeResource({ kind: 'Thing', plural: 'things' });
const resource = { ...things, versions: things.versions.map((served) => ({ ...served, columns,
  rowConditions: ({ metadata }: KubeObject) => (metadata.name === 'done' ? [{ type: 'Completed', status: 'True', reason: 'r', message: 'm' }] : []) })) };
const context: TableContext = { resource, served: 'v1', tableVersion: 'v1', include: 'Metadata', nowMs: 0 };
const object = (name: string): KubeObject => ({ apiVersion: 'v1', kind: 'Thing', metadata: { name, resourceVersion: '7' } });

test('columnDefinitions lists the declared columns, and cells have them all', () => {
  assert.deepEqual(columnDefinitions(context).map((each: any) => [each.name, Object.keys(each)]),
    ['Name', 'Gone'].map((name) => [name, ['name', 'type', 'format', 'description', 'priority']]));
  assert.deepEqual((tableRow(object('a'), context) as any).cells, ['a', null, 'h']);
});

test('tableRow has the object that includeObject asks for, and conditions only where there are any', () => {
  const row = (include: TableContext['include'], name = 'a'): any => tableRow(object(name), { ...context, include });
  assert.equal(row('None').object, null);
  assert.deepEqual(row('Object').object, object('a'));
  assert.deepEqual(row('Metadata').object,
    { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a', resourceVersion: '7' } });
  const annotated = { ...object('a'), metadata: { name: 'a', annotations: { field: '1', own: '2' } } };
  const hiding = (...fieldAnnotations: string[]): TableContext => ({ ...context, include: 'Metadata', resource: { ...context.resource, fieldAnnotations } });
  const annotationsOf = (hidden: TableContext): unknown => (tableRow(annotated, hidden) as any).object.metadata.annotations;
  assert.deepEqual([annotationsOf(hiding('field')), annotationsOf(hiding('field', 'own'))], [{ own: '2' }, undefined]);
  assert.deepEqual([row('None').conditions, row('None', 'done').conditions.length], [undefined, 1]);
});

test('tableRow keeps the metadata that ends the initial events of a watch, whatever includeObject asks for', () => {
  const ended = { ...object('a'), metadata: { name: 'a', annotations: { 'k8s.io/initial-events-end': 'true' } } };
  assert.deepEqual((tableRow(ended, { ...context, include: 'None' }) as any).object.metadata, ended.metadata);
});

test('tableOfObject has the resourceVersion of its object', () => {
  const table = tableOfObject({ object: () => object('a') } as unknown as StoredObject, { ...context, tableVersion: 'v1beta1' }) as any;
  assert.deepEqual([table.kind, table.apiVersion, table.metadata, table.rows.length], ['Table', 'meta.k8s.io/v1beta1', { resourceVersion: '7' }, 1]);
});

test('tableOfEvent has definitions in the first event of a stream only', () => {
  const definitions = [true, false].map((first) => tableOfEvent([], context, { resourceVersion: '9', first })['columnDefinitions'] as unknown[] | null);
  assert.deepEqual(definitions.map((each) => each?.length ?? null), [2, null]);
});

test('parseIncludeObject refuses other values', () => {
  const parse = (value: string): string => parseIncludeObject(new URLSearchParams({ includeObject: value }));
  assert.deepEqual(['', 'None', 'Metadata', 'Object'].map(parse), ['Metadata', 'None', 'Metadata', 'Object']);
  assert.throws(() => parse('All'), (error) => error instanceof StatusError && error.code === 400 &&
    error.message === "Unable to convert to Table as requested: includeObject: Invalid value: \"All\": must be 'Metadata', 'Object', 'None', or empty");
});
