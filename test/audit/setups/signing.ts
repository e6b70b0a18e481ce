// Lines about service account tokens that another program signs.
import type { Json, Request } from '../../differential/case.ts';
import type { Setup } from '../row.ts';
import { inNamespace, post, whoIs } from './files.ts';

const change = (body: Json): Request => ({ path: 'signer:', body });
const account = `${inNamespace}/serviceaccounts`;
const ask = (spec: Json = {}, save = 'token'): Request => ({ ...post(`${account}/a/token`, { spec }), save: { [save]: 'status.token' } });
const create = post(account, { metadata: { name: 'a' } });
const endpoint = '--service-account-signing-endpoint';
const run = (flags: string): Request => ({ path: `run:--etcd-servers=http://127.0.0.1:1 --service-account-issuer=https://kubernetes.default.svc ${flags}` });
const described: readonly Request[] = [
  { path: 'fields:issuer,id_token_signing_alg_values_supported/.well-known/openid-configuration' },
  { path: 'fields:keys.0.kid,keys.0.alg,keys.0.use,keys.1.kid,keys.2.kid/openid/v1/jwks' },
];

export const signing: Setup = {
  name: 'signing',
  hasSigner: true,
  flags: [`${endpoint}={dir}/signer.sock`],
  rows: [
    { line: 'N-14', what: 'tokens of an external signer', requests: [create, ask(), { path: 'jwt:{token}' }, whoIs('{token}'),
      ask({ expirationSeconds: 7201 }), ask({ expirationSeconds: 599 }), ask({ audiences: ['other'] }, 'other'), whoIs('{other}'), ...described] },
    { line: 'N-14', what: 'keys of an external signer that change', requests: [create, ask({}, 'before'), change({ keys: ['key-2', 'old!'], signing: 'key-2' }),
      ask(), { path: 'jwt:{token}' }, whoIs('{token}'), whoIs('{before}'), ask({}, 'late'), ...described,
      change({ keys: ['key-1'], signing: 'key-1' }), whoIs('{before}'), whoIs('{late}')] },
    { line: 'N-14', what: 'answers of an external signer that are wrong', requests: [create, ...[{ header: { typ: 'at+jwt' } }, { header: { kid: '' } },
      { header: { alg: 'none' } }, { header: { jku: 'x' } }, { signature: '' }, { fails: ['Sign'] }, { keys: ['key-1', 'old!'], signing: 'old' }]
      .flatMap((body) => [change(body), ask()]), change({ keys: ['key-1'], signing: 'key-1' }), ask(),
      { path: 'values:apiserver_externaljwt_sign_request_total' }, { path: 'values:apiserver_externaljwt_fetch_keys_request_total' },
      { path: 'values:apiserver_externaljwt_request_duration_seconds_count' }] },
    { line: 'M-26', what: 'a token request and the uid of its account', requests: [{ ...create, save: { uid: 'metadata.uid' } },
      { ...ask(), save: { asked: 'metadata.uid' } }, { path: `${account}/a`, until: { field: 'metadata.uid', equals: '{asked}' } },
      post(`${account}/a/token`, { metadata: { uid: '{uid}' }, spec: {} }), post(`${account}/a/token`, { metadata: { uid: 'other' }, spec: {} })] },
    { line: 'N-14', what: 'flags beside an external signer', requests: [run(`${endpoint}={dir}/signer.sock --service-account-signing-key-file={dir}/hooks.key`),
      run(`${endpoint}={dir}/signer.sock --service-account-key-file={dir}/hooks.key`)] },
  ],
};
