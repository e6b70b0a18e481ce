// Attacks that are single requests: bodies, numbers, paths and names that a server must answer quickly and with the right status.
import { gzipSync } from 'node:zlib';
import { type Attack, type AttackRequest, CONFIG_MAPS, configMap, describe, send } from './attack.ts';

interface Row {
  readonly number: string;
  readonly name: string;
  readonly request: AttackRequest;
  /** Statuses that are right. */
  readonly expected: readonly number[];
}

const post = (body: unknown, more: Partial<AttackRequest> = {}): AttackRequest => ({ method: 'POST', path: `${CONFIG_MAPS}?dryRun=All`, body, ...more });
const postYaml = (body: string): AttackRequest => post(body, { type: 'application/yaml' });
const list = (query: string): AttackRequest => ({ path: `${CONFIG_MAPS}?${query}` });
const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n';

const podWithCpu = (cpu: string): object => ({
  apiVersion: 'v1', kind: 'Pod', metadata: { name: 'q' },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i', resources: { limits: { cpu } } }] },
});
const postPod = (cpu: string): AttackRequest => ({ method: 'POST', path: '/api/v1/namespaces/alice/pods?dryRun=All', body: podWithCpu(cpu) });

/** A YAML alias that expands tenfold in each of nine levels. */
const laughs = ['a: &a ["x","x","x","x","x","x","x","x","x"]', ...'bcdefghi'.split('').map((letter, at) => {
  const before = 'abcdefgh'[at] as string;
  return `${letter}: &${letter} [${Array(9).fill(`*${before}`).join(',')}]`;
})].join('\n');

const scalarAliases = (size: number, count: number): string => `${head}x: &x "${'y'.repeat(size)}"\nz: [${Array(count).fill('*x').join(',')}]\n`;

const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `v${index}`);

const protobuf = (hex: string): AttackRequest => post(Buffer.from(hex, 'hex'), { type: 'application/vnd.kubernetes.protobuf' });

const allRights = {
  apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: { name: 'all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
};

const times = (count: number, text: string): string => text.repeat(count);
const inGroup = (group: string, kind: string, plural: string, more: object): AttackRequest =>
  ({ method: 'POST', path: `/apis/${group}/v1/namespaces/alice/${plural}?dryRun=All`, body: { apiVersion: `${group}/v1`, kind, metadata: { name: 'x' }, ...more } });
const jobTemplate = { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } };

