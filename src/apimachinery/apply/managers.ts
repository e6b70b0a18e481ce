// managedFields: which manager owns which paths. Reading and writing the entries, and what happens to owners when an object changes.
// Mirrors upstream's fieldmanager and structured-merge-diff's updater: the same identities, order, caps and clearing rules.
import { compareKeys } from '../../base/index.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { type Comparison, compareObjects } from './compare.ts';
import { type FieldSet, emptySet, encodeFieldSet, fieldSetOf, readFieldSet } from './field-set.ts';
import { reconcileFields } from './reconcile.ts';
import { typedProblem } from './typed.ts';

/** What one manager owns. `time` is absent for entries that never changed hands by a write. */
export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
  /** The stored entry that this was read from, and its set: a manager that is still what that says is written as it was. */
  readonly stored?: { readonly entry: ManagedFieldsEntry; readonly set: FieldSet };
}

/** Managers by identity. */
export type Managers = ReadonlyMap<string, Manager>;

/** The versions of a kind: its schema in each (undefined: there is no such version), and how to get from one to the other. */
export interface ManagedVersions {
  schemaFor(apiVersion: string): Schema | undefined;
  convert(object: KubeObject, apiVersion: string): KubeObject;
  /**
   * Whether a converted object may not fit its version, as those of custom resources may, whose versions have schemas of their own. Owners in a version
   * that is gone are an error there; those of other kinds are dropped.
   */
  readonly mayUnfit: boolean;
}

/** The paths that an endpoint never writes, in the terms of a version. */
export type ResetFields = (apiVersion: string) => FieldSet | undefined;

/** More Update managers than this are merged into `ancient-changes`. */
const MAX_UPDATE_MANAGERS = 10;
const ANCIENT_MANAGER = 'ancient-changes';

/** Paths without an owner: identity and the fields that the server keeps. */
const unowned = fieldSetOf(['f:apiVersion'], ['f:kind'], ['f:metadata'],
  ...['name', 'namespace', 'creationTimestamp', 'selfLink', 'uid', 'clusterName', 'generation', 'managedFields', 'resourceVersion']
    .map((f) => ['f:metadata', `f:${f}`]));

/** Identity of a manager: appliers are the same whatever version they apply. */
export function identityOf({ manager, operation, apiVersion, subresource }: Omit<Manager, 'set' | 'time'>): string {
  return `${manager}\u0000${operation}\u0000${operation === 'Apply' ? '' : apiVersion}\u0000${subresource}`;
}

const noManagers: Managers = new Map();

/** Reads entries; undefined when one of them is malformed. `stored`: they come from a stored object, not from a client. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined, stored = false): Managers | undefined {
  if (entries === undefined || entries === null || entries.length === 0) return noManagers;
  const managers = new Map<string, Manager>();
  for (const entry of entries) {
    const set = entry.fieldsV1 === undefined ? emptySet : readFieldSet(entry.fieldsV1);
    if (set === undefined || (entry.operation !== 'Apply' && entry.operation !== 'Update')) return undefined;
    if (entry.fieldsType !== 'FieldsV1' || !entry.apiVersion) return undefined;
    const manager: Manager = {
      manager: entry.manager ?? '', operation: entry.operation, apiVersion: entry.apiVersion, subresource: entry.subresource ?? '', time: entry.time, set,
      ...(stored && { stored: { entry, set } }),
    };
    managers.set(identityOf(manager), manager);
  }
  return managers;
}

function compareManagers(a: Manager, b: Manager): number {
  return compareKeys(a.operation, b.operation) || compareKeys(a.time ?? '', b.time ?? '') || compareKeys(a.manager, b.manager)
    || compareKeys(a.apiVersion, b.apiVersion) || compareKeys(a.subresource, b.subresource);
}

/** Writes entries in the reference's order; undefined when there are none. */
export function encodeManagers(managers: Managers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  return [...managers.values()].sort(compareManagers).map(encodeManager);
}

function isEntryOf(owner: Manager, { manager = '', operation, apiVersion, time, subresource = '', fieldsV1 }: ManagedFieldsEntry): boolean {
  const isSame = manager === owner.manager && operation === owner.operation && apiVersion === owner.apiVersion;
  return isSame && time === owner.time && subresource === owner.subresource && fieldsV1 !== undefined;
}

/** Writes one entry. */
export function encodeManager(owner: Manager): ManagedFieldsEntry {
  const { manager, operation, apiVersion, time, set, subresource, stored } = owner;
  if (stored?.set === set && isEntryOf(owner, stored.entry)) return stored.entry;
  const entry = (manager ? { manager, operation, apiVersion } : { operation, apiVersion }) as ManagedFieldsEntry;
  if (time) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = stored?.set === set && stored.entry.fieldsV1 !== undefined ? stored.entry.fieldsV1 : encodeFieldSet(set);
  if (subresource) entry.subresource = subresource;
  return entry;
}

