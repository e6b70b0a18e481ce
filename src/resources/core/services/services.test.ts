// Services, in the words of the reference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, prepareChanged, prepareNew, updateFrom, updateStatus, warn } from '../../kinds.suite.ts';

/** Kind, body, and the errors of the reference. */
const refused: readonly (readonly [string, object, readonly string[]])[] = [
  ['/Service', { spec: { ports: [{ port: 0 }] } }, [
    'spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive',
    'spec.ports[0].targetPort: Invalid value: 0: must be between 1 and 65535, inclusive',
  ]],
  ['/Service', { spec: { ports: [{ name: 'a', port: 80, nodePort: 30000 }, { name: 'b', port: 81, nodePort: 30000 }] } }, [
    "spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'",
    "spec.ports[1].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'", 'spec.ports[1].nodePort: Duplicate value: 30000',
  ]],
];
for (const [index, [key, body, errors]] of refused.entries()) {
  test(`validate refuses what the reference refuses: ${key} ${index}`, () => assert.deepEqual(create(key, body), errors));
}

test('validateServiceStatus knows which Service has a load balancer, and how it is reached', () => {
  const status = (...ingress: object[]): object => ({ loadBalancer: { ingress } });
  assert.deepEqual(updateStatus('/Service', { spec: { type: 'ClusterIP' }, status: status({ ip: '1.2.3.4' }) }),
    ["status.loadBalancer.ingress: Forbidden: may only be used when `spec.type` is 'LoadBalancer'"]);
  const balanced = { spec: { type: 'LoadBalancer' }, status: status({ ip: '1.2.3.4', hostname: '1.2.3.4' }, { ipMode: 'VIP' }) };
  assert.deepEqual(updateStatus('/Service', balanced), [
    'status.loadBalancer.ingress[0].hostname: Invalid value: "1.2.3.4": must be a DNS name, not an IP address',
    'status.loadBalancer.ingress[0].ipMode: Required value: must be specified when `ip` is set',
    'status.loadBalancer.ingress[1].ipMode: Forbidden: may not be specified when `ip` is not set',
  ]);
});

test('checkRange and names of ports of services are strict', () => {
  const errorsOf = (spec: object): readonly string[] => create('/Service', { spec: { ports: [{ port: 80 }], type: 'LoadBalancer', ...spec } });
  assert.deepEqual(errorsOf({ loadBalancerSourceRanges: ['1.2.3.4/8', '010.0.0.0/8', ' 10.0.0.0/8 '] }), [
    'spec.LoadBalancerSourceRanges[0]: Invalid value: "1.2.3.4/8": must not have bits set beyond the prefix length',
    'spec.LoadBalancerSourceRanges[1]: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length',
  ]);
  assert.deepEqual(errorsOf({ ports: [{ port: 80, name: 'a.b', appProtocol: '' }] }).map((error) => error.slice(0, 60)), [
    'spec.ports[0].name: Invalid value: "a.b": must not contain d', 'spec.ports[0].appProtocol: Invalid value: "": name part must',
    'spec.ports[0].appProtocol: Invalid value: "": name part must',
  ]);
});

test('warnings of services name what their type ignores', () => {
  assert.deepEqual(warn('/Service', { spec: { type: 'ClusterIP', clusterIP: 'None', sessionAffinity: 'ClientIP', externalName: 'x' } }), [
    'spec.SessionAffinity is ignored for headless services', 'spec.externalName is ignored when spec.type is not "ExternalName"',
  ]);
  assert.deepEqual(warn('/Service', { spec: { type: 'ClusterIP', clusterIPs: ['FD00::1'], loadBalancerSourceRanges: ['10.0.0.1/8'] } }), [
    'spec.clusterIPs[0]: IPv6 address "FD00::1" should be in RFC 5952 canonical format ("fd00::1")',
    'spec.loadBalancerSourceRanges[0]: CIDR value "10.0.0.1/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.0.0.1/32"?)',
  ]);
});

