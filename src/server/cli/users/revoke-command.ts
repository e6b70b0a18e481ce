// `pintle users revoke`: client certificates that are good no more. The server reads the record within a second or so.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../base/index.ts';
import { readTextFile } from '../../data-directory.ts';
import { StartError } from '../../options/options.ts';
import { text } from '../../options/schema.ts';
import { type UserCertificate, describeUserCertificate, recordRevoked } from '../../tls/user-records.ts';
import { type Command, print } from '../command.ts';
import { findAuthority, readAdministrator, readAllCertificates, usersSchema } from './directory.ts';

const schema = {
  ...usersSchema,
  user: text({ flag: 'user', help: 'Revoke all certificates of this user that are on record.' }),
  fingerprint: text({ flag: 'fingerprint', help: 'Revoke this one: at least 8 digits of what users list prints.' }),
  kubeconfig: text({ flag: 'kubeconfig', help: 'Revoke the certificate in this file, whether it is on record or not.' }),
} as const;

const SHORTEST_FINGERPRINT = 8;

/** Revokes and prints what was revoked. */
export const usersRevokeCommand: Command<typeof schema> = {
  name: 'users revoke', summary: 'Revoke client certificates; a running server refuses them from then on.', schema, argument: 'user',
  async run({ settings: { user, fingerprint, kubeconfig, ...place } }) {
    const directory = findAuthority(place);
    const given = [user, fingerprint, kubeconfig].filter((one) => one !== '');
    if (given.length !== 1) throw new StartError('users revoke needs one of --user, --fingerprint and --kubeconfig');
    if (fingerprint !== '' && fingerprint.length < SHORTEST_FINGERPRINT) throw new StartError(`--fingerprint needs at least ${SHORTEST_FINGERPRINT} digits`);
    const found = kubeconfig === ''
      ? readAllCertificates(directory).filter((one) => (user === '' ? one.fingerprint.startsWith(fingerprint.toLowerCase()) : one.user === user))
      : [readCertificate(kubeconfig)];
    const rest = found.filter(({ revoked }) => revoked === undefined);
    if (found.length === 0) throw new StartError(`no certificate of ${user || fingerprint} is on record; users list prints them, --kubeconfig takes one from a file`);
    for (const one of rest) revoke(directory, one);
    return print(rest.length === 0 ? 'all of them were revoked before' : 'a running server refuses them within two seconds; watches that are open go on until their time is over');
  },
};

function revoke(directory: string, { user, fingerprint }: UserCertificate): void {
  recordRevoked(directory, fingerprint, systemClock);
  print(`revoked ${user} ${fingerprint}`);
  if (readAdministrator(directory)?.fingerprint !== fingerprint) return;
  for (const name of ['admin.crt', 'admin.key']) rmSync(join(directory, name));
  print('it was the administrator\'s: restart the server, which makes another with an admin.kubeconfig');
}

function readCertificate(path: string): UserCertificate {
  const encoded = /^ +client-certificate-data: ["']?([A-Za-z0-9+/=]+)["']?$/m.exec(readTextFile('--kubeconfig', path))?.[1];
  try {
    return describeUserCertificate(Buffer.from(encoded ?? '', 'base64').toString());
  } catch (error) {
    throw new StartError(`--kubeconfig: ${path} holds no client certificate`, { cause: error });
  }
}
