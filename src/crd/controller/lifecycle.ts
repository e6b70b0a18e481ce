// The steps of a definition's life, each a write of its status. Mirrors the naming, establishing, non-structural schema, approval and finalizing
// controllers of apiextensions-apiserver in one loop: `advance` takes the first step that the state asks for, and the change calls it again.
//
//   names accepted (or in conflict) ─▶ structure checked ─▶ established ─▶ approval checked
//   deletionTimestamp set ─▶ objects deleted, again and again while finalizers hold some ─▶ finalizer removed
import { type KubeObject, equalJson, loadPatternEngine } from '../../apimachinery/index.ts';
import type { Clock } from '../../base/index.ts';
import {
  type OwnedRegistry, type Resource, type StoredObject, type SystemClient, createClientOf, createSystemContext, formatTime,
} from '../../registry/index.ts';
import { conditionOf } from '../conditions.ts';
import { type DefinitionNames, type DefinitionStatus, specOf, statusOf } from '../types.ts';
import { checkApproval } from './approval-condition.ts';
import { emptyKind, failCleanup, FINALIZER, finishCleanup, startCleanup } from './cleanup.ts';
import { acceptNames, collectTaken, establish } from './names.ts';
import { checkStructure, STRUCTURE_CONDITION } from './structure-condition.ts';

/** A definition as its lifecycle needs it. */
export interface Definition {
  readonly stored: StoredObject;
  /** The definition without its schemas. */
  readonly outline: KubeObject;
  /** The kind as it is served; undefined when it is not. */
  readonly row: Resource | undefined;
  /** No server has validated the schemas as far as this one knows. */
  mayBeUnstructural: boolean;
}

interface LifecycleOptions {
  readonly registry: OwnedRegistry;
  /** The resource of definitions. */
  readonly resource: Resource;
  readonly clock: Clock;
  /** The names accepted for the other definitions of the group. */
  readonly takenBy: (name: string) => Iterable<DefinitionNames>;
}

const MANAGER = 'kube-apiserver';
const FIRST_CLEANUP_MS = 100;
const LONGEST_CLEANUP_MS = 2000;

interface AcceptedNames {
  readonly group: string;
  readonly names: DefinitionNames | undefined;
}

/** Computes a status; undefined or an equal one when there is nothing to do. */
type NextStatus = (definition: KubeObject) => DefinitionStatus | undefined;

/** Brings definitions to what their state asks for. */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #client: SystemClient;
  /** By definition, names whose acceptance is being written. */
  readonly #accepting = new Map<string, AcceptedNames>();
  /** By definition, how long the last look at its objects was followed by a pause. */
  readonly #pauses = new Map<string, number>();

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#client = createClientOf(options.registry, options.resource, MANAGER);
  }

  /** Takes the next step of a definition; resolves with milliseconds after which to look again, if nothing else would ask for it. */
  async advance(name: string, definition: Definition): Promise<number | undefined> {
    const { outline } = definition;
    const { deletionTimestamp, finalizers } = outline.metadata;
    if (deletionTimestamp !== undefined && finalizers?.includes(FINALIZER)) return this.#cleanUp(name, definition);
    const now = formatTime(this.#options.clock.now());
    const steps: readonly NextStatus[] = [
      (current) => acceptNames(current, collectTaken(this.#namesBeside(name, specOf(outline).group)), now),
      ...(await this.#structureSteps(definition, now)),
      (current) => establish(current, now),
      (current) => checkApproval(current, now),
    ];
    for (const step of steps) {
      const next = step(outline);
      if (next === undefined || equalJson(next, statusOf(outline))) continue;
      await this.#writeWithNames(name, { group: specOf(outline).group, names: next.acceptedNames }, step);
      return undefined;
    }
    return undefined;
  }

  *#namesBeside(name: string, group: string): Iterable<DefinitionNames> {
    yield* this.#options.takenBy(name);
    for (const [other, { group: otherGroup, names }] of this.#accepting) if (other !== name && otherGroup === group && names !== undefined) yield names;
  }

  /** Names that are being written are taken already: two definitions that are written at once must not both get them. */
  async #writeWithNames(name: string, accepting: AcceptedNames, next: NextStatus): Promise<void> {
    this.#accepting.set(name, accepting);
    try {
      await this.#writeStatus(name, next);
    } finally {
      this.#accepting.delete(name);
    }
  }

  /** Schemas are walked once, and again while a condition says that something is wrong with them. */
  async #structureSteps(definition: Definition, now: string): Promise<readonly NextStatus[]> {
    if (!definition.mayBeUnstructural && conditionOf(definition.outline, STRUCTURE_CONDITION) === undefined) return [];
    await loadPatternEngine();
    const wrong = checkStructure(definition.stored.object('v1'), now);
    if (wrong === undefined) definition.mayBeUnstructural = false;
    return wrong === undefined ? [] : [(current) => (current === definition.outline ? wrong : checkStructure(current, now))];
  }

  async #writeStatus(name: string, next: NextStatus): Promise<void> {
    await this.#client.update({ namespace: '', name }, 'status', (current) => {
      const status = next(current);
      return status === undefined ? current : { ...current, status };
    });
  }

  async #cleanUp(name: string, definition: Definition): Promise<number | undefined> {
    const now = (): string => formatTime(this.#options.clock.now());
    if (startCleanup(definition.outline, now()) !== undefined) await this.#writeStatus(name, (current) => startCleanup(current, now()));
    const left = await this.#empty(name, definition.row);
    if (left > 0) {
      const pauseMs = Math.min((this.#pauses.get(name) ?? FIRST_CLEANUP_MS / 2) * 2, LONGEST_CLEANUP_MS);
      this.#pauses.set(name, pauseMs);
      return pauseMs;
    }
    this.#pauses.delete(name);
    await this.#writeStatus(name, (current) => finishCleanup(current, now()));
    // By the status path: the main one would refuse a definition whose stored versions are not all declared, and it could never be removed.
    await this.#client.update({ namespace: '', name }, 'status', (current) => {
      const finalizers = (current.metadata.finalizers ?? []).filter((one) => one !== FINALIZER);
      return { ...current, metadata: { ...current.metadata, finalizers } };
    });
    return undefined;
  }

  /** Deletes the objects of a kind and returns how many are left; a failure is written into the definition before it is tried again. */
  async #empty(name: string, row: Resource | undefined): Promise<number> {
    if (row === undefined) return 0;
    const { registry, clock } = this.#options;
    try {
      return await emptyKind(registry, row, createSystemContext(MANAGER));
    } catch (error) {
      const now = formatTime(clock.now());
      await this.#writeStatus(name, (current) => failCleanup(current, error instanceof Error ? error.message : String(error), now));
      throw error;
    }
  }
}
