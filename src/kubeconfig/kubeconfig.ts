// The address of a server and the credentials for it: from a kubeconfig as kubectl reads it, or from inside of a cluster. Certificates, tokens (in
// files too), passwords and programs that print credentials are understood.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Clock } from '../base/index.ts';
import { YamlError, parseYaml } from '../codec/index.ts';

/** A kubeconfig that cannot be used. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

/** What a connection shows of itself. */
interface Credentials {
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** How a server is reached. */
export interface ClusterAccess {
  /** The context; `in-cluster` for the service account of a Pod. */
  readonly name: string;
  /** Without a slash at its end. */
  readonly url: string;
  /** PEM; undefined: the authorities of the system. */
  readonly authorities: string | undefined;
  readonly verifies: boolean;
  /** The name that the server's certificate must have, where it is another than the host. */
  readonly serverName: string | undefined;
  /** The namespace of the context; `default` without one. */
  readonly namespace: string;
  /** The credentials of this moment. */
  credentials(): Promise<Credentials>;
}

/** Which kubeconfig, and which context of it. */
export interface KubeconfigSource {
  /** Its text, or its file; absent: KUBECONFIG, then ~/.kube/config, then the service account of the Pod that the process runs in. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

type Fields = Readonly<Record<string, unknown>>;
interface Named {
  readonly name?: string;
  readonly cluster?: Fields;
  readonly user?: Fields;
  readonly context?: Fields;
  /** The folder that relative paths begin in. */
  folder: string;
}
interface Kubeconfig {
  readonly current: string;
  readonly clusters: readonly Named[];
  readonly users: readonly Named[];
  readonly contexts: readonly Named[];
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';
/** Credentials of a program are asked for again so long before they end. */
const MARGIN_MS = 10_000;

/** Reads what leads to a server. Throws KubeconfigError. */
export async function readKubeconfig({ kubeconfig, context }: KubeconfigSource, clock: Clock): Promise<ClusterAccess> {
  if (kubeconfig !== undefined && kubeconfig.includes('\n')) return chooseContext(await parseConfig(kubeconfig, 'the kubeconfig', '.'), context, clock);
  const given = kubeconfig ?? process.env['KUBECONFIG'] ?? '';
  const files = given === '' ? [join(homedir(), '.kube', 'config')] : given.split(delimiter).filter((file) => file !== '');
  const found = files.filter((file) => existsSync(file));
  if (found.length === 0) {
    if (given === '' && existsSync(join(SERVICE_ACCOUNT, 'token'))) return readServiceAccount();
    throw new KubeconfigError(`there is no kubeconfig at ${files.join(delimiter)}`);
  }
  const parts = await Promise.all(found.map((file) => parseConfig(readFileSync(file, 'utf8'), file, dirname(file))));
  // As kubectl merges: of equal names the first one counts.
  const merged: Kubeconfig = {
    current: parts.find(({ current }) => current !== '')?.current ?? '', clusters: parts.flatMap(({ clusters }) => clusters),
    users: parts.flatMap(({ users }) => users), contexts: parts.flatMap(({ contexts }) => contexts),
  };
  return chooseContext(merged, context, clock);
}

async function parseConfig(text: string, where: string, folder: string): Promise<Kubeconfig> {
  const config = await parseYaml(new TextEncoder().encode(text)).then(({ value }) => value as Fields | null, (error: unknown) => {
    if (error instanceof YamlError) throw new KubeconfigError(`${where}: ${error.message}`, { cause: error });
    throw error;
  });
  if (typeof config !== 'object' || config === null) throw new KubeconfigError(`${where} is no kubeconfig`);
  const listOf = (name: string): Named[] => (Array.isArray(config[name]) ? config[name] as Named[] : []).map((one) => ({ ...one, folder }));
  return { current: String(config['current-context'] ?? ''), clusters: listOf('clusters'), users: listOf('users'), contexts: listOf('contexts') };
}

function readServiceAccount(): ClusterAccess {
  const read = (name: string): string => readFileSync(join(SERVICE_ACCOUNT, name), 'utf8');
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  return {
    name: 'in-cluster', url: `https://${host.includes(':') ? `[${host}]` : host}:${port}`, authorities: read('ca.crt'), verifies: true, serverName: undefined,
    namespace: read('namespace').trim(), credentials: async () => ({ headers: bearer(read('token').trim()) }),
  };
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
const pick = (list: readonly Named[], name: unknown): Named | undefined => list.find((one) => one.name === name);
const textOf = (fields: Fields, name: string): string => (typeof fields[name] === 'string' ? fields[name] : '');

function chooseContext(config: Kubeconfig, wanted: string | undefined, clock: Clock): ClusterAccess {
  const name = wanted ?? config.current;
  const context = pick(config.contexts, name)?.context;
  if (context === undefined) throw new KubeconfigError(name === '' ? 'the kubeconfig has no current context' : `the kubeconfig has no context ${name}`);
  const cluster = pick(config.clusters, context['cluster']);
  const url = textOf(cluster?.cluster ?? {}, 'server').replace(/\/$/, '');
  if (cluster?.cluster === undefined || !/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new KubeconfigError(`the context ${name} names no cluster with a server`);
  }
  const fields = cluster.cluster;
  if (textOf(fields, 'proxy-url') !== '') throw new KubeconfigError('a kubeconfig with a proxy-url is not supported');
  const user = pick(config.users, context['user']);
  return {
    name, url, authorities: readMaterial(fields, 'certificate-authority', cluster.folder), verifies: fields['insecure-skip-tls-verify'] !== true,
    serverName: textOf(fields, 'tls-server-name') || undefined, namespace: textOf(context, 'namespace') || 'default',
    credentials: createCredentials(user?.user ?? {}, { folder: user?.folder ?? '.', clock }),
  };
}

/** PEM that is in the kubeconfig, or in a file that it names. */
function readMaterial(fields: Fields, name: string, folder: string): string | undefined {
  const inline = textOf(fields, `${name}-data`);
  if (inline !== '') return Buffer.from(inline, 'base64').toString('utf8');
  const file = textOf(fields, name);
  return file === '' ? undefined : readFileSync(resolve(folder, file), 'utf8');
}

function createCredentials(user: Fields, { folder, clock }: { readonly folder: string; readonly clock: Clock }): () => Promise<Credentials> {
  if (user['exec'] !== undefined) return createProgramCredentials(user['exec'] as Fields, folder, clock);
  if (user['auth-provider'] !== undefined) throw new KubeconfigError('auth-provider is gone from Kubernetes: use exec');
  const pair = { certificate: readMaterial(user, 'client-certificate', folder), key: readMaterial(user, 'client-key', folder) };
  const [token, tokenFile, name] = [textOf(user, 'token'), textOf(user, 'tokenFile'), textOf(user, 'username')];
  const fixed = token !== '' ? bearer(token) : name === '' ? {}
    : { authorization: `Basic ${Buffer.from(`${name}:${textOf(user, 'password')}`).toString('base64')}` };
  return async () => ({ ...pair, headers: tokenFile === '' ? fixed : bearer(readFileSync(resolve(folder, tokenFile), 'utf8').trim()) });
}

/** Credentials that a program prints, as client.authentication.k8s.io says; asked for again when they end. */
function createProgramCredentials(exec: Fields, folder: string, clock: Clock): () => Promise<Credentials> {
  let known: { readonly credentials: Credentials; readonly untilMs: number } | undefined;
  return async () => {
    if (known !== undefined && clock.now() < known.untilMs) return known.credentials;
    const status = await runProgram(exec, folder);
    const ends = textOf(status, 'expirationTimestamp');
    known = {
      credentials: {
        certificate: textOf(status, 'clientCertificateData') || undefined, key: textOf(status, 'clientKeyData') || undefined,
        headers: textOf(status, 'token') === '' ? {} : bearer(textOf(status, 'token')),
      },
      untilMs: ends === '' ? Infinity : new Date(ends).getTime() - MARGIN_MS,
    };
    return known.credentials;
  };
}

async function runProgram(exec: Fields, folder: string): Promise<Fields> {
  const command = textOf(exec, 'command');
  const added = (exec['env'] as { name: string; value: string }[] | null ?? []).map(({ name, value }) => [name, value]);
  const info = { apiVersion: exec['apiVersion'], kind: 'ExecCredential', spec: { interactive: false } };
  try {
    const { stdout } = await promisify(execFile)(command.includes('/') ? resolve(folder, command) : command, (exec['args'] ?? []) as string[], {
      encoding: 'utf8', env: { ...process.env, ...Object.fromEntries(added) as Record<string, string>, KUBERNETES_EXEC_INFO: JSON.stringify(info) },
    });
    return (JSON.parse(stdout) as { status?: Fields }).status ?? {};
  } catch (error) {
    throw new KubeconfigError(`${command} gave no credentials: ${(error as Error).message}`, { cause: error });
  }
}
