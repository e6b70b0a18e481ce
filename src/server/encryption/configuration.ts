// EncryptionConfiguration (apiserver.config.k8s.io/v1), read strictly and checked as the reference checks it, in its words.
import { parseUrl } from '../../apimachinery/index.ts';
import { ABSTRACT_REFUSED, ConfigReader, configVersions, parseConfigFile, reachesAbstractSockets } from '../config-files/config-file.ts';
import { StartError } from '../options/options.ts';
import { type LocalProvider, keySizes } from './ciphers.ts';

/** A key of the file. */
export interface NamedKey {
  readonly name: string;
  readonly secret: Buffer;
}

/** A plugin that holds the keys elsewhere. */
export interface KmsSettings {
  /** Of its protocol. */
  readonly version: 'v1' | 'v2';
  readonly name: string;
  /** Of the plugin's Unix socket. */
  readonly path: string;
  readonly timeoutMs: number;
  /** Keys of values that are remembered, with the first version of the protocol. */
  readonly cacheSize: number;
}

/** One provider of an entry. */
export type ProviderSettings =
  | { readonly type: 'identity' }
  | { readonly type: LocalProvider; readonly keys: readonly NamedKey[] }
  | { readonly type: 'kms'; readonly kms: KmsSettings };

/** Which resources are encrypted, and how. */
export interface EncryptionRule {
  readonly resources: readonly string[];
  readonly providers: readonly ProviderSettings[];
}

const FLAG = '--encryption-provider-config';
/** The second is the name that such files had before they had a group. */
const kinds = { EncryptionConfiguration: configVersions('v1'), EncryptionConfig: ['v1'] };
const DEFAULT_TIMEOUT_MS = 3000;
const V1_REFUSED = 'KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set --feature-gates=KMSv1=true '
  + 'to use the deprecated KMSv1 feature.';
const DEFAULT_CACHE_SIZE = 1000;
const providerNames = ['kms', 'aesgcm', 'aescbc', 'secretbox', 'identity'];
const NONE_OF_THEM = 'provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity';
const SPLIT = 'more than one provider specified in a single element, should split into different list elements';

/** The rules of a file. Throws StartError that names the fields. */
export async function readEncryptionConfiguration(content: string, { takesKmsV1 }: { readonly takesKmsV1: boolean }): Promise<EncryptionRule[]> {
  const reader = new ConfigReader(FLAG);
  const file = reader.fields(await parseConfigFile(FLAG, content, kinds), '', ['apiVersion', 'kind', 'resources']);
  const rows = reader.list(file['resources'], 'resources');
  if (rows.length === 0) reader.required('resources', 'at least one resources is required');
  const kmsNames = new Set<string>();
  const rules = rows.map((row, index): EncryptionRule => {
    const path = `resources[${index}]`;
    const fields = reader.fields(row, path, ['resources', 'providers']);
    const resources = readResources(reader, fields['resources'], `${path}.resources`);
    const providers = reader.list(fields['providers'], `${path}.providers`);
    if (providers.length === 0) reader.required(`${path}.providers`, `at least one ${path}.providers is required`);
    const shared = { reader, kmsNames };
    return { resources, providers: providers.flatMap((provider, at) => readProvider(provider, { ...shared, path: `${path}.providers[${at}]` })) };
  });
  reader.finish();
  // Version 1 of the protocol is deprecated, and off unless its gate is on.
  const usesV1 = rules.some(({ providers }) => providers.some((one) => one.type === 'kms' && one.kms.version === 'v1'));
  if (usesV1 && !takesKmsV1) throw new StartError(`${FLAG}: ${V1_REFUSED}`);
  checkMasks(rules);
  return rules;
}

/** Plural and group of `secrets`, `deployments.apps`, `*.`, `*.apps`, `*.*`. */
export function parseResource(text: string): { readonly plural: string; readonly group: string } {
  const dot = text.indexOf('.');
  return dot < 0 ? { plural: text, group: '' } : { plural: text.slice(0, dot), group: text.slice(dot + 1) };
}

