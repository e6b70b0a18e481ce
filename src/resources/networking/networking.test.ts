// Kinds of networking.k8s.io, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, printCell, update } from '../kinds.suite.ts';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['networking.k8s.io/Ingress', { spec: { rules: [{ host: '192.0.2.1', http: { paths: [{ path: 'x', pathType: 'Exact', backend: {} }] } }] } }, [
    'spec.rules[0].host: Invalid value: "192.0.2.1": must be a DNS name, not an IP address',
    'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
    'spec.rules[0].http.paths[0].backend: Invalid value: "": resource or service backend is required',
  ]],
  ['networking.k8s.io/Ingress', { spec: { defaultBackend: { service: { port: { name: 'A' } } } } }, [
    'spec.defaultBackend.service.name: Required value',
    'spec.defaultBackend.service.port.name: Invalid value: "A": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
    'spec.defaultBackend.service.port.name: Invalid value: "A": must contain at least one letter (a-z)',
  ]],
  ['networking.k8s.io/NetworkPolicy', { spec: { ingress: [{ from: [{ ipBlock: { cidr: '10.1.0.0/16', except: ['10.2.0.0/24'] }, podSelector: {} }] }] } }, [
    'spec.ingress[0].from[0].ipBlock.except[0]: Invalid value: "10.2.0.0/24": must be a strict subset of `cidr`',
    'spec.ingress[0].from[0]: Forbidden: may not specify both ipBlock and another peer',
  ]],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('columns of ingressclasses mark the default one', () => {
  const name = (value: string): unknown => printCell('networking.k8s.io/IngressClass', 'Name', {
    metadata: { name: 'a', annotations: { 'ingressclass.kubernetes.io/is-default-class': value } },
  });
  assert.deepEqual([name('true'), name('false')], ['a (default)', 'a']);
});

test('validateNetworkPolicy accepts canonical ranges only, and others that are stored already', () => {
  const policy = (cidr: string, ...except: string[]): object => ({ spec: { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr, except } }] }] } });
  const path = 'spec.ingress[0].from[0].ipBlock';
  assert.deepEqual(create('networking.k8s.io/NetworkPolicy', policy('10.0.0.5/8', '10.1.0.1/16')), [
    `${path}.cidr: Invalid value: "10.0.0.5/8": must not have bits set beyond the prefix length`,
    `${path}.except[0]: Invalid value: "10.1.0.1/16": must not have bits set beyond the prefix length`,
  ]);
  assert.deepEqual(create('networking.k8s.io/NetworkPolicy', policy('010.0.0.0/8')), [
    `${path}.cidr: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
  ]);
  assert.deepEqual(update('networking.k8s.io/NetworkPolicy', policy('10.0.0.5/8'), { old: policy('10.0.0.5/8', '10.1.0.1/16') }), []);
  assert.equal(update('networking.k8s.io/NetworkPolicy', policy('10.0.0.6/8'), { old: policy('10.0.0.5/8') }).length, 1);
});

test('validateIpAddress takes addresses of both families in canonical form as names', () => {
  const spec = { parentRef: { resource: 'services', name: 'web' } };
  const problemsOf = (name: string) => create('networking.k8s.io/IPAddress', { metadata: { name }, spec });
  for (const name of ['192.0.2.1', 'fe80::1', '2001:db8::ffff']) assert.deepEqual(problemsOf(name), []);
  assert.deepEqual(problemsOf('x'), ['metadata.name: Invalid value: "x": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)']);
  assert.deepEqual(problemsOf('192.0.2.01'), ['metadata.name: Invalid value: "192.0.2.01": must not have leading 0s']);
  assert.deepEqual(problemsOf('FE80::0:1'), ['metadata.name: Invalid value: "FE80::0:1": must be in canonical form ("fe80::1")']);
  assert.deepEqual(problemsOf('::ffff:192.0.2.1'), ['metadata.name: Invalid value: "::ffff:192.0.2.1": must not be an IPv4-mapped IPv6 address']);
});

test('validateIpAddress wants parents that can be found', () => {
  const path = 'spec.parentRef';
  const problemsOf = (parentRef: object) => create('networking.k8s.io/IPAddress', { metadata: { name: '192.0.2.1' }, spec: { parentRef } });
  const cases: readonly (readonly [object, readonly string[]])[] = [
    [{ group: '', resource: 'services', name: 'web', namespace: '' }, []],
    [{}, [`${path}.resource: Required value`, `${path}.name: Required value`]],
    [{ group: 'a.b' }, [`${path}.resource: Required value`, `${path}.name: Required value`]],
    [{ resource: 'a/b', name: '..', namespace: '%' }, [
      `${path}.resource: Invalid value: "a/b": may not contain '/'`, `${path}.name: Invalid value: "..": may not be '..'`,
      `${path}.namespace: Invalid value: "%": may not contain '%'`,
    ]],
  ];
  for (const [parent, errors] of cases) assert.deepEqual(problemsOf(parent), errors);
  assert.match(problemsOf({ group: 'A', resource: 'r', name: 'n' }).join(), /^spec\.parentRef\.group: Invalid value: "A": a lowercase RFC 1123 subdomain/);
});

test('validateServiceCidr takes two ranges at most', () => {
  assert.deepEqual(create('networking.k8s.io/ServiceCIDR', { spec: { cidrs: ['a', 'b', 'c'] } }),
    ['spec.cidrs: Invalid value: {"CIDRs":["a","b","c"]}: may only hold up to 2 values']);
});

test('validateServiceCidrUpdate keeps ranges, but takes one of a second family', () => {
  const errorsOf = (now: readonly string[] | undefined, ...before: string[]): readonly string[] =>
    update('networking.k8s.io/ServiceCIDR', { spec: now && { cidrs: now } }, { old: { spec: { cidrs: before } } });
  const [four, six, other] = ['10.0.0.0/24', 'fd00::/64', '10.1.0.0/24'];
  assert.deepEqual(errorsOf([other, 'x'], four, six),
    ['spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable', 'spec.cidrs[1]: Invalid value: "x": field is immutable']);
  assert.deepEqual(errorsOf(undefined, four), ['spec.cidrs: Invalid value: null: field is immutable']);
  assert.deepEqual(errorsOf([four], four, six), ['spec.cidrs: Invalid value: ["10.0.0.0/24"]: field is immutable']);
  assert.deepEqual(errorsOf([four, six], four), []);
  assert.deepEqual(errorsOf([other, four], four), [
    'spec.cidrs[0]: Invalid value: "10.1.0.0/24": field is immutable',
    'spec.cidrs: Invalid value: ["10.1.0.0/24","10.0.0.0/24"]: may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64',
  ]);
});