/** True for `managedFields: []` and `[{}]`, by which a client asks to forget all owners. */
function resetsManagers(entries: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (entries === undefined || entries === null) return false;
  return entries.length === 0 || (entries.length === 1 && Object.keys(entries[0] as object).length === 0);
}

const entryFields = ['manager', 'operation', 'apiVersion', 'time', 'fieldsType', 'fieldsV1', 'subresource'] as const;

type Entries = KubeObject['metadata']['managedFields'];

/** Whether both are the same entries; fieldsV1 is compared by identity, which is enough for entries that nothing has touched. */
export function sameEntries(before: Entries, after: Entries): boolean {
  if (before?.length !== after?.length) return false;
  return before === after || (before ?? []).every((entry, i) => entryFields.every((name) => entry[name] === (after as ManagedFieldsEntry[])[i]?.[name]));
}

/** The owners before a write: those that the request states if it does, else those of the live object. */
export function managersBefore(live: KubeObject | undefined, requested: KubeObject, isSubresource: boolean): Managers {
  const ofLive = (): Managers => decodeManagers(live?.metadata.managedFields, true) ?? new Map();
  if (isSubresource) return ofLive();
  const entries = requested.metadata.managedFields;
  if (entries !== undefined && sameEntries(entries, live?.metadata.managedFields)) return ofLive();
  if (resetsManagers(entries)) return new Map();
  const stated = decodeManagers(entries);
  return stated === undefined || stated.size === 0 ? ofLive() : stated;
}

/** Paths that clash, by the identity of the manager that owns them. */
export type Conflicts = Map<string, { readonly manager: Manager; readonly set: FieldSet }>;

/** Input of a change of ownership. `self` is the identity of the writer. */
interface Change {
  readonly versions: ManagedVersions;
  readonly apiVersion: string;
  readonly live: KubeObject;
  readonly object: KubeObject;
  readonly managers: Managers;
  readonly self: string;
  readonly reset: ResetFields | undefined;
}

/** The set without the paths that an endpoint never writes. */
export const withoutReset = (set: FieldSet, reset: FieldSet | undefined): FieldSet => (reset ? set.differenceWithBelow(reset) : set);

/** An object in a version does not fit the schema of that version. */
export class UnfitVersionError extends Error {}

/** What `run` returns; an UnfitVersionError first says which step it ended. */
export function namingStep<T>(step: string, run: () => T): T {
  try {
    return run();
  } catch (error) {
    throw error instanceof UnfitVersionError ? new UnfitVersionError(`${step}: ${error.message}`) : error;
  }
}

/** The object in another version. Throws UnfitVersionError where it does not fit that. */
export function convertTyped(versions: ManagedVersions, object: KubeObject, apiVersion: string): KubeObject {
  if (!versions.mayUnfit) return versions.convert(object, apiVersion);
  const schema = versions.schemaFor(apiVersion);
  if (schema === undefined) throw new UnfitVersionError(`request to convert CR to an invalid group/version: ${apiVersion}`);
  const converted = versions.convert(object, apiVersion);
  const problem = typedProblem(schema, converted);
  if (problem !== undefined) throw new UnfitVersionError(problem);
  return converted;
}

/** Whether owners in a version are dropped because there is none. */
export const isMissing = (versions: ManagedVersions, apiVersion: string): boolean => !versions.mayUnfit && versions.schemaFor(apiVersion) === undefined;

/** Owners in the terms of the schemas as they are now. Throws UnfitVersionError where the live object does not fit the version of one of them. */
export function reconcileManagers({ versions, apiVersion, live, managers }: Pick<Change, 'versions' | 'apiVersion' | 'live' | 'managers'>): Managers {
  const reconciled = new Map<string, Manager>();
  const checked = new Set([apiVersion]);
  for (const [identity, manager] of managers) {
    if (isMissing(versions, manager.apiVersion)) continue;
    if (versions.mayUnfit && !checked.has(manager.apiVersion)) convertTyped(versions, live, manager.apiVersion);
    checked.add(manager.apiVersion);
    const set = reconcileFields(versions.schemaFor(manager.apiVersion) as Schema, manager.set);
    reconciled.set(identity, set === manager.set ? manager : { ...manager, set });
  }
  return reconciled;
}

function compareIn(change: Change, apiVersion: string): Comparison | undefined {
  if (isMissing(change.versions, apiVersion)) return undefined;
  const at = (object: KubeObject, name: string): KubeObject =>
    (apiVersion === change.apiVersion ? object : namingStep(`failed to convert ${name}`, () => convertTyped(change.versions, object, apiVersion)));
  const [live, object] = [at(change.live, 'old object'), at(change.object, 'new object')];
  const { added, removed, modified } = compareObjects(change.versions.schemaFor(apiVersion) as Schema, live, object);
  const reset = change.reset?.(apiVersion);
  return { added: withoutReset(added, reset), removed: withoutReset(removed, reset), modified: withoutReset(modified, reset) };
}

