// How values look in the store, between the registry's JSON and the bytes on disk: with the newline that Go's encoder ends with, or as
// protobuf, and encrypted, so that a kube-apiserver on the same etcd finds what it would have written itself.
import { type JsonValue, parseGroupVersion } from '../apimachinery/index.ts';
import type { Random } from '../base/index.ts';
import { encodeEnvelope, encodeMessage, parseJson } from '../codec/index.ts';
import type { Catalog, Resource } from '../registry/index.ts';
import { type Store, type ValueTransform, chainTransforms, keyRange, transformValues } from '../storage/index.ts';
import { readTextFile } from './data-directory.ts';
import type { EncryptionOptions } from './config-files/encryption.ts';
import type { ServerOptions } from './options/options.ts';

/** What `--storage-media-type` may say. */
const storageMediaTypes = ['application/json', 'application/vnd.kubernetes.protobuf'] as const;

interface StoredValuesOptions {
  readonly options: Pick<ServerOptions, 'etcdServers' | 'storageMediaType'>;
  /** Absent when nothing is encrypted. */
  readonly encrypt: Encrypt | undefined;
  readonly catalog: Catalog;
  /** Where keys begin. */
  readonly root: string;
}

/** The Store as the registry uses it, and whether a key's value lies otherwise in it than it would be written today. */
interface StoredValues {
  readonly store: Store;
  /** Absent where all values are always as they would be written. */
  readonly isOutdated?: (key: string) => Promise<boolean>;
}

type EncryptionSource = Pick<ServerOptions, 'encryptionProviderConfig'> & { readonly random: Random };

/** Makes the transform that encrypts, once it is known what keys hold. */
export type Encrypt = (resourceOf: EncryptionOptions['resourceOf']) => ValueTransform;

/** Reads what --encryption-provider-config names; undefined when it names nothing. The parser and the ciphers load only for that. */
export async function readEncryption({ encryptionProviderConfig: path, random }: EncryptionSource): Promise<Encrypt | undefined> {
  if (path === '') return undefined;
  const text = readTextFile('--encryption-provider-config', path);
  const [{ parse }, { createEncryption }] = await Promise.all([import('yaml'), import('./config-files/encryption.ts')]);
  const config: unknown = parse(text);
  return (resourceOf) => createEncryption({ config, random, resourceOf });
}

/** A Store as the options want values in it. */
export function useStoredValues(store: Store, parts: StoredValuesOptions): StoredValues {
  const { etcdServers, storageMediaType } = parts.options;
  const isProtobuf = storageMediaType !== storageMediaTypes[0];
  const isPlain = etcdServers.length === 0 && !isProtobuf;
  if (isPlain && parts.encrypt === undefined) return { store };
  const encoding = isProtobuf ? createProtobufValues(parts.catalog) : lineValues;
  if (parts.encrypt === undefined) return useTransform(store, encoding);
  const encryption = parts.encrypt((key) => findResourceName(parts, key));
  return useTransform(store, isPlain ? encryption : chainTransforms(encryption, encoding));
}

function useTransform(store: Store, transform: ValueTransform): StoredValues {
  return {
    store: transformValues(store, transform),
    async isOutdated(key) {
      const result = await store.range({ ...keyRange(key), limit: 1 });
      const kv = result.type === 'ok' ? result.kvs[0] : undefined;
      return kv !== undefined && transform.isOutdated?.(kv.value, key) === true;
    },
  };
}

const openBrace = 0x7b;
const newline = 0x0a;
const protobufHead = Buffer.from('k8s\u0000');

/** JSON with a newline at its end inside, without one outside; other values as they are. */
const lineValues: ValueTransform = {
  toStore(value) {
    if (value[0] !== openBrace) return value;
    const stored = Buffer.allocUnsafe(value.length + 1);
    stored.set(value);
    stored[value.length] = newline;
    return stored;
  },
  fromStore: (stored) => (stored[0] === openBrace && stored[stored.length - 1] === newline ? stored.subarray(0, -1) : stored),
  isOutdated: (stored) => protobufHead.equals(stored.subarray(0, protobufHead.length)),
};

/** What the reference keeps in JSON whatever the storage media type: the parts that were servers of their own once. */
const alwaysJson = new Set(['apiextensions.k8s.io', 'apiregistration.k8s.io']);

/** Built-in resources in protobuf inside; the registry reads both. Custom resources have no protobuf: they stay JSON. */
function createProtobufValues(catalog: Catalog): ValueTransform {
  const encode = (value: Uint8Array): Uint8Array | undefined => {
    if (value[0] !== openBrace) return value;
    const object = parseJson(value).value as { readonly apiVersion?: string; readonly kind?: string };
    const { apiVersion = '', kind = '' } = object;
    const schema = findBuiltinSchema(catalog, apiVersion, kind);
    return schema === undefined ? undefined : encodeEnvelope({ apiVersion, kind }, encodeMessage(schema, object as unknown as JsonValue));
  };
  return {
    fromStore: lineValues.fromStore,
    toStore: (value, key) => encode(value) ?? lineValues.toStore(value, key),
    isOutdated: (stored) => stored[0] === openBrace && encode(stored) !== undefined,
  };
}

function findBuiltinSchema(catalog: Catalog, apiVersion: string, kind: string): Resource['versions'][number]['schema'] | undefined {
  const parsed = parseGroupVersion(apiVersion);
  const resource = parsed === undefined || alwaysJson.has(parsed.group) ? undefined : catalog.findKind(parsed.group, kind);
  return resource === undefined || resource.custom ? undefined : resource.versions.find(({ name }) => name === parsed?.version)?.schema;
}

/** `secrets`, `deployments.apps`: what the key of an object holds; '' for keys of other origin. */
function findResourceName({ catalog, root }: Pick<StoredValuesOptions, 'catalog' | 'root'>, key: string): string {
  if (!key.startsWith(`${root}/`)) return '';
  const parts = key.slice(root.length + 1).split('/');
  const prefixes = prefixTable(catalog);
  const known = prefixes.get(parts[0] ?? '') ?? prefixes.get(parts.slice(0, 2).join('/'));
  if (known !== undefined) return known;
  return parts.length < 3 ? '' : `${parts[1]}.${parts[0]}`;
}

const tables = new WeakMap<Catalog, { readonly generation: number; readonly table: ReadonlyMap<string, string> }>();

function prefixTable(catalog: Catalog): ReadonlyMap<string, string> {
  const known = tables.get(catalog);
  if (known?.generation === catalog.generation) return known.table;
  const rows = catalog.resources().filter(({ storedAs }) => storedAs === undefined);
  const table = new Map(rows.map(({ storagePrefix, group, plural }) => [storagePrefix, group === '' ? plural : `${plural}.${group}`]));
  tables.set(catalog, { generation: catalog.generation, table });
  return table;
}
