// `pintle check` and `pintle plan` as users run them: verdicts with places, plans against nothing, a snapshot and a server, reports, exit codes.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../base/index.ts';
import { createRemoteClient } from '../../client/index.ts';
import { readKubeconfig } from '../../kubeconfig/index.ts';
import { startServer } from '../../server/index.ts';
import { createTestServer } from '../index.ts';
import { parseDocuments } from '../manifests/documents.ts';
import { locateField } from '../manifests/locate-field.ts';
import { findChanges } from './changes.ts';

const program = fileURLToPath(new URL('../../../bin/pintle.js', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'pintle-verdicts-'));
after(() => rmSync(root, { recursive: true, force: true }));

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function pintle(args: readonly string[], input = ''): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [program, ...args], { cwd: root }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
    child.stdin?.end(input);
  });
}

const write = (name: string, text: string): string => {
  writeFileSync(join(root, name), text);
  return name;
};

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: widgets.example.com }
spec:
  group: example.com
  scope: Namespaced
  names: { plural: widgets, kind: Widget }
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties: { size: { type: integer }, least: { type: integer } }
            x-kubernetes-validations: [{ rule: 'self.size >= self.least', message: too small }]
`;
const widget = (name: string, size: number): string =>
  `apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: ${name}, namespace: shop }\nspec:\n  size: ${size}\n  least: 3\n`;
const deployment = (replicas: string, image: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - name: web
        image: ${image}
`;
const configMap = (name: string, data = '{}', metadata = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: ${name}, namespace: shop${metadata} }\ndata: ${data}\n`;
const policy = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: { name: labelled }
spec:
  matchConstraints: { resourceRules: [{ apiGroups: [apps], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [deployments] }] }
  validations: [{ expression: "object.spec.replicas < 5", message: five are too many }]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: { name: labelled }
spec: { policyName: labelled, validationActions: [Deny] }
`;

