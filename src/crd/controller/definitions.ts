// Definitions at work: names are judged, kinds established and served, and emptied when their definition is deleted. One loop follows the
// definitions through the registry; writes that go through `watchWrites` are followed before their answer is sent, so that the next
// request of the same client finds what it defined.
import { type KubeObject, type Schema, type SchemaSet, StatusError, loadPatternEngine } from '../../apimachinery/index.ts';
import { type Clock, type Random, type Timer, delay, invariant } from '../../base/index.ts';
import {
  type AdmissionAttributes, type Catalog, type Reflector, type ListResult, type StoredObject, type OwnedRegistry, type Registry, type Resource, equalJson,
  formatTime, startReflector,
} from '../../registry/index.ts';
import { type CleanupState, emptyKind, failCleanup, finalizer, finishCleanup, startCleanup } from './cleanup.ts';
import { type RowDependencies, createRow } from '../row.ts';
import { isTrue } from '../conditions.ts';
import { type DefinitionNames, type DefinitionStatus, specOf, statusOf } from '../types.ts';
import { acceptNames, collectTaken, establish } from './names.ts';
import { checkApproval } from './approval-condition.ts';
import { checkSchemaRules } from '../validate/rules.ts';
import { checkStructure } from './structure-condition.ts';
import type { ValidateRequest } from '../validate-in-worker.ts';
import { SchemaCache } from '../schemas.ts';
import type { WriteVerdict } from '../strategy.ts';
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
  /** Judges writes that take long, away from here; without it they are judged at once. */
  readonly validateInWorker?: (request: ValidateRequest) => Promise<WriteVerdict>;
  /** Is told what will be tried again. */
  readonly report: (definition: string, error: unknown) => void;
}

/** The definitions of a server. */
export interface Definitions {
  /** Serves what is established already; resolves when all of it is. */
  start(): Promise<void>;
  /** The registry for everything above: writes of definitions take effect before they are answered. */
  watchWrites(): Registry;
  /** Admission of custom objects: nothing is created in a kind that is ending. */
  guardCreation(attributes: AdmissionAttributes): void;
  stop(): void;
}

interface WriteTarget {
  readonly resource: Resource;
  readonly context: { readonly dryRun: boolean };
}

/** What is known of one definition. */
interface Known {
  version: StoredObject;
  /** The definition without its schemas, which can be large: names and conditions are judged by it. */
  outline: KubeObject;
  readonly group: string;
  accepted: DefinitionNames | undefined;
  row: Resource | undefined;
  /** What the row was made from. */
  madeFrom: string;
  terminating: boolean;
  /** The row whose schemas the condition NonStructuralSchema was computed for. */
  structureCheckedFor?: string;
  /** The definition was written through this server, which refuses schemas that are not structural. */
  validated?: boolean;
}

const cleanupCheckMs = 100;
const longestCheckMs = 2000;
const retryMs = 200;

const objectMetaName = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
const manager = 'apiextensions-apiserver';

class DefinitionsOfServer implements Definitions {
  readonly #options: DefinitionsOptions;
  readonly #known = new Map<string, Known>();
  readonly #working = new Map<string, Promise<void>>();
  readonly #again = new Set<string>();
  readonly #timers = new Map<string, Timer>();
  readonly #schemas = new SchemaCache();
  readonly #cleanups = new Map<string, CleanupState>();
  #reflector: Reflector | undefined;
  #stopped = false;

  constructor(options: DefinitionsOptions) {
    this.#options = options;
  }

