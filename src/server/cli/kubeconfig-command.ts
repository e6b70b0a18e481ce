// `pintle kubeconfig`: a kubeconfig for a user, with a fresh client certificate of the authority in the data directory. Works while the server runs
// or not: the certificate is all that the server needs to identify the caller.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock, systemRandom } from '../../base/index.ts';
import { StartError } from '../options/options.ts';
import { type SettingsOf, duration, text, words } from '../options/schema.ts';
import { createCertificate } from '../tls/certificates.ts';
import { recordIssued } from '../tls/user-records.ts';
import { type Command, print } from './command.ts';
import { formatKubeconfig } from './kubeconfig.ts';
import { findAuthority, usersSchema } from './users/directory.ts';

const SHORTEST_LIFETIME_MS = 60_000;

const schema = {
  user: text({ flag: 'user', help: 'Name of the user.' }),
  groups: words({ flag: 'group', help: 'Groups of the user.' }),
  ...usersSchema,
  server: text({ flag: 'server', help: 'URL of the server; by default the one of the administrator\'s kubeconfig.' }),
  lifetimeMs: duration({ flag: 'lifetime', default: 365 * 86_400_000, flagDefault: '8760h', help: 'How long the certificate is valid; at least 1m.' }),
} as const;

/** Which user, and where the server is. */
export type KubeconfigRequest = SettingsOf<typeof schema>;

/** Prints a kubeconfig. */
export const kubeconfigCommand: Command<typeof schema> = {
  name: 'kubeconfig', summary: 'Print a kubeconfig for a user, with a client certificate made for it.', schema,
  run: async ({ settings }) => print(makeKubeconfig(settings).trimEnd()),
};

/** Returns the text of the kubeconfig. Throws StartError where there is no authority. */
export function makeKubeconfig(request: KubeconfigRequest): string {
  const { user, groups, lifetimeMs } = request;
  if (user === '') throw new StartError('kubeconfig needs --user');
  if (lifetimeMs < SHORTEST_LIFETIME_MS) throw new StartError('--lifetime must be a duration of at least 1m');
  const directory = findAuthority(request, ['ca.crt', 'ca.key']);
  const [certificate, key] = ['ca.crt', 'ca.key'].map((name) => readFileSync(join(directory, name), 'utf8')) as [string, string];
  const wanted = { commonName: user, organizations: groups, issuer: { certificate, key }, lifetimeMs };
  const pair = createCertificate(wanted, { clock: systemClock, random: systemRandom });
  recordIssued(directory, pair.certificate, systemClock);
  const url = request.server === '' ? findServer(resolve(request.dataDir)) : request.server;
  return formatKubeconfig({ url, authority: certificate, admin: pair, name: user });
}

function findServer(root: string): string {
  const path = join(root, 'admin.kubeconfig');
  const url = existsSync(path) ? /^ +server: (\S+)$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
  if (url === undefined) throw new StartError(`${path} does not say where the server is; give --server URL`);
  return url;
}