function readResources(reader: ConfigReader, value: unknown, path: string): string[] {
  const resources = reader.list(value, path).map((text, index) => reader.text(text, `${path}[${index}]`));
  if (resources.length === 0) reader.required(path, `at least one ${path} is required`);
  checkOverlap(reader, resources, path);
  for (const [index, resource] of resources.entries()) {
    const problem = findNameProblem(resource);
    if (problem !== undefined) reader.invalid(`${path}[${index}]`, resource, problem);
  }
  return resources;
}

function checkOverlap(reader: ConfigReader, resources: readonly string[], path: string): void {
  const parsed = [...new Map(resources.map(parseResource).map((one) => [`${one.plural}.${one.group}`, one])).values()];
  if (parsed.length < resources.length) reader.invalid(path, resources, 'the same resource cannot be specified multiple times');
  const isOverlap = parsed.some(({ plural, group }) => plural === '*' && parsed.length > 1
    && (group === '*' || parsed.filter((other) => other.group === group).length > 1));
  if (!isOverlap) return;
  reader.invalid(path, resources,
    "using overlapping resources such as 'secrets' and '*.' in the same resource list is not allowed as they will be masked");
}

const withoutApi: ReadonlySet<string> = new Set(['apiserveripinfo', 'serviceipallocations', 'servicenodeportallocations']);

function findNameProblem(resource: string): string | undefined {
  const { plural, group } = parseResource(resource);
  if (resource !== resource.toLowerCase()) return 'resource name should not contain capital letters';
  if (resource === '*') return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  if (withoutApi.has(resource)) return 'resources which do not have REST API/s cannot be encrypted';
  if (group === 'events.k8s.io') {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the config file";
  }
  if (group === 'extensions') return "'extensions' group has been removed and cannot be used for encryption";
  return group === '*' && plural !== '*' ? 'encrypting the same resource across groups is not supported' : undefined;
}

interface ProviderContext {
  readonly reader: ConfigReader;
  readonly path: string;
  /** Of the plugins that came before. */
  readonly kmsNames: Set<string>;
}

