// Readers of selectable fields look at nothing but the paths that they name: of large objects they are shown nothing else.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type KubeObject, formatGroupVersion, loadSchemas } from '../../apimachinery/index.ts';
import { isStable } from '../../registry/index.ts';
import { schemaData } from '../schema/index.ts';
import { createBuiltinResources } from '../table.ts';
import { readPath } from './values.ts';

const samples = new URL('../../../../test/data/roundtrip/', import.meta.url);

/** An object that has what is at these paths and nothing else. */
function pick(object: KubeObject, paths: readonly (readonly string[])[]): KubeObject {
  const picked = {};
  for (const path of paths) {
    let holder: Record<string, unknown> = picked;
    for (const name of path.slice(0, -1)) holder = (holder[name] ??= {}) as Record<string, unknown>;
    holder[path.at(-1) as string] = readPath(object, ...path);
  }
  return picked as KubeObject;
}

test('each field of a built-in kind is read at its paths as from the whole object', () => {
  let read = 0;
  for (const { group, kind, storageVersion, selectableFields } of createBuiltinResources(loadSchemas(schemaData))) {
    // There are samples of stable versions.
    if (Object.keys(selectableFields).length === 0 || !isStable(storageVersion)) continue;
    const name = `${formatGroupVersion({ group: group === '' ? 'core' : group, version: storageVersion }).replace('/', '.')}.${kind}`;
    const object = JSON.parse(readFileSync(new URL(`${name}.json`, samples), 'utf8')) as KubeObject;
    for (const [label, reader] of Object.entries(selectableFields)) {
      assert.ok(reader.paths !== undefined, `${name} ${label}`);
      const text = reader(object);
      assert.equal(reader(pick(object, reader.paths)), text, `${name} ${label}`);
      if (text !== '') read++;
    }
  }
  assert.ok(read > 30, `${read} texts`);
});
