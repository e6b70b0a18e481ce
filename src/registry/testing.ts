// What the tests of the registry stand on: a few hand-made rows, a registry over a memory store with a clock that stands still,
// and short forms of requests.
import { type Field, type KubeObject, type Schema, type SchemaType, parseFieldSelector, parseLabelSelector } from '../apimachinery/index.ts';
import { type ManualClock, createManualClock, systemRandom } from '../base/index.ts';
import { type Store, createMemoryStore } from '../storage/index.ts';
import { createCatalog } from './catalog.ts';
import type {
  Admission, Catalog, DeleteOptions, DeleteResult, StoredObject, Predicate, RegistryEvent, RegistryWatch, Target, UpdateRequest, WriteContext,
  WriteResult,
} from './contract.ts';
import type { StorageFormat } from './objects/storage-codec.ts';
import { buildPredicate } from './reads/predicate.ts';
import { type OwnedRegistry, createRegistry } from './registry.ts';
import type { Resource } from './resource.ts';

const scalar = (type: SchemaType, format?: string): Schema => ({ type, ...(format !== undefined && { format }) });
const text = scalar('string');
const listOf = (items: Schema): Schema => ({ type: 'array', items });
const mapOf = (items: Schema): Schema => ({ type: 'map', items });

/** A struct; fields whose name ends in `!` have no omitempty. Numbered in order. */
function struct(fields: Record<string, Schema>): Schema {
  const entries = Object.entries(fields).map(([key, schema], i): [string, Field] => {
    const name = key.replace('!', '');
    return [name, { name, schema, required: false, omitEmpty: !key.endsWith('!'), pointer: false, number: i + 1 }];
  });
  return { type: 'object', fields: new Map(entries) };
}

const owner = struct({ 'apiVersion!': text, 'kind!': text, 'name!': text, 'uid!': text, controller: scalar('boolean'), blockOwnerDeletion: scalar('boolean') });
const managed = struct({ manager: text, operation: text, apiVersion: text, time: scalar('string', 'time'), fieldsType: text,
  fieldsV1: scalar('any', 'fields-v1') });
const metadata = struct({
  name: text, generateName: text, namespace: text, selfLink: text, uid: text, resourceVersion: text, generation: scalar('integer', 'int64'),
  creationTimestamp: scalar('string', 'time'), deletionTimestamp: scalar('string', 'time'), deletionGracePeriodSeconds: scalar('integer', 'int64'),
  labels: mapOf(text), annotations: mapOf(text), ownerReferences: listOf(owner), finalizers: listOf(text), managedFields: listOf(managed),
});

const kindOf = (fields: Record<string, Schema>): Schema => struct({ kind: text, apiVersion: text, 'metadata!': metadata, ...fields });

const configMap = kindOf({ data: mapOf(text) });
const pod = kindOf({ spec: struct({ nodeName: text, terminationGracePeriodSeconds: scalar('integer', 'int64') }), status: struct({ phase: text }) });
const namespace = kindOf({ spec: struct({ finalizers: listOf(text) }), status: struct({ phase: text }) });
const lease = kindOf({ 'spec!': struct({ holderIdentity: text }) });
const budget = kindOf({ spec: struct({ minAvailable: scalar('integer') }), 'status!': struct({ 'currentHealthy!': scalar('integer') }) });

function row(spec: Partial<Resource> & { readonly kind: string; readonly plural: string }, schema: Schema): Resource {
  return {
    group: '', listKind: `${spec.kind}List`, singular: spec.kind.toLowerCase(), shortNames: [], categories: [], namespaced: true,
    versions: [{ name: 'v1', served: true, schema, columns: [] }], storageVersion: 'v1',
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'], subresources: [], nameRule: 'dns-subdomain',
    selectableFields: {}, createOnUpdate: false, unconditionalUpdate: true, returnsDeleted: false, defaultPropagation: 'Background',
    tracksGeneration: false, custom: false, storagePrefix: spec.plural, strategy: {}, ...spec,
  };
}

const statusPath = { name: 'status', verbs: ['get', 'patch', 'update'] } as const;
type Part = Record<string, unknown>;
const part = (object: KubeObject, name: string): Part => (object[name] ?? {}) as Part;

/** The rows that tests use. */
export const rows = {
  configMaps: row({ kind: 'ConfigMap', plural: 'configmaps' }, configMap),
  pods: row({
    kind: 'Pod', plural: 'pods', returnsDeleted: true, tracksGeneration: true, subresources: [statusPath],
    strategy: { gracePeriodSeconds: (object, requested) => (part(object, 'spec')['nodeName'] ? (requested ?? 30) : 0) },
    selectableFields: { 'spec.nodeName': (object) => String(part(object, 'spec')['nodeName'] ?? '') },
  }, pod),
  namespaces: row({
    kind: 'Namespace', plural: 'namespaces', namespaced: false, nameRule: 'dns-label', returnsDeleted: true,
    subresources: [statusPath, { name: 'finalize', verbs: ['update'] }],
    strategy: {
      prepareForCreate: (object) => Object.assign(object, { spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } }),
      prepareForUpdate(object, old, { subresource }) {
        if (subresource !== 'finalize') object['spec'] = old['spec'];
      },
      terminate: (object) => Object.assign(object, { status: { phase: 'Terminating' } }),
      holdsDeletion: (object) => ((part(object, 'spec')['finalizers'] ?? []) as string[]).length > 0,
    },
  }, namespace),
  leases: row({ group: 'coordination.k8s.io', kind: 'Lease', plural: 'leases', createOnUpdate: true, unconditionalUpdate: false }, lease),
  budgets: row({
    group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', unconditionalUpdate: false, tracksGeneration: true,
    subresources: [statusPath],
  }, budget),
  widgets: row({
    group: 'example.com', kind: 'Widget', plural: 'widgets', custom: true, unconditionalUpdate: false, tracksGeneration: true, subresources: [statusPath],
    storagePrefix: 'example.com/widgets', definedBy: 'apiextensions.k8s.io/customresourcedefinitions/widgets.example.com',
  }, { type: 'object', preserveUnknownFields: true }),
} as const;