  guardCreation(attributes: AdmissionAttributes): void {
    const { resource, subresource } = attributes;
    if (subresource === '' && this.#known.get(`${resource.plural}.${resource.group}`)?.terminating === true) throw refuseCreation(attributes);
  }

  async start(): Promise<void> {
    const { registry, clock } = this.#options;
    this.#reflector = startReflector({
      registry, clock, target: { resource: this.#resource, version: 'v1', namespace: '' },
      onChange: (type, object, revision) => {
        if (type === 'deleted') this.#forget(object.name, revision);
        else this.#observe(object);
      },
      onListed: (list) => this.#forgetAllBut(list),
      onError: (error) => this.#options.report('', error),
    });
    await this.#reflector.synced;
    if (this.#known.size > 0) await loadPatternEngine();
  }

  stop(): void {
    this.#stopped = true;
    this.#reflector?.stop();
    for (const timer of this.#timers.values()) timer.cancel();
  }

  watchWrites(): Registry {
    const { registry } = this.#options;
    const concerns = ({ resource }: { readonly resource: Resource }): boolean => resource.kind === 'CustomResourceDefinition' && !resource.custom;
    const followed = <T extends { readonly object: StoredObject }>(target: WriteTarget, write: () => Promise<T>): Promise<T> =>
      (concerns(target) ? settled(target, write) : write());
    const settled = async <T extends { readonly object: StoredObject }>(target: WriteTarget, write: () => Promise<T>): Promise<T> => {
      await loadPatternEngine();
      const result = await write();
      if (!target.context.dryRun) this.#settle(result.object);
      const written = this.#known.get(result.object.name);
      if (written !== undefined) written.validated = true;
      return result;
    };
    return {
      get: (target, options) => registry.get(target, options),
      list: (target, options) => registry.list(target, options),
      watch: (target, options) => registry.watch(target, options),
      create: (request) => followed(request, () => registry.create(request)),
      update: (request) => followed(request, () => registry.update(request)),
      delete: (request) => followed(request, () => registry.delete(request)),
      deleteCollection: (target, list, options, context) => registry.deleteCollection(target, list, options, context),
    };
  }

  get #resource(): Resource {
    const resource = this.#options.catalog.findResource('apiextensions.k8s.io', 'customresourcedefinitions');
    invariant(resource !== undefined, 'definitions are served');
    return resource;
  }

  get #objectMeta(): Schema {
    const schema = this.#options.schemas.definition(objectMetaName);
    invariant(schema !== undefined, 'ObjectMeta is known');
    return schema;
  }