describe('pintle check', () => {
  it('finds what a server would refuse or warn about, each with its place, whatever the order of the documents', async () => {
    const file = write('all.yaml', [
      `# Source: shop/templates/widget.yaml\n${widget('small', 1)}`, widget('fine', 4), definition, deployment('-1', 'nginx'), deployment('"two"', 'nginx'),
      'apiVersion: extensions/v1beta1\nkind: Ingress\nmetadata: { name: old }\n', 'apiVersion: example.com/v2\nkind: Widget\nmetadata: { name: a }\n',
      'apiVersion: v1\nkind: Endpoints\nmetadata: { name: e, namespace: shop }\n', configMap('c', '{ a: b, a: c }'), configMap('c'), 'hello\n', 'a: [\n',
      'apiVersion: v1\nkind: ResourceQuota\nmetadata: { name: q, namespace: shop }\nspec: { hard: { services: "1" } }\n',
      ...['s1', 's2'].map((name) => `apiVersion: v1\nkind: Service\nmetadata: { name: ${name}, namespace: shop }\nspec: { ports: [{ port: 80 }] }\n`),
    ].join('---\n'));
    const { code, stdout, stderr } = await pintle(['check', file, '--base', write('policy.yaml', policy)]);
    assert.equal(code, 1, stderr);
    const source = readFileSync(join(root, file), 'utf8').split('\n');
    const found = stdout.trim().split('\n').slice(0, -1).map((line) => {
      const [, at, rest = line] = /^all\.yaml:(\d+):\d+: (.*)$/.exec(line) ?? [];
      return [source[Number(at) - 1]?.trim(), rest] as const;
    });
    const expected = [
      ['spec:', /^error: Widget shop\/small: spec: Invalid value: .*too small \[invalid\] \(from shop\/templates\/widget\.yaml\)$/],
      ['replicas: -1', /^error: Deployment shop\/web: spec\.replicas: Invalid value: -1: must be greater than or equal to 0 \[invalid\]$/],
      ['apiVersion: apps/v1', /^warning: Deployment shop\/web: the same object stands at all\.yaml:36 too \[duplicate-object\]$/],
      ['replicas: "two"', /^error: Deployment shop\/web: spec\.replicas: expected numeric \(int or float\), got string \[schema\]$/],
      ['apiVersion: extensions/v1beta1', /^error: Ingress old: apiVersion: .* is not served since v1\.22: use networking\.k8s\.io\/v1 \[removed-version\]$/],
      ['apiVersion: example.com/v2', /^error: Widget a: apiVersion: .*it is served at example\.com\/v1 \[unknown-kind\]$/],
      ['apiVersion: v1', /^warning: Endpoints shop\/e: v1 Endpoints is deprecated .*\[deprecated\]$/],
      ['data: { a: b, a: c }', /^warning: ConfigMap shop\/c: key "a" already set in map \[duplicate-key\]$/],
      ['apiVersion: v1', /^warning: ConfigMap shop\/c: the same object stands at all\.yaml:\d+ too \[duplicate-object\]$/],
      ['hello', /^error: this is no Kubernetes object: it has no kind \[syntax\]$/],
      ['a: [', /^error: yaml: .* \[syntax\]$/],
      ['apiVersion: v1', /^error: Service shop\/s2: .*exceeded quota: q.* \[quota\]$/],
    ] as const;
    assert.deepEqual(found.map(([text]) => text), expected.map(([text]) => text), stdout);
    for (const [index, [, pattern]] of expected.entries()) assert.match(found[index]?.[1] ?? '', pattern);
    assert.match(stdout, /^15 objects: 7 fine, 8 refused, 0 skipped; 8 errors, 4 warnings$/m);
    assert.doesNotMatch(stdout, /\u001b/);
  });

  it('asks policies of the base and the rights of a user', async () => {
    const manifests = write('web.yaml', `${deployment('7', 'nginx')}---\n${configMap('a')}`);
    const base = write('base.yaml', `${policy}---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: deployer, namespace: shop }
rules: [{ apiGroups: [apps], resources: [deployments], verbs: [create, patch] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: deployer, namespace: shop }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: deployer }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: Group, name: team }]
---
apiVersion: v1
kind: Namespace
metadata: { name: shop }
`);
    const { code, stdout } = await pintle(['check', manifests, '--base', base, '--as', 'ann', '--as-group', 'team', '-o', 'json']);
    assert.equal(code, 1);
    const { objects } = JSON.parse(stdout) as { objects: { name: string; findings: { rule: string; message: string }[] }[] };
    assert.deepEqual(objects.map(({ name, findings }) => [name, ...findings.map(({ rule }) => rule)]), [['web', 'policy'], ['a', 'rbac']]);
    assert.match(objects[1]?.findings[0]?.message ?? '', /User "ann" cannot patch resource "configmaps"/);
  });

  it('asks no conversion webhook of a definition that is there already', async () => {
    const converted = definition.replace('  versions:\n', `  conversion:
    strategy: Webhook
    webhook: { conversionReviewVersions: [v1], clientConfig: { url: 'https://127.0.0.1:9/convert' } }
  versions:
  - { name: v2, served: true, storage: false, schema: { openAPIV3Schema: { type: object, x-kubernetes-preserve-unknown-fields: true } } }
`);
    const { code, stdout } = await pintle(['check', '-', '--base', write('converted.yaml', converted)], widget('first', 4).replace('/v1', '/v2'));
    assert.equal(code, 0, stdout);
  });

  it('prints JUnit and SARIF, reads standard input, and has documented exit codes', async () => {
    const bad = deployment('-1', 'nginx');
    const junit = await pintle(['check', '-', '-o', 'junit'], bad);
    assert.equal(junit.code, 1);
    assert.match(junit.stdout, /<testsuites name="pintle" tests="1" failures="1">/);
    assert.match(junit.stdout, /<testcase classname="-" name="Deployment shop\/web"><failure type="invalid" message="Invalid value: -1: must be/);
    const [run] = (JSON.parse((await pintle(['check', '-f', write('bad.yaml', bad), '-o', 'sarif'])).stdout) as { runs: any[] }).runs;
    assert.deepEqual(run.results[0].locations[0].physicalLocation, { artifactLocation: { uri: 'bad.yaml' }, region: { startLine: 5, startColumn: 3 } });
    assert.ok(run.tool.driver.rules.some(({ id }: { id: string }) => id === run.results[0].ruleId));
    const runs = [await pintle(['check', '-'], configMap('a')), await pintle(['check', 'absent.yaml']), await pintle(['check'])];
    assert.deepEqual(runs.map(({ code }) => code), [0, 2, 2]);
    const unknown = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: { name: a }\n';
    assert.deepEqual([(await pintle(['check', '-'], unknown)).code, (await pintle(['check', '-', '--skip-unknown'], unknown)).code], [1, 0]);
    assert.match((await pintle(['check', '--help'])).stdout, /-f, --filename texts[^]*Exit codes: 0/);
  });

  it('exits with 2 and says why where it cannot answer', async () => {
    const objects = write('fine.yaml', configMap('a'));
    const cluster = (server: string): string => JSON.stringify({
      'current-context': 'c', clusters: [{ name: 'c', cluster: { server } }], contexts: [{ name: 'c', context: { cluster: 'c' } }],
    });
    const [silent, broken] = [write('silent.kubeconfig', cluster('http://127.0.0.1:1')), write('broken.kubeconfig', 'a: [1\nb: }')];
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['-o', 'xml'], /--output must be text or json or junit or sarif/], [['--kubeconfig', silent], /http:\/\/127\.0\.0\.1:1 does not answer: .*ECONNREFUSED/],
      [['--kubeconfig', broken], /broken\.kubeconfig: yaml: line 1/], [['--kubeconfig', `${silent}.none`], /there is no kubeconfig at/],
      [['--kubeconfig', silent, '--context', 'other'], /the kubeconfig has no context other/], [['--snapshot', objects], /is not a snapshot/],
      [['--snapshot', objects, '--live'], /cannot be asked together/], [['--as-group', 'admins'], /--as-group needs --as/],
    ];
    for (const [flags, why] of cases) {
      const { code, stdout, stderr } = await pintle(['check', objects, ...flags]);
      assert.deepEqual([code, stdout], [2, ''], flags.join(' '));
      assert.match(stderr, why);
    }
  });
});