test('validateService accepts canonical external addresses only, and others that are stored already', () => {
  const service = (...externalIPs: string[]): object => ({ spec: { ports: [{ port: 80 }], externalIPs } });
  assert.deepEqual(create('/Service', service('010.1.1.1', '127.0.0.1')), [
    'spec.externalIPs[0]: Invalid value: "010.1.1.1": must not have leading 0s',
    'spec.externalIPs[1]: Invalid value: "127.0.0.1": may not be in the loopback range (127.0.0.0/8, ::1/128)',
  ]);
  assert.deepEqual(updateFrom('/Service', service('010.1.1.1'), service('010.1.1.1')), []);
});

test('a Service that names another host has no internalTrafficPolicy', () => {
  const spec = { type: 'ExternalName', externalName: 'a.example.com', internalTrafficPolicy: 'Local' };
  assert.deepEqual(prepareNew('/Service', { spec })['spec'], { type: 'ExternalName', externalName: 'a.example.com' });
});

test('an update to an unknown type keeps the addresses', () => {
  const addresses = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' };
  const service = (type: string): object => ({ spec: { ports: [{ port: 80 }], type, ...addresses } });
  const spec = prepareChanged('/Service', { object: service('x'), old: service('ClusterIP') })['spec'] as Record<string, unknown>;
  assert.deepEqual(spec['clusterIPs'], ['10.0.0.1']);
});

test('validateService reads the ranges of a load balancer in the annotation where the spec has none', () => {
  const key = 'service.beta.kubernetes.io/load-balancer-source-ranges';
  const service = (ranges: string, spec: object = { type: 'LoadBalancer' }): object =>
    ({ metadata: { name: 'a', annotations: { [key]: ranges } }, spec: { ports: [{ port: 80 }], ...spec } });
  const path = `metadata.annotations[${key}]`;
  assert.deepEqual(create('/Service', service(' 10.0.0.0/8 , fd00::/8 ')), []);
  assert.deepEqual(create('/Service', service(' ')), []);
  assert.deepEqual(create('/Service', service('10.0.0.0/8,x,010.0.0.0/8', { type: 'NodePort' })), [
    `${path}: Forbidden: may only be used when \`type\` is 'LoadBalancer'`,
    `${path}: Invalid value: "x": must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)`,
    `${path}: Invalid value: "010.0.0.0/8": must not have leading 0s in IP or prefix length`,
  ]);
  assert.deepEqual(create('/Service', service('x', { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/8'] })), []);
  assert.deepEqual(updateFrom('/Service', service('010.0.0.0/8'), service('010.0.0.0/8')), []);
  assert.equal(updateFrom('/Service', service('010.0.0.0/8,10.0.0.0/8'), service('010.0.0.0/8')).length, 1);
});

test('validateService keeps ranges of a load balancer that are stored already', () => {
  const service = (...loadBalancerSourceRanges: string[]): object =>
    ({ spec: { type: 'LoadBalancer', ports: [{ port: 80 }], loadBalancerSourceRanges } });
  assert.deepEqual(updateFrom('/Service', service('010.0.0.0/8 '), service(' 010.0.0.0/8')), []);
});

test('validateService wants both annotations of topology to say the same, and takes any port behind a load balancer', () => {
  const [mode, hints] = ['service.kubernetes.io/topology-mode', 'service.kubernetes.io/topology-aware-hints'];
  const service = (annotations: object): object => ({ metadata: { name: 'a', annotations }, spec: { type: 'LoadBalancer', ports: [{ port: 10_250 }] } });
  assert.deepEqual(create('/Service', service({ [mode]: 'Auto', [hints]: 'Disabled' })),
    [`metadata.annotations[${mode}]: Invalid value: "Auto": must match annotations[${hints}] when both are specified`]);
  for (const annotations of [{ [mode]: 'Auto', [hints]: 'Auto' }, { [mode]: 'Auto' }]) assert.deepEqual(create('/Service', service(annotations)), []);
});
