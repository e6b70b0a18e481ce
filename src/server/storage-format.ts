// How values lie in the store, as --storage-media-type and --encryption-provider-config say it.
import { type Random, systemClock } from '../base/index.ts';
import type { StorageFormat } from '../registry/index.ts';
import { readFollowed } from './config-files/followed-files.ts';
import { silentLogger } from './observability/logger.ts';
import { isShared } from './open-store.ts';
import type { ServerOptions } from './options/options.ts';

type FormatSource = Pick<ServerOptions, 'encryptionProviderConfig' | 'etcdServers' | 'datastoreEndpoint' | 'storageMediaType'>
  & Partial<Pick<ServerOptions, 'clock' | 'logger' | 'encryptionProviderConfigAutomaticReload'>> & { readonly random: Random };

/** A format, and how to end what follows its file. */
export type FollowedFormat = StorageFormat & { stop?(): void };

/** The format that the options ask for. The parser of the configuration and the ciphers load only where there is one. */
export async function readStorageFormat(source: FormatSource): Promise<FollowedFormat> {
  const { encryptionProviderConfig: path, storageMediaType, random } = source;
  const mediaType = storageMediaType === 'application/json' ? storageMediaType : 'application/vnd.kubernetes.protobuf';
  const format: StorageFormat = { mediaType, endsWithNewline: isShared(source) };
  if (path === '') return format;
  const [{ parse }, { createEncryption, followEncryption }] = await Promise.all([import('yaml'), import('./config-files/encryption.ts')]);
  const { clock = systemClock, logger = silentLogger } = source;
  const { follow, ...first } = await readFollowed({
    flag: '--encryption-provider-config', path, what: 'the encryption configuration', options: { clock, logger },
    read: async (text) => ({ cipherFor: createEncryption({ config: parse(text) as unknown, random }) }),
  });
  const { cipherFor, replace } = followEncryption(first.cipherFor);
  const follows = source.encryptionProviderConfigAutomaticReload === true;
  return { ...format, cipherFor, ...(follows && { stop: follow((next) => replace(next.cipherFor)) }) };
}
