// The audit policy: which rule applies to which request, and what is wrong with a file.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseYaml } from '../../codec/index.ts';
import { type AuditedRequest, createAuditPolicy } from './policy.ts';
import { readAuditPolicy } from './read-policy.ts';

const read = async (text: string) => readAuditPolicy((await parseYaml(new TextEncoder().encode(text))).value);
const header = 'apiVersion: audit.k8s.io/v1\nkind: Policy\n';

const pod: AuditedRequest = {
  verb: 'get', isResource: true, group: '', namespace: 'web', resource: 'pods', subresource: '', name: 'p', path: '/api/v1/namespaces/web/pods/p',
};
const log = { ...pod, subresource: 'log' };
const scale: AuditedRequest = { ...pod, group: 'apps', resource: 'deployments', subresource: 'scale', verb: 'update' };
const node = { ...pod, namespace: '', resource: 'nodes' };
const health: AuditedRequest = {
  verb: 'get', isResource: false, group: '', namespace: '', resource: '', subresource: '', name: '', path: '/healthz/ping',
};
const alice = { name: 'alice', groups: ['devs', 'system:authenticated'] };

/** A rule without its level, a request, and whether the rule matches. */
const rules: readonly (readonly [rule: string, request: AuditedRequest, matches: boolean])[] = [
  ['', pod, true], ['', health, true],
  ['users: [alice]', pod, true], ['users: [bob]', pod, false], ['userGroups: [ops, devs]', pod, true], ['userGroups: [ops]', pod, false],
  ['verbs: [get, list]', pod, true], ['verbs: [watch]', pod, false],
  ['namespaces: [web]', pod, true], ['namespaces: [db]', pod, false], ['namespaces: [""]', node, true], ['namespaces: [web]', health, false],
  ['resources: [{ group: "" }]', pod, true], ['resources: [{ group: "" }]', log, true], ['resources: [{ group: apps }]', pod, false],
  ['resources: [{ group: "*", resources: ["*"] }]', log, true], ['resources: [{ resources: [pods] }]', log, false],
  ['resources: [{ resources: [pods/log] }]', log, true], ['resources: [{ resources: [pods/log] }]', pod, false],
  ['resources: [{ resources: ["pods/*"] }]', log, true], ['resources: [{ resources: ["pods/*"] }]', pod, true],
  ['resources: [{ group: apps, resources: ["*/scale"] }]', scale, true], ['resources: [{ group: apps, resources: ["*/status"] }]', scale, false],
  ['resources: [{ resources: [pods], resourceNames: [p] }]', pod, true], ['resources: [{ resources: [pods], resourceNames: [q] }]', pod, false],
  ['resources: [{ resources: [pods] }]', health, false],
  ['nonResourceURLs: ["/healthz*"]', health, true], ['nonResourceURLs: ["*"]', health, true], ['nonResourceURLs: ["/healthz"]', health, false],
  ['nonResourceURLs: ["/healthz/ping"]', health, true], ['nonResourceURLs: ["*"]', pod, false],
];

describe('createAuditPolicy', () => {
  for (const [rule, request, matches] of rules) {
    const what = `${request.resource}/${request.subresource} at ${request.path}`;
    it(`${matches ? 'matches' : 'does not match'} ${what} with a rule for ${rule || 'everything'}`, async () => {
      const { policy } = await read(`${header}rules:\n- level: Request\n  ${rule}\n`);
      assert.equal(createAuditPolicy(policy)(request, alice).level, matches ? 'Request' : 'None');
    });
  }

  it('takes the first rule that matches, with the stages that rule and policy omit', async () => {
    const { policy } = await read(`${header}omitStages: [RequestReceived]\nomitManagedFields: true
rules:\n- { level: None, verbs: [watch] }\n- { level: Metadata, omitStages: [Panic], omitManagedFields: false }\n- level: RequestResponse\n`);
    const decision = createAuditPolicy(policy)(pod, alice);
    assert.deepEqual([decision.level, [...decision.omitStages], decision.omitManagedFields], ['Metadata', ['RequestReceived', 'Panic'], false]);
  });

  it('matches no rule about users where there is no user', async () => {
    const { policy } = await read(`${header}rules:\n- { level: Request, users: [alice] }\n- { level: Request, userGroups: [devs] }\n- level: Metadata\n`);
    assert.equal(createAuditPolicy(policy)(pod, undefined).level, 'Metadata');
  });
});

/** What follows the header, and the error of the reference. */
const refused: readonly (readonly [file: string, message: string])[] = [
  ['rules: []', 'loaded illegal policy with 0 rules'],
  ['rules: [{}]', 'rules[0].level: Required value'],
  ['rules: [{ level: All }]', 'rules[0].level: Unsupported value: "All": supported values: "Metadata", "None", "Request", "RequestResponse"'],
  ['rules: [{ level: None, nonResourceURLs: [healthz] }]',
    'rules[0].nonResourceURLs[0]: Invalid value: "healthz": non-resource URL rules must begin with a \'/\' character'],
  ['rules: [{ level: None, nonResourceURLs: ["/a*/b"] }]',
    'rules[0].nonResourceURLs[0]: Invalid value: "/a*/b": non-resource URL wildcards \'*\' must be the final character of the rule'],
  ['rules: [{ level: None, resources: [{ resourceNames: [x] }] }]',
    'rules[0].resources.resourceNames: Invalid value: ["x"]: using resourceNames requires at least one resource'],
  ['rules: [{ level: None, namespaces: [web], nonResourceURLs: ["/a"] }]',
    'rules[0].nonResourceURLs: Invalid value: ["/a"]: rules cannot apply to both regular resources and non-resource URLs'],
  ['omitStages: [Never]\nrules: [{ level: None, omitStages: [Often] }]',
    '[omitStages[0]: Invalid value: "Never": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic, ' +
    'rules[0].omitStages[0]: Invalid value: "Often": allowed stages are RequestReceived,ResponseStarted,ResponseComplete,Panic]'],
];

describe('readAuditPolicy', () => {
  for (const [file, message] of refused) {
    it(`refuses ${file.replaceAll('\n', ', ')}`, async () => {
      await assert.rejects(read(`${header}${file}\n`), { message });
    });
  }

  it('refuses other kinds and versions', async () => {
    await assert.rejects(read('kind: Policy\nrules: []\n'), /unknown group version field audit\.k8s\.io\/__internal, Kind=Policy in policy/);
    await assert.rejects(read('apiVersion: audit.k8s.io/v1\nrules: []\n'), /loaded illegal policy with 0 rules/);
    await assert.rejects(read('apiVersion: audit.k8s.io/v1\nkind: Nope\nrules: []\n'), /no kind "Nope" is registered for version "audit.k8s.io\/v1"/);
    await assert.rejects(read('apiVersion: a/b/c\nrules: []\n'), /unexpected GroupVersion string: a\/b\/c/);
    await assert.rejects(read('apiVersion: audit.k8s.io/v1beta1\nkind: Policy\nrules: []\n'), /no kind "Policy" is registered for version/);
    await assert.rejects(read(`${header}rules: text\n`), /rules must be a list/);
  });

  it('skips unknown fields with a warning', async () => {
    const { policy, warnings } = await read(`${header}extra: 1\nrules: [{ level: Metadata, user: [a] }]\n`);
    assert.deepEqual(warnings, ['unknown field "extra"', 'unknown field "rules[0].user"']);
    assert.equal(createAuditPolicy(policy)(pod, alice).level, 'Metadata');
  });
});