const rows: readonly Row[] = [
  { number: '1', name: 'JSON nested 100,000 deep', request: post(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), expected: [400] },
  { number: '2', name: 'a body of 4 MB', request: post(configMap('big', { x: 'y'.repeat(4_000_000) })), expected: [413] },
  { number: '3', name: 'a ConfigMap of 1.9 MB', request: post(configMap('big', { x: 'y'.repeat(1_900_000) })), expected: [422] },
  { number: '4', name: 'YAML aliases that multiply', request: postYaml(`${head}${laughs}\n`), expected: [400] },
  { number: '4', name: 'YAML aliases of a scalar: 7 KB, 3,000 times', request: postYaml(scalarAliases(7000, 3000)), expected: [400, 413] },
  { number: '4', name: 'YAML aliases of a scalar: 1 MB, 100,000 times', request: postYaml(scalarAliases(1_000_000, 100_000)), expected: [400, 413] },
  { number: '5', name: 'YAML of a million colons', request: postYaml(':'.repeat(1_000_000)), expected: [400] },
  { number: '5', name: 'YAML of a million brackets', request: postYaml('['.repeat(1_000_000)), expected: [400] },
  { number: '7', name: 'a quantity with an exponent of ten million', request: postPod('1e10000000'), expected: [201, 400, 422] },
  { number: '7', name: 'a quantity with an exponent of a billion', request: postPod('1e1000000000'), expected: [201, 400, 422] },
  { number: '8', name: 'a quantity of 2,000 zeros', request: postPod(`${'0'.repeat(2000)}x`), expected: [400, 422] },
  { number: '8', name: 'a quantity of a million digits', request: postPod(`${'1'.repeat(1_000_000)}x`), expected: [400, 422] },
  { number: '9', name: 'a duplicate field, strictly', request: post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"1","a":"2"}}',
    { path: `${CONFIG_MAPS}?dryRun=All&fieldValidation=Strict` }), expected: [400] },
  { number: '10', name: '__proto__ as a key of data', request: post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"__proto__":"1"}}'),
    expected: [201] },
  { number: '12', name: 'a generation beyond 2^53',
    request: post('{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","generation":9223372036854775807}}'),
    expected: [201] },
  { number: '13', name: 'a label selector of 60 kB', request: list(`labelSelector=${'a%20in%20(b),'.repeat(4500)}`), expected: [400, 414, 431] },
  { number: '13', name: 'a field selector of 60 kB', request: list(`fieldSelector=${'a%3Db,'.repeat(9000)}`), expected: [400, 414, 431] },
  { number: '13', name: 'a label selector of 450,000 requirements', request: list(`labelSelector=a${',a'.repeat(450_000)}`), expected: [200] },
  { number: '13', name: 'a set of 120,000 values', request: list(`labelSelector=a%20in%20(${numbered(120_000).join(',')})`), expected: [200] },
  { number: '13', name: 'a field selector of 900,000 commas', request: list(`fieldSelector=${','.repeat(900_000)}`), expected: [200] },
  { number: '13', name: 'a comparison with 900,000 digits', request: list(`labelSelector=a>${'1'.repeat(900_000)}`), expected: [400] },
  { number: '60', name: '900,000 digits as a resource version', request: list(`resourceVersion=${'1'.repeat(900_000)}`), expected: [400] },
  { number: '60', name: '900,000 digits as a limit', request: list(`limit=${'1'.repeat(900_000)}`), expected: [400] },
  { number: '60', name: 'a query of 450,000 parameters', request: list('a&'.repeat(450_000)), expected: [200] },
  { number: '60', name: 'a path of 450,000 segments', request: { path: `/api/v1/namespaces/alice/pods/x/proxy${'/a'.repeat(450_000)}` }, expected: [403, 404] },
  { number: '60', name: 'a path of 900,000 slashes', request: { path: '/'.repeat(900_000) }, expected: [403, 404] },
  { number: '60', name: 'a media type of 200,000 parameters', request: { path: CONFIG_MAPS, headers: { accept: `application/json${times(200_000, ';a=b')}` } },
    expected: [200] },
  { number: '33', name: 'a host of 700,000 labels', expected: [422],
    request: inGroup('networking.k8s.io', 'Ingress', 'ingresses', { spec: { rules: [{ host: `${times(700_000, 'a.')}a` }] } }) },
  { number: '33', name: 'a time zone of 1.4 MB', expected: [422],
    request: inGroup('batch', 'CronJob', 'cronjobs', { spec: { schedule: '* * * * *', timeZone: times(700_000, 'A/'), jobTemplate } }) },
  { number: '33', name: 'a pool of 400,000 parts', expected: [422], request: {
    method: 'POST', path: '/apis/resource.k8s.io/v1/resourceslices?dryRun=All', token: 'admin-token', body: {
      apiVersion: 'resource.k8s.io/v1', kind: 'ResourceSlice', metadata: { name: 'x' }, spec: {
        driver: 'a', nodeName: 'n', pool: { name: times(400_000, 'A/'), resourceSliceCount: 1, generation: 1 } } } } },
  { number: '1', name: 'credentials of a registry nested 700,000 deep', expected: [422], request: {
    method: 'POST', path: '/api/v1/namespaces/alice/secrets?dryRun=All', body: {
      apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from('['.repeat(700_000)).toString('base64') } } } },
  { number: '40', name: 'a review of 100,000 requirements', request: { method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: {
      verb: 'list', resource: 'pods', labelSelector: { requirements: Array.from({ length: 100_000 }, () => ({})) } } } } }, expected: [413] },
  { number: '40', name: 'a review with a selector of 3 MB', request: { method: 'POST', path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes: {
      verb: 'list', resource: 'pods', labelSelector: { rawSelector: numbered(350_000).join(' ') } } } } }, expected: [201] },
  { number: '16', name: 'a body that gzip blows up', request: post(gzipSync(Buffer.alloc(100_000_000)), { headers: { 'content-encoding': 'gzip' } }),
    expected: [400, 413, 415] },
  { number: '17', name: 'protobuf cut in the middle', request: protobuf('6b3873000a0c0a02763112'), expected: [400] },
  { number: '17', name: 'protobuf with a length of 2 GB', request: protobuf('6b3873000affffffff07'), expected: [400] },
  { number: '18', name: 'CBOR nested without end', request: post(Buffer.alloc(100_000, 0x81), { type: 'application/cbor' }), expected: [400, 415] },
  { number: '26', name: 'a namespace named ..', request: { path: '/api/v1/namespaces/../configmaps' }, expected: [400, 403, 404, 500] },
  { number: '26', name: 'a namespace named %2e%2e', request: { path: '/api/v1/namespaces/%2e%2e/configmaps' }, expected: [400, 403, 404, 500] },
  { number: '27', name: 'an object named ..', request: { path: `${CONFIG_MAPS}/..` }, expected: [400, 403, 404] },
  { number: '27', name: 'an object named a%2Fb', request: { path: `${CONFIG_MAPS}/a%2Fb` }, expected: [400, 403, 404] },
  { number: '28', name: 'bob\'s objects by a path with dots', request: { path: `${CONFIG_MAPS}/../../bob/configmaps/mine` }, expected: [403, 404] },
  { number: '29', name: 'a continue token for another prefix',
    request: list(`limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"../../secrets/bob/x"}').toString('base64url')}`), expected: [400] },
  { number: '30', name: 'a continue token with a huge version',
    request: list(`limit=1&continue=${Buffer.from('{"v":"meta.k8s.io/v1","rv":9000000000000000,"start":"a\\u0000"}').toString('base64url')}`),
    expected: [400, 410, 504] },
  { number: '31', name: 'a limit of 2^63', request: list('limit=9223372036854775808'), expected: [400] },
  { number: '31', name: 'a limit that is no number', request: list('limit=NaN'), expected: [400] },
  { number: '31', name: 'a negative limit', request: list('limit=-1'), expected: [200, 400] },
  { number: '32', name: 'a watch from version -1', request: list('watch=1&resourceVersion=-1&timeoutSeconds=1'), expected: [500] },
  { number: '32', name: 'a list at a version of the far future', request: list('resourceVersion=9000000000000000'), expected: [504] },
  { number: '33', name: 'a name of 254 characters', request: post(configMap('x'.repeat(254), {})), expected: [422] },
  { number: '33', name: 'a name of look-alike letters', request: post(configMap('аdmin', {})), expected: [422] },
  { number: '34', name: 'X-Remote-User without a front proxy',
    request: { path: '/api/v1/secrets', headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' } },
    expected: [403] },
  { number: '36', name: 'impersonation without the right', request: { path: '/api/v1/secrets', headers: { 'impersonate-user': 'admin' } }, expected: [403] },
  { number: '36', name: 'an impersonated uid without a user', request: { path: '/api/v1/secrets', token: 'admin-token', headers: { 'impersonate-uid': '1' } },
    expected: [400, 500] },
  { number: '38', name: 'a role beyond one\'s own rights', expected: [403], request: {
    method: 'POST', path: '/apis/rbac.authorization.k8s.io/v1/namespaces/alice/roles', body: allRights } },
  { number: '42', name: 'a JWT without a signature', request: { path: CONFIG_MAPS,
    token: `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from('{"sub":"system:admin"}').toString('base64url')}.` }, expected: [401] },
  { number: '47', name: 'metrics without credentials', request: { path: '/metrics', token: null }, expected: [401, 403] },
  { number: '47', name: 'profiles without credentials', request: { path: '/debug/pprof/', token: null }, expected: [401, 403, 404] },
  { number: '49', name: 'an object of another namespace', request: { path: '/api/v1/namespaces/bob/configmaps/mine' }, expected: [403] },
  { number: '49', name: 'an object that another namespace does not have', request: { path: '/api/v1/namespaces/bob/configmaps/none' }, expected: [403] },
];

/** Each row as an attack. */
export const requestAttacks: readonly Attack[] = rows.map(({ number, name, request, expected }) => ({
  number, name,
  async run(victim) {
    const answer = await send(victim, request);
    return { holds: expected.includes(answer.status), answer: `${describe(answer)} (wanted ${expected.join(' or ')})` };
  },
}));
