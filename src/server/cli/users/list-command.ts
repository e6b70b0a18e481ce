// `pintle users list`: the client certificates that were made for people, and which of them are good.
import { systemClock } from '../../../base/index.ts';
import { words } from '../../options/schema.ts';
import type { UserCertificate } from '../../tls/user-records.ts';
import { colour } from '../colour.ts';
import { type Command, print } from '../command.ts';
import { findAuthority, readAllCertificates, usersSchema } from './directory.ts';

const schema = { ...usersSchema, users: words({ flag: 'user', help: 'These users only.' }) } as const;
const colours = { valid: 'green', expired: 'yellow', revoked: 'red' } as const;
const SHOWN_DIGITS = 16;

/** Prints a table, the administrator's certificate first. */
export const usersListCommand: Command<typeof schema> = {
  name: 'users list', summary: 'List the client certificates that kubeconfigs have been made with.', schema,
  async run({ settings: { users, ...place } }) {
    const rows = readAllCertificates(findAuthority(place)).filter(({ user }) => users.length === 0 || users.includes(user)).map(describe);
    const table = [['USER', 'GROUPS', 'ISSUED', 'EXPIRES', 'FINGERPRINT', 'STATUS'], ...rows];
    const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => (row[column] as string).length))) ?? [];
    return print(table.map((row, index) => row.map((cell, column) => {
      const isStatus = index > 0 && column === row.length - 1;
      return isStatus ? colour(process.stdout, colours[cell as keyof typeof colours], cell) : cell.padEnd(widths[column] ?? 0);
    }).join('   ')).join('\n'));
  },
};

function describe({ user, groups, issued, expires, fingerprint, revoked }: UserCertificate): string[] {
  const status = revoked !== undefined ? 'revoked' : Date.parse(expires) < systemClock.now() ? 'expired' : 'valid';
  return [user, groups.join(',') || '-', issued.slice(0, 10), expires.slice(0, 10), fingerprint.slice(0, SHOWN_DIGITS), status];
}