/** Admission that lets everything pass. */
export const openAdmission: Admission = { mutate: () => Promise.resolve(), validate: () => Promise.resolve() };

/** A context of a write, dry or not. */
export function makeContext(more: Partial<WriteContext> = {}): WriteContext {
  return { user: { name: 'admin', groups: ['system:masters'] }, dryRun: false, fieldManager: 'test', warnings: [], ...more };
}

/** Selectors as the query spells them. */
export interface SelectorTexts {
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The predicate of selectors as the query spells them. */
export function select(resource: Resource, { labelSelector = '', fieldSelector = '' }: SelectorTexts): Predicate {
  return buildPredicate(resource, { labels: parseLabelSelector(labelSelector), fields: parseFieldSelector(fieldSelector).requirements });
}

/** A registry and short forms of its verbs; all in namespace `ns`. */
export interface Bench {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly registry: OwnedRegistry;
  at(resource: Resource, namespace?: string): Target;
  create(resource: Resource, object: Part, more?: Partial<WriteContext>): Promise<WriteResult>;
  get(resource: Resource, name: string): Promise<KubeObject>;
  names(resource: Resource, selectors?: SelectorTexts): Promise<string[]>;
  put(resource: Resource, object: KubeObject, more?: Partial<UpdateRequest>): Promise<WriteResult>;
  patch(resource: Resource, name: string, change: (object: KubeObject) => void, more?: Partial<UpdateRequest>): Promise<WriteResult>;
  remove(resource: Resource, name: string, options?: DeleteOptions, more?: Partial<WriteContext>): Promise<DeleteResult>;
}

/** The object of a version, in v1. */
export const show = (version: StoredObject): KubeObject => version.object('v1');

/** JSON with marks, so that what a bench has written is read as it is: its rows have schemas of few fields. */
const marking: StorageFormat = { mediaType: 'application/json', endsWithNewline: false, sum: (json) => json.length };

interface BenchOptions {
  readonly admission?: Admission;
  readonly store?: Store;
  readonly format?: StorageFormat;
  readonly namesUnreadable?: boolean;
  readonly rows?: readonly Resource[];
}

/** Makes a bench of the rows above, or others. */
export function createBench(more: BenchOptions = {}): Bench {
  const clock = createManualClock(Date.UTC(2026, 0, 2, 3, 4, 5));
  const store = more.store ?? createMemoryStore({ clock });
  const catalog = createCatalog(more.rows ?? Object.values(rows));
  const registry = createRegistry({
    store, catalog, clock, random: systemRandom, admission: more.admission ?? openAdmission, trackUpdate: () => undefined,
    format: more.format ?? marking, namesUnreadable: more.namesUnreadable === true,
  });
  const at = (resource: Resource, name = 'ns'): Target => ({ resource, version: 'v1', namespace: resource.namespaced ? name : '' });
  const update = (resource: Resource, name: string, request: Pick<UpdateRequest, 'transform'> & Partial<UpdateRequest>): Promise<WriteResult> =>
    registry.update({ ...at(resource), name, subresource: '', createIfAbsent: false, context: makeContext(), ...request });
  return {
    clock, store, catalog, registry, at,
    create: (resource, object, context) =>
      registry.create({ ...at(resource), object: structuredClone(object) as unknown as KubeObject, context: makeContext(context) }),
    get: async (resource, name) => show(await registry.get({ ...at(resource), name }, {})),
    names: async (resource, selectors = {}) => {
      const list = await registry.list(at(resource), { predicate: select(resource, selectors) });
      return [...list.items].map((version) => version.name);
    },
    put: (resource, object, request) => update(resource, object.metadata.name as string, { transform: () => structuredClone(object), ...request }),
    patch: (resource, name, change, request) => update(resource, name, {
      transform: (current) => {
        const next = structuredClone(current as KubeObject);
        change(next);
        return next;
      },
      ...request,
    }),
    remove: (resource, name, options = {}, context = {}) => registry.delete({ ...at(resource), name, options, context: makeContext(context) }),
  };
}

/** What a watch has ready, as `TYPE name` or `TYPE name@revision`; bookmarks as `BOOKMARK` or `BOOKMARK end`. */
export function drain(watch: RegistryWatch): string[] {
  const line = (event: RegistryEvent): string =>
    (event.type === 'BOOKMARK' ? `BOOKMARK${event.initialEventsEnd ? ' end' : ''}` : `${event.type} ${event.object.name}`);
  return watch.take(1000).map(line);
}

/** Lets everything that was begun come to rest. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
