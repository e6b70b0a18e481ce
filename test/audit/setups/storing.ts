// Lines about what is in the store: keys, forms, encryption, and what cannot be read.
import type { Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, post } from './files.ts';
import { valueRows } from './values.ts';

const key = (name: string, byte: string): unknown => ({ name, secret: Buffer.from(byte.repeat(32)).toString('base64') });
const encryption = JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [
  { resources: ['secrets'], providers: [{ aescbc: { keys: [key('k1', 'a')] } }, { identity: {} }] },
  { resources: ['*.apps'], providers: [{ aesgcm: { keys: [key('g1', 'g')] } }] }, { resources: ['endpoints'], providers: [{ secretbox: { keys: [key('b1',
    'b')] } }] }, { resources: ['things.sealed.example.com'], providers: [{ aescbc: { keys: [key('k1', 'a')] } }, { identity: {} }] },
] });
const secrets = `${inNamespace}/secrets`;
const secret = (name: string) => post(secrets, { metadata: { name }, stringData: { k: 'v' } });
const broken: Request = { method: 'PUT', path: 'etcd:/registry/secrets/{ns}/z', body: 'k8s:enc:aescbc:v1:k9:0123456789abcdef0123456789abcdef' };
/** The value again, in the clear: no other row shall meet what cannot be read. */
const repaired: Request = { method: 'PUT', path: 'etcd:/registry/secrets/{ns}/z',
  body: '{"kind":"Secret","apiVersion":"v1","metadata":{"name":"z","namespace":"{ns}"},"type":"Opaque"}' };
const things = '/apis/sealed.example.com/v1/namespaces/{ns}/things';
const thing = '/registry/sealed.example.com/things/{ns}/a';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export const storing: Setup = {
  name: 'storing',
  isOnEtcd: true,
  flags: ['--encryption-provider-config={dir}/encryption.json', '--event-ttl=3s',
    '--storage-media-type=application/vnd.kubernetes.protobuf'],
  files: { 'encryption.json': encryption },
  rows: [
    { line: 'V-02 V-03', what: 'keys and forms of values', requests: [configMap('a'), post(`${inNamespace}/services`, { metadata: { name: 's' },
      spec: { ports: [{ port: 1 }] } }),
      post(`${inNamespace}/replicationcontrollers`, { metadata: { name: 'r' }, spec: { replicas: 0, selector: { a: 'b' },
        template: { metadata: { labels: { a: 'b' } },
        spec: { containers: [{ name: 'c', image: 'i' }] } } } }), post('/api/v1/nodes', { metadata: { name: 'n-{id}' } }),
      post('/apis/networking.k8s.io/v1/namespaces/{ns}/ingresses', { metadata: { name: 'i' }, spec: { defaultBackend: { service: { name: 's',
        port: { number: 1 } } } } }),
      post('/apis/coordination.k8s.io/v1/namespaces/{ns}/leases', { metadata: { name: 'l' } }),
      post('/apis/rbac.authorization.k8s.io/v1/namespaces/{ns}/roles', { metadata: { name: 'r' } }),
      post(definitions, { metadata: { name: 'things.{id}.example.com' }, spec: { group: '{id}.example.com', scope: 'Namespaced', names: { plural: 'things',
        kind: 'Thing' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }),
      { path: '/apis/{id}.example.com/v1/namespaces/{ns}/things', until: { field: 'kind', equals: 'ThingList' } },
      { ...post('/apis/{id}.example.com/v1/namespaces/{ns}/things', { apiVersion: '{id}.example.com/v1', kind: 'Thing', metadata: { name: 't' } }),
        until: { field: 'kind', equals: 'Thing' } },
      ...['configmaps/{ns}/', 'services/specs/{ns}/', 'services/endpoints/{ns}/', 'controllers/{ns}/', 'minions/n-{id}', 'ingress/{ns}/', 'leases/{ns}/',
        'roles/{ns}/',
        'namespaces/{ns}', 'apiextensions.k8s.io/customresourcedefinitions/things.{id}', '{id}.example.com/things/{ns}/']
        .map((at) => ({ path: `etcd:/registry/${at}` }))] },
    { line: 'V-13', what: 'values that are encrypted', requests: [secret('s'), { path: 'etcd:/registry/secrets/{ns}/' }, { path: `${secrets}/s` },
      post(`${inNamespace}/endpoints`, { metadata: { name: 'e' } }), { path: 'etcd:/registry/services/endpoints/{ns}/' },
      post('/apis/apps/v1/namespaces/{ns}/controllerrevisions', { metadata: { name: 'c' }, revision: 1, data: { a: 'b' } }),
        { path: 'etcd:/registry/controllerrevisions/{ns}/' }] },
    { line: 'J-41 V-17', what: 'a value that cannot be decrypted', requests: [secret('a'), secret('z'), broken, { path: `${secrets}/z` },
      { path: `${secrets}/a` },
      { method: 'DELETE', path: `${secrets}/z` }, repaired, { path: `${secrets}/z`, pauseMs: 500 }] },
    { line: 'J-40', what: 'a list with a value that cannot be decrypted', requests: [secret('a'), secret('z'), broken, { path: secrets }, repaired] },
    { line: 'K-22 V-09', what: 'a kind of which a value cannot be read from the start', requests: [{ ...broken, path: `etcd:${thing}` },
      post(definitions, { metadata: { name: 'things.sealed.example.com' }, spec: { group: 'sealed.example.com', scope: 'Namespaced', names: {
        plural: 'things', kind: 'Thing' }, versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }] } }),
      { path: '/apis/sealed.example.com/v1', until: { field: 'resources.0.name', equals: 'things' } },
      { path: things, until: { field: 'code', equals: 429 } }, { path: things, shows: ['retry-after'], pauseMs: 1000 },
      { method: 'PUT', path: `etcd:${thing}`, body: '{"apiVersion":"sealed.example.com/v1","kind":"Thing","metadata":{"name":"a","namespace":"{ns}"}}' },
      { path: things, until: { field: 'kind', equals: 'ThingList' } }, { path: things }] },
    { line: 'V-15', what: 'a value in the clear is encrypted by a write without effect', requests: [{ ...secret('s'), save: { uid: 'metadata.uid' } },
      { method: 'PUT', path: 'etcd:/registry/secrets/{ns}/s', body: JSON.stringify({ kind: 'Secret', apiVersion: 'v1', metadata: { name: 's',
        namespace: '{ns}', uid: '{uid}',
        creationTimestamp: '2001-02-03T04:05:06Z' }, type: 'Opaque' }) }, { path: `${secrets}/s`, pauseMs: 500 },
      { method: 'PATCH', path: `${secrets}/s`, type: 'application/merge-patch+json', body: {} }, { path: 'etcd:/registry/secrets/{ns}/' },
        { path: `${secrets}/s` }] },
    { line: 'V-11 W-24 I-33', what: 'events come to their end', requests: [post(`${inNamespace}/events`, { metadata: { name: 'e' },
      involvedObject: { namespace: '{ns}', kind: 'Pod', name: 'p' }, reason: 'R', message: 'm' }), { path: 'etcd:/registry/events/{ns}/' },
      { path: `${inNamespace}/events?watch=1&timeoutSeconds=9&resourceVersion=0` }, { path: `${inNamespace}/events` }, { path: `${inNamespace}/events/e` }] },
    ...valueRows,
  ],
};
