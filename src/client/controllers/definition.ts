// Controllers as their authors write them: the kinds that they follow, and a function that brings one object closer to what is wanted.
import type { KubernetesObject, OwnerReference } from '../objects.ts';
import type { ControllerClient } from './controller-client.ts';
import type { KindReference, ObjectName } from './kinds.ts';

/** A kind whose objects concern others, and which ones. */
export interface WatchedKind extends KindReference {
  /** The objects to reconcile when this one has changed or is gone. */
  requests(object: KubernetesObject): readonly ObjectName[];
}

/** What a reconciliation gets. */
export interface ReconcileRequest<T extends KubernetesObject> extends ObjectName {
  /** The object as the informer has it, a copy; undefined when it is gone. */
  readonly object: T | undefined;
  readonly client: ControllerClient;
  /** Aborted when the controller stops. */
  readonly signal: AbortSignal;
}

/** What a reconciliation asks for. */
export interface ReconcileResult {
  /** Look again after this time, whatever happens meanwhile. */
  readonly requeueAfterMs?: number;
}

/** A controller. */
export interface ControllerDefinition<T extends KubernetesObject = KubernetesObject> {
  /** The field manager of its writes, and its name in errors. */
  readonly name: string;
  readonly for: KindReference;
  /** Kinds of objects that it makes: a change of one reconciles the object that controls it. */
  readonly owns?: readonly KindReference[];
  readonly watches?: readonly WatchedKind[];
  /** Objects that are reconciled at the same time; 1 when absent. One object never is. */
  readonly concurrency?: number;
  /** Failed reconciliations are tried again: after `firstMs` (20), then after twice the time, up to `lastMs` (15,000). */
  readonly retry?: { readonly firstMs?: number; readonly lastMs?: number };
  /** Reconciles one object; a rejection is tried again. It must reach the same end from any state, and any number of times. */
  reconcile(request: ReconcileRequest<T>): Promise<ReconcileResult | void>;
}

/** Checks a controller and gives it its type. Throws TypeError for one without a name, or with a concurrency below 1. */
export function defineController<T extends KubernetesObject = KubernetesObject>(definition: ControllerDefinition<T>): ControllerDefinition<T> {
  if (definition.name === '') throw new TypeError('a controller needs a name');
  if (definition.concurrency !== undefined && !(definition.concurrency >= 1)) throw new TypeError(`${definition.name}: concurrency must be at least 1`);
  return definition;
}

/** The reference by which an object belongs to its controller: deleted with it, and reconciled when it changes. */
export function controlledBy(owner: KubernetesObject): OwnerReference {
  const { apiVersion = '', kind = '', metadata } = owner;
  return { apiVersion, kind, name: metadata?.name ?? '', uid: metadata?.uid ?? '', controller: true, blockOwnerDeletion: true };
}
