// The definitions of a server: one reflector follows them, so that established kinds are served as the catalog's rows, and one queue brings each
// definition to what its state asks for (lifecycle.ts). Requests are routed after `catchUp`, so that a client finds what it defined: the registry
// answers a definition's write when the cache, and with it the reflector's watch, has it.
import { type KubeObject, type Schema, type SchemaSet, StatusError } from '../../apimachinery/index.ts';
import { type Clock, type Random, invariant, takeTurn } from '../../base/index.ts';
import {
  type AdmissionAttributes, type Catalog, type ListResult, type OwnedRegistry, type Reflector, type Resource, type StoredObject, WorkQueue, readWithout,
  startReflector,
} from '../../registry/index.ts';
import { isTrue } from '../conditions.ts';
import { type RowDependencies, createRow } from '../row.ts';
import { SchemaCache, SchemaShare } from '../schemas.ts';
import type { ValidationResult } from '../strategy.ts';
import { type DefinitionNames, specOf, statusOf } from '../types.ts';
import type { ValidateRequest } from '../validate-in-worker.ts';
import { checkSchemaRules } from '../validate/rules.ts';
import { type Definition, Lifecycle } from './lifecycle.ts';
import { refuseCreation } from './termination.ts';

interface DefinitionsOptions {
  readonly registry: OwnedRegistry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly random: Pick<Random, 'uuid'>;
  readonly schemas: SchemaSet;
  readonly formatAge: RowDependencies['formatAge'];
  readonly checkRules?: RowDependencies['checkRules'];
  readonly sendConversion?: RowDependencies['sendConversion'];
  /** Validates writes that take long in another thread; without it all writes are validated in this one. */
  readonly validateInWorker?: (request: ValidateRequest) => Promise<ValidationResult>;
  /** Another server establishes definitions: this one serves what is established. */
  readonly servesOnly?: boolean;
  /** Receives failures, after which a definition is tried again. */
  readonly report: (definition: string, error: unknown) => void;
}

/** The definitions of a server. */
export interface Definitions {
  /** Serves the kinds that are established already; resolves when all of them are. */
  start(): Promise<void>;
  /** Takes in every committed change of a definition; called before a request is routed. */
  catchUp(): void;
  /** Admission of custom objects: refuses creations in a kind whose definition is being deleted. */
  guardCreation(attributes: AdmissionAttributes): void;
  stop(): void;
}

/** A definition in its last known state. */
interface KnownDefinition extends Definition {
  stored: StoredObject;
  outline: KubeObject;
  row: Resource | undefined;
  /** Of the row. */
  schemas: SchemaShare | undefined;
  fingerprint: string;
  mayBeUnstructural: boolean;
}

/** Definitions at work at a time: emptying a kind may wait for webhooks, and must not keep other kinds from being established. */
const CONCURRENCY = 64;
const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

