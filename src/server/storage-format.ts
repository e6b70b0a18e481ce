// How values lie in the store, as --storage-media-type and --encryption-provider-config say it.
import type { Random } from '../base/index.ts';
import type { StorageFormat } from '../registry/index.ts';
import { readTextFile } from './data-directory.ts';
import type { ServerOptions } from './options/options.ts';

type FormatSource = Pick<ServerOptions, 'encryptionProviderConfig' | 'etcdServers' | 'storageMediaType'> & { readonly random: Random };

/** The format that the options ask for. The parser of the configuration and the ciphers load only where there is one. */
export async function readStorageFormat({ encryptionProviderConfig: path, etcdServers, storageMediaType, random }: FormatSource): Promise<StorageFormat> {
  const mediaType = storageMediaType === 'application/json' ? storageMediaType : 'application/vnd.kubernetes.protobuf';
  const format: StorageFormat = { mediaType, endsWithNewline: etcdServers.length > 0 };
  if (path === '') return format;
  const text = readTextFile('--encryption-provider-config', path);
  const [{ parse }, { createEncryption }] = await Promise.all([import('yaml'), import('./config-files/encryption.ts')]);
  const config: unknown = parse(text);
  return { ...format, cipherFor: createEncryption({ config, random }) };
}