describe('pintle check --kubeconfig', () => {
  it('finds what is wrong with a definition, and what becomes of its objects', async () => {
    await using cluster = await createTestServer();
    const kubeconfig = write('kubeconfig', cluster.kubeconfig);
    const check = async (text: string): Promise<readonly string[]> => {
      const { code, stdout, stderr } = await pintle(['check', '-', '--kubeconfig', kubeconfig, '-o', 'json'], text);
      assert.equal(code, 1, stderr);
      const { objects } = JSON.parse(stdout) as { objects: { name: string; findings: { rule: string; message: string }[] }[] };
      return objects.flatMap(({ name, findings }) => [name, ...findings.map(({ rule, message }) => `${rule}: ${message}`)]);
    };
    const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n';
    const broken = definition.replace('scope: Namespaced', 'scope: Everywhere');
    const [, wrong = '', ...after] = await check([broken, widget('first', 4), namespace, configMap('new')].join('---\n'));
    assert.match(wrong, /^invalid: .*Unsupported value: "Everywhere"/);
    assert.deepEqual(after, ['first', 'unknown-kind: no resource is served for example.com/v1 Widget: its definition is not served', 'shop', 'new']);
    const twin = definition.replaceAll('widgets', 'gadgets');
    assert.deepEqual(await check([definition, twin, namespace, widget('first', 4)].join('---\n')), [
      'widgets.example.com', 'gadgets.example.com', 'invalid: "WidgetList" is already in use', 'shop', 'first',
    ]);
    await cluster.apply(definition);
    const [, , wrongSize = '', ...fine] = await check([namespace, widget('small', 1), widget('first', 4)].join('---\n'));
    assert.match(wrongSize, /^invalid: .*too small/);
    assert.deepEqual(fine, ['first'], 'the kind of the cluster is known in a new namespace');
  });
});

