// `pintle kubeconfig`: a kubeconfig for somebody, with a fresh client certificate of the authority in the data directory. Works while the server
// runs or not: the certificate is all that the server needs to know who calls.
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { systemClock, systemRandom, parseDuration } from '../../base/index.ts';
import { createCertificate } from '../tls/certificates.ts';
import { formatKubeconfig } from './kubeconfig.ts';
import { StartError } from '../options/options.ts';

/** For whom. */
export interface KubeconfigRequest {
  readonly user: string;
  readonly groups: readonly string[];
  readonly dataDir: string;
  readonly certDir: string;
  /** URL of the server; '' takes it from the administrator's kubeconfig. */
  readonly server: string;
  readonly lifetimeMs: number;
}

const yearMs = 365 * 86_400_000;
const shortestMs = 60_000;

/** Reads the arguments after `kubeconfig`; a text says what is wrong with them. */
export function parseKubeconfigArguments(args: readonly string[]): KubeconfigRequest | string {
  const values = new Map<string, string[]>();
  for (let index = 0; index < args.length; index += 1) {
    const [, name = '', inline] = /^--(user|group|data-dir|cert-dir|server|lifetime)(?:=(.*))?$/s.exec(args[index] as string) ?? [];
    if (name === '') return `unknown argument: ${args[index] as string}`;
    if (inline === undefined) index += 1;
    const value = inline ?? args[index];
    if (value === undefined) return `flag needs an argument: --${name}`;
    values.set(name, [...values.get(name) ?? [], value]);
  }
  const last = (name: string, otherwise = '') => values.get(name)?.at(-1) ?? otherwise;
  const lifetimeMs = values.has('lifetime') ? parseDuration(last('lifetime')) : yearMs;
  if (typeof lifetimeMs === 'string' || lifetimeMs < shortestMs) return '--lifetime must be a duration of at least 1m';
  if (last('user') === '') return 'kubeconfig needs --user';
  const groups = (values.get('group') ?? []).flatMap((list) => list.split(',')).map((group) => group.trim()).filter((group) => group !== '');
  return { user: last('user'), groups, dataDir: last('data-dir', './.pintle'), certDir: last('cert-dir'), server: last('server'), lifetimeMs };
}

/** Answers the text of the kubeconfig. Throws StartError where there is no authority. */
export function makeKubeconfig(request: KubeconfigRequest): string {
  const root = resolve(request.dataDir);
  const directory = request.certDir === '' ? join(root, 'pki') : resolve(request.certDir);
  const read = (name: string): string => {
    const path = join(directory, name);
    if (!existsSync(path)) throw new StartError(`${directory} holds no authority; start the server once, or name its --data-dir`);
    return readFileSync(path, 'utf8');
  };
  const authority = { certificate: read('ca.crt'), key: read('ca.key') };
  const { user, groups, lifetimeMs } = request;
  const pair = createCertificate({ commonName: user, organizations: groups, issuer: authority, lifetimeMs }, { clock: systemClock, random: systemRandom });
  return formatKubeconfig({ url: request.server === '' ? findServer(root) : request.server, authority: authority.certificate, admin: pair, name: user });
}

function findServer(root: string): string {
  const path = join(root, 'admin.kubeconfig');
  const url = existsSync(path) ? /^ +server: (\S+)$/m.exec(readFileSync(path, 'utf8'))?.[1] : undefined;
  if (url === undefined) throw new StartError(`${path} does not say where the server is; give --server URL`);
  return url;
}
