// How values look in the store, between the registry's JSON and the bytes on disk: with the newline that Go's encoder ends with, or as
// protobuf, and encrypted, so that a kube-apiserver on the same etcd finds what it would have written itself.
import { parse as parseYaml } from 'yaml';
import { type JsonValue, parseGroupVersion } from '../apimachinery/index.ts';
import type { Random } from '../base/index.ts';
import { encodeEnvelope, encodeMessage, parseJson } from '../codec/index.ts';
import type { Catalog, Resource } from '../registry/index.ts';
import { type Store, type ValueTransform, transformValues } from '../storage/index.ts';
import { readTextFile } from './data-directory.ts';
import { createEncryption } from './encryption.ts';
import type { ServerOptions } from './options.ts';

/** What `--storage-media-type` may say. */
export const storageMediaTypes = ['application/json', 'application/vnd.kubernetes.protobuf'] as const;

export interface StoredValuesOptions {
  readonly options: Pick<ServerOptions, 'etcdServers' | 'storageMediaType' | 'encryptionProviderConfig'> & { readonly random: Random };
  readonly catalog: Catalog;
  /** Where keys begin. */
  readonly root: string;
}

/** The Store as the registry uses it. */
export function useStoredValues(store: Store, parts: StoredValuesOptions): Store {
  const { etcdServers, storageMediaType, encryptionProviderConfig, random } = parts.options;
  let used = store;
  if (encryptionProviderConfig !== '') {
    const config: unknown = parseYaml(readTextFile('--encryption-provider-config', encryptionProviderConfig));
    used = transformValues(used, createEncryption({ config, random, resourceOf: (key) => findResourceName(parts, key) }));
  }
  if (storageMediaType !== storageMediaTypes[0]) return transformValues(used, createProtobufValues(parts.catalog));
  return etcdServers.length > 0 ? transformValues(used, lineValues) : used;
}

const openBrace = 0x7b;
const newline = 0x0a;

/** JSON with a newline at its end inside, without one outside; other values as they are. */
export const lineValues: ValueTransform = {
  toStore(value) {
    if (value[0] !== openBrace) return value;
    const stored = Buffer.allocUnsafe(value.length + 1);
    stored.set(value);
    stored[value.length] = newline;
    return stored;
  },
  fromStore: (stored) => (stored[0] === openBrace && stored[stored.length - 1] === newline ? stored.subarray(0, -1) : stored),
};

/** Built-in resources in protobuf inside; the registry reads both. Custom resources have no protobuf: they stay JSON. */
export function createProtobufValues(catalog: Catalog): ValueTransform {
  return {
    fromStore: lineValues.fromStore,
    toStore(value, key) {
      if (value[0] !== openBrace) return value;
      const object = parseJson(value).value as { readonly apiVersion?: string; readonly kind?: string };
      const { apiVersion = '', kind = '' } = object;
      const schema = findBuiltinSchema(catalog, apiVersion, kind);
      if (schema === undefined) return lineValues.toStore(value, key);
      return encodeEnvelope({ apiVersion, kind }, encodeMessage(schema, object as unknown as JsonValue));
    },
  };
}

function findBuiltinSchema(catalog: Catalog, apiVersion: string, kind: string): Resource['versions'][number]['schema'] | undefined {
  const parsed = parseGroupVersion(apiVersion);
  const resource = parsed === undefined ? undefined : catalog.findKind(parsed.group, kind);
  return resource === undefined || resource.custom ? undefined : resource.versions.find(({ name }) => name === parsed?.version)?.schema;
}

/** `secrets`, `deployments.apps`: what the key of an object holds; '' for keys of other origin. */
export function findResourceName({ catalog, root }: Pick<StoredValuesOptions, 'catalog' | 'root'>, key: string): string {
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