class ServedDefinitions implements Definitions {
  readonly #options: DefinitionsOptions;
  readonly #known = new Map<string, KnownDefinition>();
  readonly #schemas = new SchemaCache();
  readonly #queue: WorkQueue;
  #lifecycle: Lifecycle | undefined;
  #reflector: Reflector | undefined;
  #isSynced = false;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({
      clock: options.clock, concurrency: CONCURRENCY, work: (name) => this.#work(name), onError: (name, error) => options.report(name, error),
    });
  }

  async start(): Promise<void> {
    const { registry, catalog, clock, report } = this.#options;
    const resource = catalog.findResource('apiextensions.k8s.io', 'customresourcedefinitions');
    invariant(resource !== undefined, 'definitions are served');
    this.#lifecycle = new Lifecycle({ registry, resource, clock, takenBy: (name) => this.#namesBeside(name) });
    this.#reflector = startReflector({
      registry, clock, target: { resource, version: 'v1', namespace: '' },
      onChange: (type, object, revision) => (type === 'deleted' ? this.#forget(object.name, revision) : this.#observe(object)),
      onListed: (list) => this.#forgetAllBut(list),
      onError: (error) => report('', error),
    });
    await this.#reflector.synced;
    this.#isSynced = true;
  }

  catchUp(): void {
    this.#reflector?.catchUp();
  }

  guardCreation(attributes: AdmissionAttributes): void {
    const { resource, subresource } = attributes;
    if (subresource !== '') return;
    this.catchUp();
    const definition = this.#known.get(`${resource.plural}.${resource.group}`);
    if (definition !== undefined && isTrue(definition.outline, 'Terminating')) throw refuseCreation(attributes);
  }

  stop(): void {
    this.#reflector?.stop();
    void this.#queue.stop();
  }

  /** Takes in a state of a definition, and serves its kind if it is established. */
  #observe(stored: StoredObject): void {
    const { name } = stored;
    const definition = readDefinition(stored);
    const outline = outlineOf(definition);
    const before = this.#known.get(name);
    // Servers refuse schemas that are not structural; what was in the store when this one started, and what v1beta1 wrote, may have come another way.
    const mayBeUnstructural = !this.#isSynced || specOf(outline).preserveUnknownFields === true;
    const known = before ?? { stored, outline, row: undefined, schemas: undefined, fingerprint: '', mayBeUnstructural };
    const hadNames = before === undefined ? undefined : statusOf(before.outline).acceptedNames;
    known.stored = stored;
    known.outline = outline;
    this.#known.set(name, known);
    if (isTrue(outline, 'Established')) this.#serve(name, known, definition);
    this.#enqueue(name);
    if (hadNames !== undefined && JSON.stringify(hadNames) !== JSON.stringify(statusOf(outline).acceptedNames)) this.#wakeGroup(specOf(outline).group);
  }

  /** Makes the row of a definition, unless the same is served. A definition of the name of a built-in resource is stored and serves nothing. */
  #serve(name: string, known: KnownDefinition, definition: KubeObject): void {
    const fingerprint = fingerprintOf(definition);
    const { group, names } = specOf(definition);
    if (known.fingerprint === fingerprint || this.#options.catalog.findResource(group, names.plural)?.custom === false) return;
    const { catalog, registry, formatAge, checkRules = checkSchemaRules, sendConversion, validateInWorker, random, clock } = this.#options;
    const replaced = known.row;
    const stored = (): StoredObject => (this.#known.get(name) ?? known).stored;
    known.fingerprint = fingerprint;
    known.schemas?.end();
    known.schemas = new SchemaShare(this.#schemas);
    known.row = createRow(definition, () => stored().object('v1'), {
      objectMeta: this.#objectMeta, formatAge, checkRules, sendConversion, random, clock, fingerprint, schemaCache: known.schemas,
      isLarge: known.stored.size > LARGE_BYTES,
      ...(validateInWorker !== undefined && {
        // A copy, since the bytes may be part of a large chunk, which would be copied with them.
        validateInWorker: (write) => validateInWorker({ ...write, definition: new Uint8Array(stored().bytes('v1', 'json-item')), fingerprint }),
      }),
    });
    catalog.add(known.row);
    if (replaced !== undefined) registry.release(replaced);
  }

  get #objectMeta(): Schema {
    const schema = this.#options.schemas.definition(OBJECT_META);
    invariant(schema !== undefined, 'ObjectMeta is known');
    return schema;
  }

  /** After a loss: definitions that are not in the list were deleted meanwhile. */
  #forgetAllBut({ items, revision }: ListResult): void {
    const listed = new Set(Array.from(items, ({ name }) => name));
    for (const name of [...this.#known.keys()]) if (!listed.has(name)) this.#forget(name, revision);
  }

  #forget(name: string, revision: number): void {
    const known = this.#known.get(name);
    if (known === undefined || known.stored.revision > revision) return;
    this.#known.delete(name);
    if (known.row !== undefined) {
      this.#options.catalog.remove(known.row.group, known.row.plural);
      this.#options.registry.release(known.row);
    }
    known.schemas?.end();
    this.#wakeGroup(specOf(known.outline).group);
  }

  #enqueue(name: string): void {
    if (this.#options.servesOnly !== true) this.#queue.add(name);
  }

  /** Names that became free may be names that other definitions of the group wait for. */
  #wakeGroup(group: string): void {
    for (const [name, { outline }] of this.#known) if (specOf(outline).group === group) this.#enqueue(name);
  }

  /** The names accepted for the other definitions of a group. */
  *#namesBeside(name: string): Iterable<DefinitionNames> {
    const own = this.#known.get(name);
    if (own === undefined) return;
    const { group } = specOf(own.outline);
    for (const [other, { outline }] of this.#known) {
      const { acceptedNames } = statusOf(outline);
      if (other !== name && specOf(outline).group === group && acceptedNames !== undefined) yield acceptedNames;
    }
  }

  async #work(name: string): Promise<number | undefined> {
    // Definitions can be large, and each step reads all of it: other work gets its turn in between.
    await takeTurn(this.#options.clock);
    this.catchUp();
    await takeTurn(this.#options.clock);
    const definition = this.#known.get(name);
    if (definition === undefined) return undefined;
    try {
      return await this.#lifecycle?.advance(name, definition);
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
      throw error;
    } finally {
      this.catchUp();
    }
  }
}

/** Of a larger definition the schemas are not parsed until they are compiled, which is done in steps. */
const LARGE_BYTES = 2 ** 16;
const schemaPath = ['spec', 'versions', '*', 'schema'];

/** A definition, without its schemas where it is large. */
function readDefinition(stored: StoredObject): KubeObject {
  if (stored.size <= LARGE_BYTES) return stored.object('v1');
  const definition = readWithout(stored, 'v1', schemaPath);
  return isCounted(definition) ? definition : stored.object('v1');
}

/** Whether uid and generation say which state of the spec this is. */
const isCounted = ({ metadata: { uid, generation } }: KubeObject): boolean => uid !== undefined && generation !== undefined;

/** A definition without its schemas, which can be large: names and conditions are all that its lifecycle reads. */
function outlineOf(definition: KubeObject): KubeObject {
  const spec = specOf(definition);
  return { ...definition, spec: { ...spec, versions: spec.versions?.map(({ schema: _schema, ...rest }) => rest) } };
}

/** The state that a row depends on. The generation grows with every change of the spec, which can be large. */
function fingerprintOf(definition: KubeObject): string {
  const { uid, generation } = definition.metadata;
  if (isCounted(definition)) return JSON.stringify([uid, generation, statusOf(definition).acceptedNames]);
  return JSON.stringify([definition['spec'], statusOf(definition).acceptedNames], (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

/** The definitions over a registry; nothing happens before `start`. */
export function createDefinitions(options: DefinitionsOptions): Definitions {
  return new ServedDefinitions(options);
}
