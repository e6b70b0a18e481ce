// The service that validates bearer tokens, found by a kubeconfig as kube-apiserver's webhook flags want it: its current context, or its only cluster.
import { dirname, resolve } from 'node:path';
import { type AuthenticateToken, createWebhookTokenAuthenticator } from '../../auth/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { readTextFile } from '../data-directory.ts';
import type { Routed } from './egress.ts';
import { JsonClient, type JsonTrust } from './json-client.ts';
import { type ServerOptions, StartError } from '../options/options.ts';

/** The address of a webhook and the credentials that it is shown. */
export interface WebhookTarget extends JsonTrust {
  readonly url: string;
}

interface Named {
  readonly name?: string;
  readonly cluster?: Readonly<Record<string, string>>;
  readonly user?: Readonly<Record<string, string>>;
  readonly context?: Readonly<Record<string, string>>;
}
interface Kubeconfig {
  readonly 'current-context'?: string;
  readonly clusters?: readonly Named[];
  readonly users?: readonly Named[];
  readonly contexts?: readonly Named[];
}

/** Reads the kubeconfig that a flag names. Throws StartError. */
export async function readWebhookKubeconfig(flag: string, path: string): Promise<WebhookTarget> {
  const config = await parseConfig(flag, readTextFile(flag, path));
  const context = config.contexts?.find(({ name }) => name === config['current-context'])?.context;
  const pick = (list: readonly Named[] | undefined, name: string | undefined) =>
    list?.find((one) => one.name === name) ?? (list?.length === 1 ? list[0] : undefined);
  const cluster = pick(config.clusters, context?.['cluster'])?.cluster;
  const user = pick(config.users, context?.['user'])?.user;
  const url = cluster?.['server'] ?? '';
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new StartError(`${flag}: ${path} names no cluster with a server`);
  const material = (fields: Readonly<Record<string, string>> | undefined, name: string): string | undefined => {
    const inline = fields?.[`${name}-data`];
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    const file = fields?.[name];
    return file === undefined ? undefined : readTextFile(flag, resolve(dirname(path), file));
  };
  const [authorities, certificate, key] = [material(cluster, 'certificate-authority'), material(user, 'client-certificate'), material(user, 'client-key')];
  const token = user?.['token'];
  return {
    url, ...(authorities !== undefined && { authorities }), ...(certificate !== undefined && { certificate }), ...(key !== undefined && { key }),
    ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
  };
}

async function parseConfig(flag: string, text: string): Promise<Kubeconfig> {
  try {
    const { value } = await parseYaml(new TextEncoder().encode(text));
    return (value ?? {}) as Kubeconfig;
  } catch (error) {
    throw new StartError(`${flag}: not a kubeconfig`, { cause: error });
  }
}

/** Makes the authenticator that asks the service. */
export async function createTokenWebhook(options: ServerOptions & Routed): Promise<AuthenticateToken> {
  const { url, ...target } = await readWebhookKubeconfig('--authentication-token-webhook-config-file', options.authenticationTokenWebhookConfigFile);
  const client = new JsonClient(options.clock, { ...target, dial: options.egress.controlplane, measure: options.egress.measure });
  return createWebhookTokenAuthenticator({
    apiVersion: options.authenticationTokenWebhookVersion === 'v1' ? 'authentication.k8s.io/v1' : 'authentication.k8s.io/v1beta1',
    post: (review) => client.post(url, review), cacheMs: options.authenticationTokenWebhookCacheTtlMs,
    clock: options.clock, random: options.random,
  });
}
