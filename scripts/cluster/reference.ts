// kube-apiserver in the place of this server, for runs that compare the two: with the same authorities and addresses, on an etcd of its own.
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The programs of a control plane to compare with. */
export interface Reference {
  readonly apiserver: string;
  readonly etcd: string;
}

const ETCD = 'http://127.0.0.1:2379';

/** The flags of etcd. */
export const etcdFlags = (work: string): readonly string[] => [
  `--data-dir=${work}/etcd`, `--listen-client-urls=${ETCD}`, `--advertise-client-urls=${ETCD}`, '--listen-peer-urls=http://127.0.0.1:2380', '--unsafe-no-fsync',
];

/** The flags of kube-apiserver; `data` holds certificates that this server made, and gets the key of service accounts. */
export function apiserverFlags(data: string, address: string): readonly string[] {
  const pki = join(data, 'pki');
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048, privateKeyEncoding: { type: 'pkcs8', format: 'pem' }, publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  writeFileSync(join(pki, 'sa.key'), privateKey, { mode: 0o600 });
  writeFileSync(join(pki, 'sa.pub'), publicKey);
  return [
    `--etcd-servers=${ETCD}`, '--secure-port=6443', `--bind-address=${address}`, `--advertise-address=${address}`,
    `--cert-dir=${data}/certificates`, `--tls-cert-file=${pki}/apiserver.crt`, `--tls-private-key-file=${pki}/apiserver.key`, `--client-ca-file=${pki}/ca.crt`,
    '--service-account-issuer=https://kubernetes.default.svc', `--service-account-key-file=${pki}/sa.pub`, `--service-account-signing-key-file=${pki}/sa.key`,
  ];
}

/** The flags by which servers behind APIServices believe the API server; `data` holds certificates that this server made. */
export const aggregationFlags = (data: string): readonly string[] => [
  `--requestheader-client-ca-file=${data}/pki/ca.crt`, '--requestheader-allowed-names=kubernetes-admin', '--requestheader-username-headers=X-Remote-User',
  '--requestheader-group-headers=X-Remote-Group', '--requestheader-extra-headers-prefix=X-Remote-Extra-',
  `--proxy-client-cert-file=${data}/pki/admin.crt`, `--proxy-client-key-file=${data}/pki/admin.key`,
];
