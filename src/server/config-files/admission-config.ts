// AdmissionConfiguration (apiserver.config.k8s.io), the file of --admission-control-config-file: configuration of plugins, in the file itself or in files
// that it names, relative to it. The webhook plugins take a WebhookAdmissionConfiguration: a kubeconfig whose users say what this server shows to
// webhooks. Mirrors upstream's plugin configuration and its authentication info resolver.
import { dirname, isAbsolute, resolve } from 'node:path';
import { isSelected, pluginNames } from '../../admission/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { readTextFile } from '../data-directory.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { WebhookCredentials } from '../webhooks/webhook-client.ts';
import { ConfigReader, type Fields, checkConfigKind, configVersions, parseConfigFile } from './config-file.ts';

/** Finds what is shown to the webhook at `host:port`. */
export type FindCredentials = (hostAndPort: string) => WebhookCredentials;

/** The credentials that webhooks are shown, by the plugin that calls them. */
export interface WebhookCredentialsPlan {
  readonly mutating: FindCredentials;
  readonly validating: FindCredentials;
}

const FLAG = '--admission-control-config-file';
const plugins = { mutating: 'MutatingAdmissionWebhook', validating: 'ValidatingAdmissionWebhook' } as const;
const kinds = { AdmissionConfiguration: [...configVersions('v1'), 'apiserver.k8s.io/v1alpha1'] };
const webhookKinds = { WebhookAdmissionConfiguration: configVersions('v1') };
/** Plugins that take a configuration; the others ignore theirs. */
const configurable: ReadonlySet<string> = new Set([
  'EventRateLimit', 'ImagePolicyWebhook', 'MutatingAdmissionPolicy', 'MutatingAdmissionWebhook', 'PodNodeSelector', 'PodSecurity',
  'PodTolerationRestriction', 'ResourceQuota', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook',
]);
const HTTPS_SUFFIX = ':443';

interface NamedUser {
  readonly name?: string;
  readonly user?: Readonly<Record<string, string>>;
}

interface NamedContext {
  readonly name?: string;
  readonly context?: { readonly user?: string };
}

/** The flags that say which plugins run, and how they are configured. */
type AdmissionFlags = Pick<ServerOptions, 'admissionControlConfigFile' | 'enableAdmissionPlugins' | 'disableAdmissionPlugins' | 'logger'>;

/**
 * The configuration of each plugin that runs and that the file configures, by plugin; empty without the flag. Entries of others are passed over, as those
 * of plugins that a release no longer has, and so are further ones of a plugin; the log says so. Throws StartError.
 */
export async function readAdmissionConfiguration({
  admissionControlConfigFile: path, enableAdmissionPlugins: enabled, disableAdmissionPlugins: disabled, logger,
}: AdmissionFlags): Promise<ReadonlyMap<string, Fields>> {
  const found = new Map<string, Fields>();
  if (path === '') return found;
  const reader = new ConfigReader(FLAG);
  const named = new Set<string>();
  const file = reader.fields(await parseConfigFile(FLAG, readTextFile(FLAG, path), kinds), '', ['apiVersion', 'kind', 'plugins']);
  for (const [index, row] of reader.list(file['plugins'], 'plugins').entries()) {
    const at = `plugins[${index}]`;
    const plugin = reader.fields(row, at, ['name', 'path', 'configuration']);
    const name = reader.text(plugin['name'], `${at}.name`);
    const other = reader.text(plugin['path'], `${at}.path`);
    const isFirst = !named.has(name);
    named.add(name);
    if (!isFirst || !pluginNames.includes(name) || !isSelected(name, { enabled, disabled })) {
      logger.warn('an entry of the admission configuration is passed over', { plugin: name, reason: isFirst ? 'no such plugin runs' : 'it is not the first' });
      continue;
    }
    const given = plugin['configuration'] ?? (other === '' ? undefined : await readFields(resolve(dirname(path), other)));
    if (given === undefined) continue;
    found.set(name, given as Fields);
    if (!configurable.has(name)) logger.warn('the configuration of an admission plugin has no effect: it takes none', { plugin: name });
  }
  reader.finish();
  return found;
}

async function readFields(path: string): Promise<Fields> {
  const { value } = await parseYaml(new TextEncoder().encode(readTextFile(FLAG, path))).catch((error: unknown) => {
    throw new StartError(`${FLAG}: ${path}: ${(error as Error).message}`, { cause: error });
  });
  return (value ?? {}) as Fields;
}

/** What the configurations of the webhook plugins show to webhooks. Throws StartError. */
export async function readWebhookCredentials(configurations: ReadonlyMap<string, Fields>): Promise<WebhookCredentialsPlan> {
  const [mutating, validating] = await Promise.all([plugins.mutating, plugins.validating].map((name) => readPlugin(name, configurations.get(name))));
  return { mutating: mutating as FindCredentials, validating: validating as FindCredentials };
}

const showNothing: FindCredentials = () => ({});

async function readPlugin(name: string, configuration: Fields | undefined): Promise<FindCredentials> {
  if (configuration === undefined) return showNothing;
  const { kubeConfigFile } = checkConfigKind(`${FLAG}: ${name}`, configuration, webhookKinds);
  if (kubeConfigFile === undefined || kubeConfigFile === '') return showNothing;
  if (typeof kubeConfigFile !== 'string' || !isAbsolute(kubeConfigFile)) {
    throw new StartError(`${FLAG}: ${name}: kubeConfigFile: Invalid value: ${JSON.stringify(kubeConfigFile)}: must be an absolute file path`);
  }
  return createFinder(await readFields(kubeConfigFile), kubeConfigFile);
}

/** Users are named by what they are shown to: `host:port`, `*.domain:port`, the same without port for 443, `*`; else the current context's is. */
function createFinder(kubeconfig: Fields, path: string): FindCredentials {
  const users = new Map(((kubeconfig['users'] ?? []) as readonly NamedUser[]).map(({ name = '', user = {} }) => [name, readUser(user, path)]));
  const context = ((kubeconfig['contexts'] ?? []) as readonly NamedContext[]).find(({ name }) => name === kubeconfig['current-context']);
  const otherwise = users.get('*') ?? users.get(context?.context?.user ?? '') ?? {};
  const find = (target: string): WebhookCredentials | undefined => {
    const steps = target.split('.');
    const names = [target, ...steps.slice(1).map((_, index) => `*.${steps.slice(index + 1).join('.')}`)];
    return names.map((name) => users.get(name)).find((user) => user !== undefined);
  };
  return (target) => find(target) ?? (target.endsWith(HTTPS_SUFFIX) ? find(target.slice(0, -HTTPS_SUFFIX.length)) : undefined) ?? otherwise;
}

function readUser(user: Readonly<Record<string, string>>, path: string): WebhookCredentials {
  const material = (name: string): string | undefined => {
    const inline = user[`${name}-data`];
    if (inline !== undefined) return Buffer.from(inline, 'base64').toString('utf8');
    const file = user[name];
    return file === undefined ? undefined : readTextFile(FLAG, resolve(dirname(path), file));
  };
  const [certificate, key, token] = [material('client-certificate'), material('client-key'), user['token'] ?? material('tokenFile')?.trim()];
  const { username, password = '' } = user;
  const authorization = token !== undefined ? `Bearer ${token}`
    : username === undefined ? undefined : `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  return {
    ...(certificate !== undefined && { certificate }), ...(key !== undefined && { key }), ...(authorization !== undefined && { headers: { authorization } }),
  };
}
