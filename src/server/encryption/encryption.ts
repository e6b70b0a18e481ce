// Encryption at rest as kube-apiserver writes it: `k8s:enc:<provider>:<version>:<key name>:` and then the secret bytes. The first provider of a
// resource writes, all of them read, so that keys can be rotated.
import { type Clock, type MaybePromise, type Random, catchMaybe, mapMaybe } from '../../base/index.ts';
import type { StorageFormat, ValueCipher } from '../../registry/index.ts';
import { type Cipher, createCipher } from './ciphers.ts';
import { type EncryptionRule, type KmsSettings, type ProviderSettings, parseResource, readEncryptionConfiguration } from './configuration.ts';
import type { EncryptionMetrics } from './encryption-metrics.ts';
import { KmsClient } from './kms-client.ts';
import type { KmsPlugin } from './kms-plugin.ts';
import { KmsProvider } from './kms-provider.ts';
import { KmsV1Client } from './kms-v1-client.ts';
import { KmsV1Provider } from './kms-v1-provider.ts';

/** A provider with one key. */
interface Provider {
  /** What stored values begin with; empty for identity. */
  readonly prefix: Buffer;
  /** As metrics name it. */
  readonly label: string;
  readonly cipher: Cipher | undefined;
}

/** What ciphers are made of. */
export interface EncryptionParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Absent where nothing is counted. */
  readonly metrics?: EncryptionMetrics | undefined;
  /** Whether plugins of the first version may be used. */
  readonly takesKmsV1?: boolean;
}

/** What one EncryptionConfiguration asks for. */
export interface Encryption {
  readonly cipherFor: NonNullable<StorageFormat['cipherFor']>;
  readonly plugins: readonly KmsPlugin[];
  /** What `open` has to wait for before it reads this value; undefined when it waits for nothing. */
  prepare(stored: Uint8Array): Promise<void> | undefined;
  /** Begins to ask plugins how they are; resolves when each has been asked once. */
  start(): Promise<void>;
  stop(): void;
}

const everyPrefix = Buffer.from('k8s:enc:');

/** Makes the ciphers of a file; throws StartError for one that would not protect. */
export async function createEncryption(content: string, parts: EncryptionParts): Promise<Encryption> {
  const rules = await readEncryptionConfiguration(content, { takesKmsV1: parts.takesKmsV1 === true });
  const plugins: KmsPlugin[] = [];
  const byResource = gatherProviders(rules, parts, plugins);
  const external = [...byResource.values()].flat().filter(({ cipher }) => cipher?.prepare !== undefined);
  return {
    plugins,
    cipherFor(resource) {
      const { group } = parseResource(resource);
      const providers = byResource.get(resource) ?? byResource.get(`*.${group}`) ?? byResource.get('*.*');
      return measureCipher(resource, providers, parts);
    },
    prepare(stored) {
      const provider = external.find(({ prefix }) => startsWith(stored, prefix));
      return provider?.cipher?.prepare?.(stored.subarray(provider.prefix.length), stored);
    },
    start: async () => void await Promise.all(plugins.map((plugin) => plugin.start())),
    stop() {
      for (const plugin of plugins) plugin.stop();
    },
  };
}

/** Entries that name the same resource are one list. */
function gatherProviders(rules: readonly EncryptionRule[], parts: EncryptionParts, plugins: KmsPlugin[]): Map<string, Provider[]> {
  const byResource = new Map<string, Provider[]>();
  for (const { resources, providers } of rules) {
    const made = providers.flatMap((provider) => makeProviders(provider, parts, plugins));
    for (const resource of resources) byResource.set(resource, [...(byResource.get(resource) ?? []), ...made]);
  }
  return byResource;
}

/** One provider per key: the first key writes. */
function makeProviders(settings: ProviderSettings, parts: EncryptionParts, plugins: KmsPlugin[]): Provider[] {
  if (settings.type === 'identity') return [{ prefix: Buffer.alloc(0), label: 'identity', cipher: undefined }];
  if (settings.type === 'kms') {
    const plugin = makePlugin(settings.kms, parts);
    plugins.push(plugin);
    const prefix = `k8s:enc:kms:${plugin.version}:${settings.kms.name}:`;
    return [{ prefix: Buffer.from(prefix), label: prefix, cipher: plugin.cipher }];
  }
  const label = `k8s:enc:${settings.type}:v1:`;
  return settings.keys.map(({ name, secret }) =>
    ({ prefix: Buffer.from(`${label}${name}:`), label, cipher: createCipher(settings.type, secret, parts.random) }));
}