  /** Takes a state of a definition in; older ones than known are ignored. `written`: a write answered it, and this is what it wrote. */
  #observe(version: StoredObject, written?: KubeObject): void {
    const { name } = version;
    const known = this.#known.get(name);
    if (known !== undefined && known.version.revision >= version.revision) {
      // What a write answered has bytes of its own; the cache's version of the same state shares its bytes with the lists.
      if (known.version.revision === version.revision && written === undefined) known.version = version;
      return;
    }
    const definition = written ?? version.object('v1');
    const { group } = specOf(definition);
    const outline = outlineOf(definition);
    const state: Known = known ?? { version, outline, group, accepted: undefined, row: undefined, madeFrom: '', terminating: false };
    this.#known.set(name, state);
    state.version = version;
    state.outline = outline;
    state.accepted = statusOf(definition).acceptedNames;
    state.terminating = isTrue(definition, 'Terminating');
    if (isTrue(definition, 'Established')) this.#serve(name, state, definition);
    this.#work(name);
  }

  /** Makes the row of a definition, unless the same is served. */
  #serve(name: string, state: Known, definition: KubeObject): void {
    const madeFrom = fingerprint(definition);
    if (state.madeFrom === madeFrom) return;
    const { catalog, registry, formatAge, checkRules = checkSchemaRules, sendConversion, validateInWorker, random, clock } = this.#options;
    const replaced = state.row;
    state.madeFrom = madeFrom;
    const stored = (): StoredObject => (this.#known.get(name) ?? state).version;
    state.row = createRow(definition, () => stored().object('v1'), {
      objectMeta: this.#objectMeta, formatAge, checkRules, sendConversion, random, clock, fingerprint: madeFrom, schemaCache: this.#schemas,
      ...(validateInWorker !== undefined && {
        // A copy, since the bytes may lie in a large piece that would go along.
        validateInWorker: (write) => validateInWorker({ ...write, definition: new Uint8Array(stored().bytes('v1', 'json-item')), fingerprint: madeFrom }),
      }),
    });
    catalog.add(state.row);
    if (replaced !== undefined) registry.release(replaced);
  }

  /** After a loss: what is not in the list was deleted meanwhile. */
  #forgetAllBut({ items, revision }: ListResult): void {
    const listed = new Set(Array.from(items, ({ name }) => name));
    for (const name of [...this.#known.keys()]) if (!listed.has(name)) this.#forget(name, revision);
  }

  #forget(name: string, revision: number): void {
    const state = this.#known.get(name);
    if (state === undefined || state.version.revision > revision) return;
    this.#known.delete(name);
    if (state.row !== undefined) {
      this.#options.catalog.remove(state.row.group, state.row.plural);
      this.#options.registry.release(state.row);
    }
    this.#wakeGroup(state.group);
  }

  /** Names that became free may be what others of the group wait for. */
  #wakeGroup(group: string): void {
    for (const [name, state] of this.#known) if (state.group === group) this.#work(name);
  }

  /** One definition is worked on once at a time, and again when it changed meanwhile. */
  #work(name: string): void {
    if (this.#stopped) return;
    this.#again.add(name);
    if (this.#working.has(name)) return;
    const done = this.#run(name).finally(() => this.#working.delete(name));
    this.#working.set(name, done);
  }

  async #run(name: string): Promise<void> {
    // Writes by others come first: what was just observed may be answered before it is acted upon.
    await Promise.resolve();
    while (this.#again.delete(name) && !this.#stopped) {
      // Definitions can be large, and each step reads all of it: others get their turn in between.
      await delay(this.#options.clock, 0);
      try {
        const againMs = await this.#step(name);
        if (againMs !== undefined) this.#workLater(name, againMs);
      } catch (error) {
        if (this.#stopped || (error instanceof StatusError && error.reason === 'NotFound')) return;
        this.#options.report(name, error);
        this.#workLater(name, retryMs);
        return;
      }
    }
  }

  #workLater(name: string, afterMs: number): void {
    this.#timers.get(name)?.cancel();
    this.#timers.set(name, this.#options.clock.after(afterMs, () => {
      this.#timers.delete(name);
      this.#work(name);
    }));
  }

  /** What the state of a definition asks for; a number asks for another look. */
  async #step(name: string): Promise<number | undefined> {
    const state = this.#known.get(name);
    if (state === undefined) return undefined;
    const definition = state.outline;
    if (definition.metadata.deletionTimestamp !== undefined && definition.metadata.finalizers?.includes(finalizer)) return this.#cleanUp(name, state,
      definition);
    const now = formatTime(this.#options.clock.now());
    const taken = collectTaken(this.#othersOf(name, state));
    const named = acceptNames(definition, taken, now);
    if (!equalJson(named, statusOf(definition))) {
      await this.#writeStatus(name, (current) => acceptNames(current, taken, now));
      this.#wakeGroup(state.group);
      return undefined;
    }
    const established = establish(definition, now);
    if (established !== undefined) {
      const next: KubeObject = { ...definition, status: established };
      if (isTrue(next, 'Established')) this.#serve(name, state, next);
      await this.#writeStatus(name, (current) => establish(current, now));
      return undefined;
    }
    if (this.#checkStructure(state, now) !== undefined) {
      await this.#writeStatus(name, (current) => checkStructure(current, now));
      return undefined;
    }
    if (checkApproval(definition, now) !== undefined) await this.#writeStatus(name, (current) => checkApproval(current, now));
    return undefined;
  }

  *#othersOf(name: string, { group }: Known): Iterable<DefinitionNames> {
    for (const [other, state] of this.#known) if (other !== name && state.group === group && state.accepted !== undefined) yield state.accepted;
  }

  async #writeStatus(name: string, change: (current: KubeObject) => DefinitionStatus | undefined): Promise<void> {
    await this.#update(name, 'status', (current) => {
      const status = change(current);
      return status === undefined ? current : { ...current, status };
    });
  }

  async #update(name: string, subresource: string, change: (current: KubeObject) => KubeObject): Promise<void> {
    const { registry } = this.#options;
    let written: KubeObject | undefined;
    const result = await registry.update({
      resource: this.#resource, version: 'v1', namespace: '', name, subresource, createIfAbsent: false, context: createContext(),
      transform(current) {
        invariant(current !== undefined, 'an update without create has a current object');
        return (written = change(current));
      },
    });
    this.#settle(result.object, written);
  }

  /** Takes in what a write led to: a new state, or the end. */
  #settle(object: StoredObject, written: KubeObject = object.object('v1')): void {
    const { deletionTimestamp, finalizers } = written.metadata;
    if (deletionTimestamp !== undefined && !finalizers?.length) this.#forget(object.name, Number.MAX_SAFE_INTEGER);
    else this.#observe(object, written);
  }

  /** Deletes what is left of a kind; a failure is told in the definition before it is tried again. */
  async #empty(name: string, { row }: Known): Promise<number> {
    if (row === undefined) return 0;
    try {
      return await emptyKind(this.#options.registry, row, createContext());
    } catch (error) {
      const now = formatTime(this.#options.clock.now());
      await this.#writeStatus(name, (current) => failCleanup(current, messageOf(error), now));
      throw error;
    }
  }

  /** Schemas are looked at once per row. */
  #checkStructure(state: Known, now: string): DefinitionStatus | undefined {
    if (state.structureCheckedFor === state.madeFrom || state.validated === true) return undefined;
    state.structureCheckedFor = state.madeFrom;
    return checkStructure(state.version.object('v1'), now);
  }

  async #cleanUp(name: string, state: Known, definition: KubeObject): Promise<number | undefined> {
    const now = formatTime(this.#options.clock.now());
    const begun = startCleanup(definition, now);
    if (begun !== undefined) await this.#writeStatus(name, (current) => startCleanup(current, now) ?? statusOf(current));
    const left = await this.#empty(name, state);
    if (left > 0) {
      const waits = (this.#cleanups.get(name)?.waitMs ?? cleanupCheckMs / 2) * 2;
      this.#cleanups.set(name, { waitMs: Math.min(waits, longestCheckMs) });
      return Math.min(waits, longestCheckMs);
    }
    this.#cleanups.delete(name);
    await this.#writeStatus(name, (current) => finishCleanup(current, formatTime(this.#options.clock.now())));
    // By the status path: the main one would refuse a definition whose stored versions are not all declared, and it could never go.
    await this.#update(name, 'status', (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((f) => f !== finalizer);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
    return undefined;
  }
}

/** A definition without its schemas. */
function outlineOf(definition: KubeObject): KubeObject {
  const spec = specOf(definition);
  return { ...definition, spec: { ...spec, versions: spec.versions?.map(({ schema: _schema, ...rest }) => rest) } };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** What a row depends on. The generation grows with every change of the spec, which can be large. */
function fingerprint(definition: KubeObject): string {
  const { uid, generation } = definition.metadata;
  if (uid !== undefined && generation !== undefined) return JSON.stringify([uid, generation, statusOf(definition).acceptedNames]);
  return JSON.stringify([definition['spec'], statusOf(definition).acceptedNames], (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value));
}

const createContext = () => ({ user: { name: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }, dryRun: false, fieldManager: manager,
  warnings: [] as string[] });

/** The definitions over a registry; nothing happens before `start`. */
export function createDefinitions(options: DefinitionsOptions): Definitions {
  return new DefinitionsOfServer(options);
}