/** Nothing for what is wrong, which is reported. */
function readProvider(value: unknown, { reader, path, kmsNames }: ProviderContext): ProviderSettings[] {
  const fields = reader.fields(value, path, providerNames);
  const [name, another] = providerNames.filter((one) => fields[one] !== undefined && fields[one] !== null);
  if (name === undefined || another !== undefined) {
    reader.report(path, `Invalid value: ${name === undefined ? NONE_OF_THEM : SPLIT}`);
    return [];
  }
  if (name === 'identity') {
    reader.fields(fields[name], `${path}.identity`, []);
    return [{ type: name }];
  }
  if (name === 'kms') return readKms(fields[name], { reader, path: `${path}.kms`, kmsNames });
  const type = name as LocalProvider;
  const rows = reader.list(reader.fields(fields[name], `${path}.${name}`, ['keys'])['keys'], `${path}.${name}.keys`);
  if (rows.length === 0) reader.required(`${path}.${name}.keys`, 'at least one keys is required');
  return [{ type, keys: rows.map((row, index) => readKey(row, { reader, path: `${path}.${name}.keys[${index}]`, sizes: keySizes[type] })) }];
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function readKey(value: unknown, { reader, path, sizes }: Pick<ProviderContext, 'reader' | 'path'> & { readonly sizes: readonly number[] }): NamedKey {
  const fields = reader.fields(value, path, ['name', 'secret']);
  const [name, text] = [reader.text(fields['name'], `${path}.name`), reader.text(fields['secret'], `${path}.secret`)];
  if (name === '') reader.required(`${path}.name`, 'name is a mandatory field for a key');
  if (text === '') reader.required(`${path}.secret`, 'secret is a mandatory field for a key');
  // Ends of lines may stand within, and bits that no byte needs may be set.
  const digits = text.replace(/[\r\n]/g, '');
  const secret = Buffer.from(digits, 'base64');
  if (text !== '' && !base64.test(digits)) reader.invalid(`${path}.secret`, 'REDACTED', 'secrets must be base64 encoded');
  else if (text !== '' && !sizes.includes(secret.length)) {
    reader.invalid(`${path}.secret`, 'REDACTED', `secret is not of the expected length, got ${secret.length}, expected one of [${sizes.join(' ')}]`);
  }
  return { name, secret };
}

function readKms(value: unknown, { reader, path, kmsNames }: ProviderContext): ProviderSettings[] {
  const fields = reader.fields(value, path, ['apiVersion', 'name', 'cachesize', 'endpoint', 'timeout']);
  const version = reader.text(fields['apiVersion'], `${path}.apiVersion`) || 'v1';
  const name = reader.text(fields['name'], `${path}.name`);
  if (name === '') reader.required(`${path}.name`, 'name is a mandatory field for a provider');
  if (version !== 'v1' && name.includes(':')) reader.invalid(`${path}.name`, name, `invalid KMS provider name ${name}, must not contain ':'`);
  if (kmsNames.has(name)) reader.invalid(`${path}.name`, name, `duplicate KMS provider name ${name}, names must be unique`);
  kmsNames.add(name);
  const isTimed = fields['timeout'] !== undefined && fields['timeout'] !== null;
  const timeoutMs = isTimed ? reader.duration(fields['timeout'], `${path}.timeout`) : DEFAULT_TIMEOUT_MS;
  if (timeoutMs <= 0) reader.invalid(`${path}.timeout`, fields['timeout'], 'timeout should be a positive value');
  const path2 = readEndpoint(reader, reader.text(fields['endpoint'], `${path}.endpoint`), `${path}.endpoint`);
  const cacheSize = readCacheSize(reader, fields['cachesize'], { path: `${path}.cachesize`, isV1: version === 'v1' });
  if (version !== 'v1' && version !== 'v2') {
    reader.invalid(`${path}.apiVersion`, version, 'unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported');
  }
  return [{ type: 'kms', kms: { version: version === 'v1' ? version : 'v2', name, path: path2, timeoutMs, cacheSize } }];
}

/** How many keys of values the file wants remembered; the reference remembers none below 0. */
function readCacheSize(reader: ConfigReader, value: unknown, { path, isV1 }: { readonly path: string; readonly isV1: boolean }): number {
  if (value === undefined || value === null) return DEFAULT_CACHE_SIZE;
  if (!isV1) reader.invalid(path, value, 'cachesize is not supported in v2');
  else if (value === 0) reader.invalid(path, value, 'cachesize should be a positive value, or negative to disable');
  return typeof value === 'number' ? value : DEFAULT_CACHE_SIZE;
}

/** The path of a Unix socket: `unix:///run/kms.sock`; `unix:///@name` is an abstract one. */
function readEndpoint(reader: ConfigReader, endpoint: string, path: string): string {
  if (endpoint === '') {
    reader.invalid(path, '', 'endpoint is a mandatory field for a kms');
    return '';
  }
  const url = parseUrl(endpoint);
  if (typeof url === 'string') {
    reader.invalid(path, endpoint, `invalid endpoint for kms provider, error: ${url}`);
    return '';
  }
  const match = /^([a-z][a-z0-9+.-]*):\/\/([^/]*)(\/.*)?$/i.exec(endpoint);
  if (url.scheme !== 'unix') reader.invalid(path, endpoint, `unsupported scheme "${url.scheme}" for KMS provider, only unix is supported`);
  const socket = match?.[3] ?? '';
  if (!socket.startsWith('/@')) return socket;
  if (!reachesAbstractSockets()) reader.invalid(path, endpoint, ABSTRACT_REFUSED);
  return `\0${socket.slice('/@'.length)}`;
}

/** An entry after one for its whole group, or for everything, would never be used. */
function checkMasks(rules: readonly EncryptionRule[]): void {
  const before = new Set<string>();
  for (const { resources } of rules) {
    for (const resource of resources) {
      const { group } = parseResource(resource);
      const mask = [`*.${group}`, '*.*'].find((one) => before.has(one));
      if (mask !== undefined) throw new StartError(`${FLAG}: resource "${resource}" is masked by earlier rule "${mask}"`);
    }
    for (const resource of resources) before.add(resource);
  }
}
