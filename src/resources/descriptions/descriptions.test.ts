// The kinds that people explain most are described whole: every type that they are made of, and every field of each.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Schema, loadSchemas } from '../../apimachinery/index.ts';
import { schemaData } from '../index.ts';
import { descriptionData } from './index.ts';

const explained: Readonly<Record<string, readonly string[]>> = {
  'core.v1': ['Pod', 'PodTemplate', 'Service', 'ConfigMap', 'Secret', 'PersistentVolumeClaim', 'Namespace', 'ServiceAccount'],
  'apps.v1': ['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'], 'batch.v1': ['Job', 'CronJob'], 'networking.v1': ['Ingress'],
  'rbac.v1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
};

/** The fields of a type, and the type of each where it has a name. */
const fieldsOf = ({ fields }: Schema): (readonly [name: string, type: string | undefined])[] => [...fields ?? []].map(([name, { schema }]) => {
  let inner: Schema | undefined = schema;
  while (inner !== undefined && inner.name === undefined) inner = inner.items;
  return [name, inner?.name];
});

/** Full names of all types and fields that the texts name. */
function* listDescribed(): Generator<readonly [type: string, field: string]> {
  let [prefix, type] = ['', ''];
  for (const line of descriptionData.join('\n').split('\n')) {
    const [name = ''] = line.trim().split(':');
    if (line.startsWith('package ')) prefix = line.slice('package '.length);
    else if (line.startsWith(' ') && type !== '*') yield [`${prefix}.${type}`, name];
    else if (name !== '' && !line.startsWith(' ')) type = name;
  }
}

describe('descriptions', () => {
  const schemas = loadSchemas(schemaData, descriptionData);
  const roots = Object.entries(explained).flatMap(([group, kinds]) => kinds.map((kind) => `io.k8s.api.${group}.${kind}`));

  it('say something of every type and field of the kinds that people explain most', () => {
    assert.ok(roots.length >= 15);
    const [seen, missing] = [new Set<string>(), [] as string[]];
    const visit = (name: string): void => {
      const definition = schemas.definition(name);
      if (seen.has(name) || definition === undefined || !name.startsWith('io.k8s.api.')) return;
      seen.add(name);
      const said = schemas.describe(name);
      if (!said?.text) missing.push(name);
      for (const [field] of fieldsOf(definition)) if (!said?.fields.get(field)) missing.push(`${name}.${field}`);
      for (const [, inner] of fieldsOf(definition)) if (inner !== undefined) visit(inner);
    };
    for (const root of roots) visit(root);
    assert.deepEqual(missing, []);
    assert.ok(seen.size > 150, `${seen.size} types`);
  });

  it('are of types and fields that exist', () => {
    const unknown = [...listDescribed()].filter(([type, field]) => schemas.definition(type)?.fields?.has(field) !== true);
    assert.deepEqual(unknown, []);
  });
});