function makePlugin({ version, name, timeoutMs, path, cacheSize }: KmsSettings, parts: EncryptionParts): KmsPlugin {
  const calls = { path, timeoutMs, clock: parts.clock, observe: version === 'v2' ? parts.metrics?.observeCalls(name) : undefined };
  return version === 'v1'
    ? new KmsV1Provider({ ...parts, name, timeoutMs, cacheSize, service: new KmsV1Client(calls) })
    : new KmsProvider({ ...parts, name, timeoutMs, service: new KmsClient(calls) });
}

/** Counts what the cipher of a resource does, where something is counted. */
function measureCipher(resource: string, providers: readonly Provider[] | undefined, { metrics, clock }: EncryptionParts): ValueCipher {
  const cipher = createValueCipher(providers);
  if (metrics === undefined || providers === undefined) return cipher;
  const labelOf = (stored: Uint8Array): string => providers.find(({ prefix }) => startsWith(stored, prefix))?.label ?? 'unknown';
  const measure = <T extends MaybePromise<Uint8Array>>(type: 'from_storage' | 'to_storage', label: string, run: () => T): T => {
    const startedMs = clock.monotonicMs();
    const note = (failure: { readonly error?: unknown }): void =>
      metrics.transformed({ resource, type, label, durationMs: clock.monotonicMs() - startedMs, ...failure });
    const transformed = catchMaybe<Uint8Array>(run, (error) => {
      note({ error });
      throw error;
    });
    return mapMaybe(transformed, (result) => {
      note({});
      return result;
    }) as T;
  };
  return {
    seal: (value, key) => measure('to_storage', providers[0]?.label ?? '', () => cipher.seal(value, key)),
    open: (stored, key) => measure('from_storage', labelOf(stored), () => cipher.open(stored, key)),
    isCurrent: (stored, key) => cipher.isCurrent(stored, key),
  };
}

/** The cipher of resources that no entry names leaves values in the clear, and opens none that are not. */
function createValueCipher(providers: readonly Provider[] | undefined): ValueCipher {
  const writer = providers?.[0];
  return {
    seal(value, key) {
      const { cipher, prefix } = writer ?? {};
      if (cipher === undefined || prefix === undefined) return value;
      return mapMaybe(cipher.seal(value, Buffer.from(key)), (sealed) => Buffer.concat([prefix, sealed]));
    },
    open: (stored, key) => open(providers, stored, key),
    // Written by another provider or key than the one that writes today, or in the clear: a rotation is over when no value is.
    isCurrent(stored, key) {
      if (writer?.cipher === undefined) return !startsWith(stored, everyPrefix);
      return startsWith(stored, writer.prefix) && (writer.cipher.isCurrent?.(stored.subarray(writer.prefix.length), Buffer.from(key), stored) ?? true);
    },
  };
}

/** As long as the beginnings of all values that are sealed by a key of the configuration. */
const KIND_LENGTH = 32;

function open(providers: readonly Provider[] | undefined, stored: Uint8Array, key: string): Uint8Array {
  if (!startsWith(stored, everyPrefix)) {
    if (providers === undefined || providers.some(({ cipher }) => cipher === undefined)) return stored;
    throw new Error('no matching prefix found');
  }
  let failure: unknown;
  for (const { prefix, cipher } of providers ?? []) {
    if (cipher === undefined || !startsWith(stored, prefix)) continue;
    try {
      const value = cipher.open(stored.subarray(prefix.length), Buffer.from(key), stored);
      if (value !== undefined) return value;
    } catch (error) {
      failure = error;
    }
  }
  throw failure ?? new Error(describeFailure(providers ?? [], stored));
}

/** The beginning of what a provider of this kind has sealed with any of its keys. */
const readKind = (prefix: Uint8Array): string => /^k8s:enc:(?:aescbc|aesgcm|secretbox):v1:/.exec(Buffer.from(prefix).toString('latin1'))?.[0] ?? '';

/** Why no provider could open a value: a key that is missing has the reference's words. */
function describeFailure(providers: readonly Provider[], stored: Uint8Array): string {
  const kind = readKind(stored.subarray(0, KIND_LENGTH));
  const known = providers.filter(({ cipher, prefix }) => cipher !== undefined && kind !== '' && readKind(prefix) === kind);
  if (known.length === 0 || known.some(({ prefix }) => startsWith(stored, prefix))) return 'the value cannot be decrypted with the keys that are configured';
  return `no matching key was found for the provided ${kind.includes('secretbox') ? 'Secretbox' : 'AES'} transformer`;
}

const startsWith = (bytes: Uint8Array, prefix: Buffer): boolean => bytes.length >= prefix.length && prefix.equals(bytes.subarray(0, prefix.length));
