// How values lie in the store, as --storage-media-type and --encryption-provider-config say it.
import { type Clock, type Random, delay, systemClock } from '../../base/index.ts';
import type { StorageFormat, ValueCipher } from '../../registry/index.ts';
import type { Store } from '../../storage/index.ts';
import { builtIn } from '../built-in.ts';
import { readFollowed } from '../config-files/followed-files.ts';
import type { HealthCheck } from '../observability/health.ts';
import { silentLogger } from '../observability/logger.ts';
import { isShared } from '../open-store.ts';
import { isGateOn } from '../options/feature-gates.ts';
import type { ServerOptions } from '../options/options.ts';
import type { Encryption } from './encryption.ts';
import type { EncryptionMetrics } from './encryption-metrics.ts';

type FormatSource = Pick<ServerOptions, 'encryptionProviderConfig' | 'etcdServers' | 'datastoreEndpoint' | 'featureGates' | 'storageMediaType'>
  & Partial<Pick<ServerOptions, 'clock' | 'logger' | 'encryptionProviderConfigAutomaticReload'>> & { readonly random: Random };

/** A format, what belongs to it, and how to end what keeps it up to date. */
export interface FollowedFormat extends StorageFormat {
  /** The Store that gives values when they can be read; the Store itself where they always can. */
  openStore(store: Store): Store;
  /** The health of key management plugins, where there may be any. */
  readonly checks: readonly Pick<HealthCheck, 'name' | 'check'>[];
  stop?(): void;
}

/** The format that the options ask for. The parser of the configuration and the ciphers load only where there is one. */
export async function readStorageFormat(source: FormatSource, makeMetrics?: () => Promise<EncryptionMetrics>): Promise<FollowedFormat> {
  const { encryptionProviderConfig: path, storageMediaType } = source;
  const mediaType = storageMediaType === 'application/json' ? storageMediaType : 'application/vnd.kubernetes.protobuf';
  const format: StorageFormat = {
    mediaType, endsWithNewline: isShared(source), sum: builtIn().sum, storesCbor: isGateOn(source.featureGates, 'CBORServingAndStorage'),
  };
  if (path === '') return { ...format, openStore: (store) => store, checks: [] };
  const [{ createEncryption }, { createPreparedStore }] = await Promise.all([import('./encryption.ts'), import('./prepared-store.ts')]);
  const { clock = systemClock, logger = silentLogger, random } = source;
  const metrics = await makeMetrics?.();
  const { follow, encryption } = await readFollowed({
    flag: '--encryption-provider-config', path, what: 'the encryption configuration', options: { clock, logger },
    read: async (content, first?: { readonly encryption: Encryption }) => {
      try {
        const read = await createEncryption(content, { clock, random, metrics, takesKmsV1: isGateOn(source.featureGates, 'KMSv1') });
        if (read.plugins.some(({ version }) => version === 'v1')) logger.warn('KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.');
        await useWhenWell(read, { clock, isFirst: first === undefined });
        if (first === undefined) metrics?.loaded(content);
        else metrics?.reloaded('success', content);
        return { encryption: read };
      } catch (error) {
        if (first !== undefined) metrics?.reloaded('failure');
        throw error;
      }
    },
  });
  const followed = followEncryption(encryption, clock);
  const follows = source.encryptionProviderConfigAutomaticReload === true;
  const stop = follows ? follow((next) => followed.replace(next.encryption)) : undefined;
  const hasPlugins = encryption.plugins.length > 0;
  return {
    ...format, cipherFor: followed.cipherFor,
    openStore: (store) => (follows || hasPlugins ? createPreparedStore(store, followed.prepare) : store),
    checks: listChecks(encryption, follows, followed.check),
    stop() {
      stop?.();
      followed.stop();
    },
  };
}

/** One check for all plugins; plugins of the first version that are not replaced have one each, as in the reference. */
function listChecks({ plugins }: Encryption, follows: boolean, check: () => Promise<void>): FollowedFormat['checks'] {
  if (follows || (plugins.length > 0 && plugins.every(({ version }) => version === 'v2'))) return [{ name: 'kms-providers', check }];
  return plugins.map((plugin, index) => ({ name: `kms-provider-${index}`, check: () => plugin.check() }));
}

const LOOK_AGAIN_MS = 100;
const SHORTEST_TRIAL_MS = 10_000;

/** Plugins take the time of two calls each, at most, to answer what is under way. */
const graceOf = ({ plugins }: Encryption): number => 2 * plugins.reduce((sum, { timeoutMs }) => sum + timeoutMs, 0);

/** At the start plugins may be late; a file that replaces another must be good. */
async function useWhenWell(encryption: Encryption, { clock, isFirst }: { readonly clock: Clock; readonly isFirst: boolean }): Promise<void> {
  const untilMs = clock.monotonicMs() + Math.max(graceOf(encryption), SHORTEST_TRIAL_MS);
  await encryption.start();
  if (isFirst) return;
  for (;;) {
    try {
      return await checkPlugins(encryption);
    } catch (error) {
      if (clock.monotonicMs() >= untilMs) {
        encryption.stop();
        throw error;
      }
      await delay(clock, LOOK_AGAIN_MS);
    }
  }
}

/** Rejects with what the plugins that are not well say. */
async function checkPlugins({ plugins }: Pick<Encryption, 'plugins'>): Promise<void> {
  const outcomes = await Promise.allSettled(plugins.map((plugin) => plugin.check()));
  const problems = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [`kms-provider-${index}: ${(outcome.reason as Error).message}`] : []));
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`);
}

type CipherFor = NonNullable<StorageFormat['cipherFor']>;

interface FollowedEncryption {
  readonly cipherFor: CipherFor;
  readonly prepare: Encryption['prepare'];
  readonly check: () => Promise<void>;
  replace(next: Encryption): void;
  stop(): void;
}

/** Ciphers that are replaced when a file says something else; those before end when calls under way have ended. */
export function followEncryption(first: Encryption, clock: Clock): FollowedEncryption {
  let [current, generation] = [first, 0];
  const leaving = new Set<Encryption>();
  return {
    cipherFor(resource) {
      let [cipher, made] = [current.cipherFor(resource), generation];
      const find = (): ValueCipher | undefined => {
        if (made !== generation) [cipher, made] = [current.cipherFor(resource), generation];
        return cipher;
      };
      return {
        seal: (value, key) => find()?.seal(value, key) ?? value,
        open: (stored, key) => find()?.open(stored, key) ?? stored,
        isCurrent: (stored, key) => find()?.isCurrent(stored, key) ?? true,
      };
    },
    prepare: (stored) => current.prepare(stored),
    check: () => checkPlugins(current),
    replace(next) {
      const before = current;
      [current, generation] = [next, generation + 1];
      leaving.add(before);
      clock.after(graceOf(before), () => {
        leaving.delete(before);
        before.stop();
      });
    },
    stop() {
      for (const encryption of [...leaving, current]) encryption.stop();
    },
  };
}
