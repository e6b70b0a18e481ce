// Lines about values that cannot be read, with the gate that lets them be removed, and about a store that refuses or does not answer.
import type { Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { configMap, inNamespace, post } from './files.ts';

const secrets = `${inNamespace}/secrets`;
const maps = `${inNamespace}/configmaps`;
const unsafe = 'ignoreStoreReadErrorWithClusterBreakingPotential=true';
const secret = (name: string): Request => post(secrets, { metadata: { name }, stringData: { k: 'v' } });
const write = (path: string, body: string): Request => ({ method: 'PUT', path: `etcd:/registry/${path}`, body });
/** A value that no key decrypts. */
const sealed = 'k8s:enc:aescbc:v1:k9:0123456789abcdef0123456789abcdef';
const broken = (name: string): Request => write(`secrets/{ns}/${name}`, sealed);
const templates = `${inNamespace}/podtemplates`;
const template = (name: string): Request => post(templates, { metadata: { name }, template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{
  name: 'c', image: 'i' }] } } });

export const unreadable: Setup = {
  name: 'unreadable',
  isOnEtcd: true,
  flags: ['--encryption-provider-config={dir}/encryption.json', '--feature-gates=AllowUnsafeMalformedObjectDeletion=true',
    '--watch-cache-sizes=podtemplates#0'],
  files: { 'encryption.json': JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'EncryptionConfiguration', resources: [{
    resources: ['*.*'], providers: [{ aescbc: { keys: [{ name: 'k1', secret: Buffer.from('a'.repeat(32)).toString('base64') }] } }, { identity: {} }] }] }) },
  rows: [
    { line: 'K-31', what: 'values that become unreadable while their kind is watched', requests: [template('z'),
      { path: `open:w${templates}?watch=1` }, { path: 'heard:w?1' }, write('podtemplates/{ns}/z', sealed), { path: 'heard:w' }] },
    { line: 'I-31', what: 'a value that cannot be read, and its removal', requests: [secret('y'), broken('y'),
      template('y'), write('podtemplates/{ns}/y', sealed), { path: `${secrets}/y` },
      { path: secrets }, { path: `${secrets}?limit=1` }, { path: templates }, { method: 'DELETE', path: `${secrets}/y` },
      { method: 'DELETE', path: `${secrets}/y?dryRun=All&${unsafe}` }, { method: 'DELETE', path: `${secrets}/y?${unsafe}` }, { path: `${secrets}/y` }] },
    { line: 'F-48', what: 'an object that is too large with the fields of its manager', requests: [{ ...configMap('a', { data: Object.fromEntries(
      Array.from({ length: 9000 }, (_, i) => [`key-${i}-${'x'.repeat(90)}`, 'v'.repeat(20)])) }), parts: ['/metadata', '/data#'] },
    { path: `${maps}/a`, parts: ['/metadata', '/data#'] }] },
    { line: 'D-44', what: 'a store that does not answer', requests: [configMap('a'), { path: 'etcdsignal:SIGSTOP' },
      { ...configMap('b'), path: `${maps}?timeout=1s` }, { path: `${maps}?timeout=1s&resourceVersion=0` },
      { path: 'etcdsignal:SIGCONT' }, { path: maps, until: { field: 'kind', equals: 'ConfigMapList' } },
      { ...configMap('c'), until: { field: 'kind', equals: 'ConfigMap' } }, { path: `${maps}/c` }] },
  ],
};
