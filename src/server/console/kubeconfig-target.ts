// A cluster and the credentials for it, as a kubeconfig names them: for the console of a cluster that is somewhere else.
import { dirname, resolve } from 'node:path';
import { parseYaml } from '../../codec/index.ts';
import { readTextFile } from '../data-directory.ts';
import { StartError } from '../options/options.ts';

/** Where requests go, and as which user. */
export interface ClusterTarget {
  readonly url: URL;
  /** PEM of the authorities; undefined for those of the system. */
  readonly authorities: string | undefined;
  readonly skipsVerification: boolean;
  /** The name that the certificate must hold; undefined for that of the address. */
  readonly serverName: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
  /** The Authorization header, read again where it comes from a file. */
  readonly authorization: () => string | undefined;
  /** Name of the context. */
  readonly name: string;
}

type Fields = Readonly<Record<string, unknown>>;

interface Named {
  readonly name?: string;
  readonly cluster?: Fields;
  readonly user?: Fields;
  readonly context?: Fields;
}

interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly clusters?: readonly Named[];
  readonly users?: readonly Named[];
  readonly contexts?: readonly Named[];
}

const FLAG = '--kubeconfig';

/** Ways to log in that need another program. */
const unsupported = ['exec', 'auth-provider'];

async function parseConfig(path: string): Promise<Kubeconfig> {
  try {
    return ((await parseYaml(new TextEncoder().encode(readTextFile(FLAG, path)))).value ?? {}) as Kubeconfig;
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${FLAG}: ${path} is no kubeconfig`, { cause: error });
  }
}

/** Reads the context of a kubeconfig; '' for its current one. Throws StartError for what it lacks. */
export async function readClusterTarget(path: string, contextName = ''): Promise<ClusterTarget> {
  const config = await parseConfig(path);
  const name = contextName === '' ? config['current-context'] ?? '' : contextName;
  const context = config.contexts?.find((one) => one.name === name)?.context;
  if (context === undefined) throw new StartError(`${FLAG}: ${path} has no context ${JSON.stringify(name)}`);
  const cluster = config.clusters?.find((one) => one.name === context['cluster'])?.cluster ?? {};
  const user = config.users?.find((one) => one.name === context['user'])?.user ?? {};
  const url = text(cluster, 'server') ?? '';
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new StartError(`${FLAG}: the context ${name} of ${path} names no cluster with a server`);
  const other = unsupported.find((field) => user[field] !== undefined);
  if (other !== undefined) throw new StartError(`${FLAG}: the user of the context ${name} logs in by ${other}, which the console cannot`);
  const material = (fields: Fields, field: string): string | undefined => {
    const inline = text(fields, `${field}-data`);
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    const file = text(fields, field);
    return file === undefined ? undefined : readTextFile(FLAG, resolve(dirname(path), file));
  };
  return {
    url: new URL(url), name, authorities: material(cluster, 'certificate-authority'), skipsVerification: cluster['insecure-skip-tls-verify'] === true,
    serverName: text(cluster, 'tls-server-name'), certificate: material(user, 'client-certificate'), key: material(user, 'client-key'),
    authorization: () => readAuthorization(user, path),
  };
}

/** A field of the kubeconfig that is a text and not empty. */
function text(fields: Fields, field: string): string | undefined {
  const value = fields[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function readAuthorization(user: Fields, path: string): string | undefined {
  const file = text(user, 'tokenFile');
  const token = file === undefined ? text(user, 'token') : readTextFile(FLAG, resolve(dirname(path), file)).trim();
  if (token !== undefined) return `Bearer ${token}`;
  const name = text(user, 'username');
  return name === undefined ? undefined : `Basic ${Buffer.from(`${name}:${text(user, 'password') ?? ''}`).toString('base64')}`;
}