describe('pintle plan', () => {
  const before = [
    'apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }\n', deployment('2', 'nginx:1'), configMap('gone', '{}', ', labels: { app: shop }'),
    configMap('kept', '{ a: b }'),
  ].join('---\n');
  const wanted = [
    deployment('3', 'nginx:2'), configMap('kept', '{ a: b }'), configMap('new'), 'apiVersion: v1\nkind: Namespace\nmetadata: { name: fresh }\n',
    'apiVersion: v1\nkind: Secret\nmetadata: { name: s, namespace: fresh }\ndata: { a: YQ== }\n', definition, widget('first', 4),
  ].join('---\n');

  /** What both kinds of plan have to say. */
  function checkPlan(stdout: string): void {
    for (const pattern of [
      /^! conflict Deployment shop\/web \(wanted\.yaml:1\)\n    wanted\.yaml:5:3: error: .*spec\.replicas: conflict with "scaler"/m,
      /^\+ create ConfigMap shop\/new/m, /^\+ create Secret fresh\/s/m, /^\+ create Widget shop\/first/m, /^- prune ConfigMap shop\/gone$/m,
      /^5 to create, 0 to change, 1 unchanged, 1 to prune, 1 in conflict, 0 refused, 0 skipped; 1 error, 0 warnings$/m,
    ]) assert.match(stdout, pattern);
  }

  it('shows creations, changes with their owners, conflicts and what is pruned, of a running server and of its snapshot alike', async () => {
    const dataDir = join(root, 'data');
    const server = await startServer({ dataDir });
    try {
      await server.ready;
      const [first, second] = [write('before.yaml', before), write('wanted.yaml', wanted)];
      const kubeconfig = server.kubeconfigPath;
      const client = createRemoteClient(await readKubeconfig({ kubeconfig }, systemClock), 'test');
      const { documents } = await parseDocuments(before, first);
      const plurals: Record<string, string> = { Namespace: '/api/v1/namespaces', Deployment: '/apis/apps/v1/namespaces/shop/deployments',
        ConfigMap: '/api/v1/namespaces/shop/configmaps' };
      for (const { object } of documents) {
        const path = `${plurals[object.kind ?? '']}/${object.metadata?.name}?fieldManager=kubectl`;
        const answer = await client.request({ method: 'PATCH', path, body: object });
        assert.equal(answer.status, 201, answer.text);
      }
      const scaled = await client.request({ method: 'PATCH', path: `${plurals['Deployment']}/web?fieldManager=scaler&force=true`,
        body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { replicas: 4 } } });
      assert.equal(scaled.status, 200);
      client.close();

      const prune = ['--prune', '-l', 'app=shop'];
      const live = await pintle(['plan', second, '--kubeconfig', kubeconfig, ...prune]);
      assert.equal(live.code, 1, live.stderr);
      checkPlan(live.stdout);
      assert.match(live.stdout, /Widget shop\/first .*evaluated in memory/);
      const snapshot = join(root, 'state.snapshot');
      assert.equal((await pintle(['storage', 'snapshot', '--data-dir', dataDir, '--to', snapshot])).code, 0);
      const offline = await pintle(['plan', second, '--snapshot', snapshot, ...prune]);
      assert.equal(offline.code, 1, offline.stderr);
      checkPlan(offline.stdout);
      const forced = await pintle(['plan', second, '--snapshot', snapshot, '--force-conflicts', '--detailed-exit-code']);
      assert.equal(forced.code, 3, forced.stdout);
      assert.match(forced.stdout, /^~ change Deployment shop\/web .*\n    ~ spec\.replicas: 4 → 3 \(held by scaler\)\n/m);
      assert.match(forced.stdout, /containers\[name="web"\]\.image: "nginx:1" → "nginx:2" \(held by kubectl\)/);
      const checked = JSON.parse((await pintle(['check', first, '--kubeconfig', kubeconfig, '--force-conflicts', '-o', 'json'])).stdout);
      assert.deepEqual(checked.objects.filter((object: { evaluatedInMemory?: boolean }) => object.evaluatedInMemory), [], 'the cluster has all of it');
      const bob = await pintle(['plan', second, '--kubeconfig', kubeconfig, '--as', 'bob']);
      assert.match(bob.stdout, /User "bob" cannot patch resource "deployments"/);

      await using copy = await createTestServer({ snapshot });
      assert.equal((await copy.get('deployments/web', { namespace: 'shop' }))?.['spec'].replicas, 4);
    } finally {
      await server.close();
    }
  });
});

describe('findChanges', () => {
  it('matches items of lists by their keys, and hides the values of Secrets', () => {
    const fields = { 'f:spec': { 'f:ports': { 'k:{"port":80}': { '.': {}, 'f:name': {} }, 'k:{"port":90}': { '.': {} } } }, 'f:data': { 'f:a': {} } };
    const metadata = { managedFields: [{ manager: 'm', fieldsV1: fields }] };
    const changes = findChanges({ metadata, spec: { ports: [{ port: 80, name: 'a' }, { port: 90 }] }, data: { a: 'x' } },
      { kind: 'Secret', metadata, spec: { ports: [{ port: 90 }, { port: 80, name: 'b' }] }, data: { a: 'y' } });
    assert.deepEqual(changes.filter(({ path }) => path !== 'kind'), [
      { path: 'spec.ports[port=80].name', before: 'a', after: 'b', owners: ['m'] },
      { path: 'data.a', before: '*** (before)', after: '*** (after)', owners: ['m'] },
    ]);
  });
});

describe('locateField', () => {
  it('finds fields by index, key and name, keys with dots, and the nearest field around a missing one', async () => {
    const text = 'kind: A\nmetadata:\n  annotations:\n    example.com/a: b\nspec:\n  ports:\n  - port: 80\n    name: http\n  - port: 90\n';
    const { documents: [found] } = await parseDocuments(`---\n${text}`, 'f');
    const lineOf = (path: string): number | undefined => locateField(found?.place as NonNullable<typeof found>['place'], path)?.line;
    assert.deepEqual([
      lineOf('metadata.annotations.example.com/a'), lineOf('metadata.annotations[example.com/a]'), lineOf('.spec.ports[port=80].name'),
      lineOf('spec.ports[1].name'),
      lineOf('spec.missing[0].field'), lineOf('nothing'),
    ], [5, 5, 9, 10, 6, undefined]);
  });
});
