// Warnings of type checking by example, for built-in and custom kinds.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KubeObject, type Schema, compileStructuralSchema, loadSchemas } from '../../apimachinery/index.ts';
import type { Catalog, Resource } from '../../registry/index.ts';
import { createBuiltinResources, schemaData } from '../../resources/index.ts';
import { checkPolicyTypes } from './type-checking.ts';

const schemas = loadSchemas(schemaData);
const objectMeta = schemas.definition('io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta') as Schema;
const cog = {
  group: 'a.b', plural: 'cogs', kind: 'Cog', versions: [{ name: 'v1', served: true, schema: compileStructuralSchema({
    type: 'object', properties: {
      spec: { type: 'object', properties: {
        size: { type: 'integer' }, wait: { type: 'string', format: 'duration' }, any: { 'x-kubernetes-int-or-string': true },
      } },
    },
  }, { objectMeta }) }],
} as unknown as Resource;
const rows = [...createBuiltinResources(schemas), cog];
const findRow = (group: string, test: (row: Resource) => boolean) => rows.find((row) => row.group === group && test(row));
const catalog = {
  resources: () => rows,
  findKind: (group: string, kind: string) => findRow(group, (row) => row.kind === kind),
} as unknown as Catalog;

const rule = (group: string, version: string, ...resources: string[]) => ({ apiGroups: [group], apiVersions: [version], resources });
const deployments = rule('apps', 'v1', 'deployments', 'deployments/status');
const cogs = rule('a.b', 'v1', 'cogs');

const check = (spec: object) => checkPolicyTypes({ spec } as unknown as KubeObject, catalog, () => undefined);
const warningsOf = async (rules: readonly object[], expression: string, more: object = {}): Promise<string> =>
  (await check({ matchConstraints: { resourceRules: rules }, validations: [{ expression }], ...more })).map(({ warning }) => warning).join('');

for (const [rules, expression] of [
  [[deployments], 'object.spec.replicas > 1 && object.metadata.labels.all(k, k != "a") && oldObject.spec.paused'],
  [[deployments], 'object.spec.template.spec.containers.all(c, c.image != "" && c.ports.all(p, p.containerPort > 1))'],
  [[deployments], 'object.spec.strategy.rollingUpdate.maxSurge == 1 && object.metadata.creationTimestamp < timestamp("2020-01-01T00:00:00Z")'],
  [[cogs], 'object.spec.size > 1 && object.spec.wait < duration("1h") && object.metadata.uid != "" && object.spec.any == 1'],
  [[rule('*', 'v1', 'deployments')], 'object.spec.replicaz'], [[rule('apps', 'v1', '*')], 'object.spec.replicaz'], [[rule('none', 'v1', 'none')], 'object.x'],
] as const) {
  test(`checkPolicyTypes has nothing to say about ${expression} of ${JSON.stringify(rules)}`, async () => {
    assert.equal(await warningsOf(rules, expression), '');
  });
}

for (const [rules, expression, warning] of [
  [[deployments], 'object.spec.replicaz > 1', "apps/v1, Kind=Deployment: ERROR: <input>:1:12: undefined field 'replicaz'\n | object.spec.replicaz > 1\n | ...........^\n"],
  [[deployments], 'object.spec.template.spec.containers[0].resources.limits',
    "apps/v1, Kind=Deployment: ERROR: <input>:1:50: undefined field 'limits'\n | object.spec.template.spec.containers[0].resources.limits\n"
      + ' | .................................................^\n'],
  [[deployments], 'authorizer.requestResource.check("get").allowed()', 'apps/v1, Kind=Deployment: ERROR: <input>:1:11: unexpected failed resolution of '
    + "'kubernetes.authorization.Authorizer'\n | authorizer.requestResource.check(\"get\").allowed()\n | ..........^\n"],
  [[deployments], 'object.metadata.name == 1', 'apps/v1, Kind=Deployment: ERROR: <input>:1:22: found no matching overload for \'_==_\' applied to '
    + "'(string, int)'\n | object.metadata.name == 1\n | .....................^\n"],
  [[rule('', 'v1', 'pods'), cogs], 'object.spec.none', "/v1, Kind=Pod: ERROR: <input>:1:12: undefined field 'none'\n | object.spec.none\n | ...........^\n\n"
    + "a.b/v1, Kind=Cog: ERROR: <input>:1:12: undefined field 'none'\n | object.spec.none\n | ...........^\n"],
  [[cogs], 'object.spec.size == "x"', 'a.b/v1, Kind=Cog: ERROR: <input>:1:18: found no matching overload for \'_==_\' applied to \'(int, string)\'\n'
    + ' | object.spec.size == "x"\n | .................^\n'],
] as const) {
  test(`checkPolicyTypes warns of ${expression}`, async () => assert.equal(await warningsOf(rules, expression), warning));
}

test('message expressions, variables and parameters are checked too', async () => {
  const spec = {
    matchConstraints: { resourceRules: [deployments] }, paramKind: { apiVersion: 'a.b/v1', kind: 'Cog' },
    variables: [{ name: 'spec', expression: 'object.spec' }, { name: 'broken', expression: 'object.none' }],
    validations: [
      { expression: 'variables.spec.replicas > params.spec.size && variables.broken.anything', messageExpression: 'string(params.spec.none)' },
      { expression: 'variables.spec.none' },
    ],
  };
  assert.deepEqual((await check(spec)).map(({ fieldRef, warning }) => [fieldRef, warning.split('\n')[0]]), [
    ['spec.validations[0].messageExpression', "apps/v1, Kind=Deployment: ERROR: <input>:1:19: undefined field 'none'"],
    ['spec.validations[1].expression', "apps/v1, Kind=Deployment: ERROR: <input>:1:15: undefined field 'none'"],
  ]);
});

test('checkPolicyTypes looks at ten kinds, and walks the catalog once per rule', async () => {
  const many = Array.from({ length: 2000 }, (_, i) => `x${i}`);
  let walks = 0;
  const counting = { ...catalog, resources: () => (walks++, rows) } as unknown as Catalog;
  const everything = { apiGroups: ['', 'apps', ...many], apiVersions: ['v1', ...many], resources: rows.map(({ plural }) => plural).concat(many) };
  const policy = { spec: { matchConstraints: { resourceRules: [deployments, everything, everything] }, validations: [{ expression: 'object.nothing' }] } };
  const [found] = await checkPolicyTypes(policy as unknown as KubeObject, counting, () => undefined);
  assert.equal(found?.warning.match(/Kind=/g)?.length, 10);
  assert.equal(walks, 2);
});