/** Takes changed and removed paths away from all managers but the writer. What changed under others is listed in `conflicts`. */
export function takeChanged(change: Change): { managers: Map<string, Manager>; comparison: Comparison; conflicts: Conflicts } {
  const comparisons = new Map<string, Comparison | undefined>();
  const comparisonIn = (apiVersion: string): Comparison | undefined => {
    if (!comparisons.has(apiVersion)) comparisons.set(apiVersion, compareIn(change, apiVersion));
    return comparisons.get(apiVersion);
  };
  const managers = new Map<string, Manager>();
  const conflicts: Conflicts = new Map();
  for (const [identity, manager] of change.managers) {
    if (identity === change.self) { managers.set(identity, manager); continue; }
    const comparison = comparisonIn(manager.apiVersion);
    if (comparison === undefined) continue;
    const changed = comparison.modified.union(comparison.added);
    const set = changed.isEmpty ? emptySet : manager.set.intersection(changed);
    if (!set.isEmpty) conflicts.set(identity, { manager, set });
    const left = manager.set.difference(set).difference(comparison.removed);
    if (!left.isEmpty) managers.set(identity, left.equals(manager.set) ? manager : { ...manager, set: left });
  }
  return { managers, comparison: comparisonIn(change.apiVersion) ?? { added: emptySet, removed: emptySet, modified: emptySet }, conflicts };
}

/** The set without identity and other paths that have no owner. */
export const stripUnowned = (set: FieldSet): FieldSet => set.difference(unowned);

/** Merges the oldest Update managers of a version into one when there are too many. */
function capManagers(managers: Map<string, Manager>): void {
  if (managers.size <= MAX_UPDATE_MANAGERS) return;
  const updaters = [...managers].filter(([, m]) => m.operation === 'Update')
    .sort(([a, x], [b, y]) => compareKeys(x.time ?? '', y.time ?? '') || compareKeys(a, b));
  let count = updaters.length;
  const firsts = new Map<string, string>();
  for (const [identity, manager] of updaters) {
    if (count <= MAX_UPDATE_MANAGERS) return;
    const first = firsts.get(manager.apiVersion);
    if (first === undefined) { firsts.set(manager.apiVersion, identity); continue; }
    const ancient: Manager = { manager: ANCIENT_MANAGER, operation: 'Update', apiVersion: manager.apiVersion, subresource: '', time: manager.time,
      set: manager.set };
    const bucket = identityOf(ancient);
    const held = managers.get(bucket) ?? (managers.get(first) as Manager);
    managers.delete(first);
    managers.delete(identity);
    managers.set(bucket, { ...ancient, set: manager.set.union(held.set) });
    firsts.set(manager.apiVersion, bucket);
    count--;
  }
}

/** The updating manager and the time of the update. `time` is RFC 3339 to the second. */
export interface Updater {
  readonly manager: string;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string;
}

const CURRENT_OPERATION = 'current-operation';

/** What a writer owns that kept some of its paths and took others. One that changed only what was its own has what it had: that is written already. */
function ownedAfter(before: Manager | undefined, kept: Manager | undefined, taken: FieldSet): Pick<Manager, 'set' | 'stored'> {
  const set = kept === undefined ? taken : kept.set.union(taken);
  if (before?.set.equals(set) !== true) return { set };
  return before.stored === undefined ? { set: before.set } : { set: before.set, stored: before.stored };
}

/** An object without managedFields, the one part that has no owner. */
export function withoutOwners(object: KubeObject): KubeObject {
  const { managedFields, ...metadata } = object.metadata;
  return managedFields === undefined ? object : { ...object, metadata };
}

/** Owners after a create, PUT or patch: the writer gains what it added or changed, others lose it. */
export function updateManagers(change: Omit<Change, 'self' | 'apiVersion'>, updater: Updater): Managers {
  const { versions, reset } = change;
  const { apiVersion } = updater;
  const [live, object] = [withoutOwners(change.live), withoutOwners(change.object)];
  const before = reconcileManagers({ versions, apiVersion, live, managers: change.managers });
  const { managers, comparison } = takeChanged({ versions, live, object, managers: before, reset, apiVersion, self: CURRENT_OPERATION });
  const taken = stripUnowned(comparison.modified.union(comparison.added));
  if (taken.isEmpty) return managers;
  const entry = { manager: updater.manager, operation: 'Update', apiVersion: updater.apiVersion, subresource: updater.subresource,
    time: updater.time } as const;
  const identity = identityOf(entry);
  managers.set(identity, Object.assign(ownedAfter(before.get(identity), managers.get(identity), taken), entry));
  capManagers(managers);
  return managers;
}

/** Same owners of the same paths in the same versions; times are not looked at. */
export function sameManagers(a: Managers, b: Managers): boolean {
  if (a.size !== b.size) return false;
  for (const [identity, manager] of a) {
    const other = b.get(identity);
    if (other === undefined || other.apiVersion !== manager.apiVersion || !other.set.equals(manager.set)) return false;
  }
  return true;
}
