// Server-side apply: an intent laid over the live object, what the applier no longer states taken out, conflicts with other owners found.
// Mirrors structured-merge-diff's Apply with prune, and upstream's rules for objects that knew no owners or client-side apply before.
import { compareKeys } from '../../base/index.ts';
import type { KubeObject, ManagedFieldsEntry } from '../object.ts';
import type { Schema } from '../schema/schema.ts';
import { toFieldSet } from './compare.ts';
import { type FieldSet, emptySet, formatPath } from './field-set.ts';
import {
  type Conflicts, type ManagedVersions, type Manager, type Managers, type ResetFields, convertTyped, decodeManagers, encodeManagers, identityOf, isMissing,
  namingStep, reconcileManagers, sameManagers, stripUnowned, takeChanged, updateManagers, withoutReset,
} from './managers.ts';
import { mergeValues, removeItems, withNamedFields } from './merge.ts';
import { statedFields } from './outline.ts';
import { equalJson } from '../equal.ts';

/** The live object holds paths with other values that others own. `causes` are the reference's, one per path. */
export class ApplyConflictError extends Error {
  readonly causes: readonly { readonly reason: string; readonly message: string; readonly field: string }[];
  readonly conflicts: Conflicts;
  constructor(conflicts: Conflicts) {
    const parties = [...conflicts.values()].sort((a, b) => compareKeys(identifierOf(a.manager), identifierOf(b.manager)))
      .map(({ manager, set }) => ({ name: describeManager(manager), paths: [...set.paths()].map(formatPath) }));
    const count = parties.reduce((sum, party) => sum + party.paths.length, 0);
    super(count === 1
      ? `Apply failed with 1 conflict: conflict with ${parties[0]?.name}: ${parties[0]?.paths[0]}`
      : `Apply failed with ${count} conflicts: ${parties.map(({ name, paths }) => `conflicts with ${name}:\n- ${paths.join('\n- ')}`).join('\n')}`);
    this.conflicts = conflicts;
    this.causes = parties.flatMap(({ name, paths }) => paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${name}`, field })));
  }
}

/** What the reference knows managers by, and sorts them by: appliers before updaters, a subresource before none. */
const identifierOf = ({ manager, operation, apiVersion, subresource }: Manager): string =>
  JSON.stringify({ manager, operation, ...(operation === 'Update' && { apiVersion }), ...(subresource !== '' && { subresource }) });

function describeManager({ manager, operation, apiVersion, subresource }: Manager): string {
  const below = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${below}${operation === 'Update' ? ` using ${apiVersion}` : ''}`;
}

/** One apply. `live` is the current object (for a create: the zero object of the kind). */
interface ApplyInput {
  readonly versions: ManagedVersions;
  readonly apiVersion: string;
  readonly subresource: string;
  readonly manager: string;
  readonly force: boolean;
  readonly live: KubeObject;
  readonly config: KubeObject;
  /** RFC 3339 to the second. */
  readonly time: string;
  readonly reset?: ResetFields;
  /** The zero object of the kind, against which an object without owners is seen as made by `before-first-apply`. */
  readonly zero: KubeObject;
}

/** What came of it; `managedFields` is to be written into the object, which is the live one where nothing but owners changed. */
interface ApplyOutput {
  readonly object: KubeObject;
  readonly isChanged: boolean;
  readonly managedFields: ManagedFieldsEntry[] | undefined;
}

const withoutManagers = (object: KubeObject): KubeObject => {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
};

function managersOf(input: ApplyInput, live: KubeObject): Managers {
  const known = decodeManagers(input.live.metadata.managedFields, true) ?? new Map<string, Manager>();
  const exists = input.live.metadata.uid !== undefined && input.live.metadata.uid !== '';
  if (known.size > 0 || !exists) return known;
  return updateManagers({ versions: input.versions, live: input.zero, object: live, managers: new Map(), reset: input.reset },
    { manager: 'before-first-apply', apiVersion: input.apiVersion, subresource: input.subresource, time: input.time });
}

/**
 * Lays `config` over `live`. Throws ApplyConflictError unless forced, TypedValueError for an intent that cannot be typed, UnfitVersionError where an
 * object does not fit a version that another owner wrote.
 */
export function applyConfiguration(input: ApplyInput): ApplyOutput {
  const schema = input.versions.schemaFor(input.apiVersion) as Schema;
  const live = withoutManagers(input.live);
  const { versions, apiVersion } = input;
  const before = reconcileManagers({ versions, apiVersion, live, managers: managersOf(input, live) });
  const self = { manager: input.manager, operation: 'Apply', apiVersion: input.apiVersion, subresource: input.subresource } as const;
  const identity = identityOf(self);
  const last = before.get(identity);
  const merged = mergeValues(schema, live, input.config) as KubeObject;
  const stated = withoutReset(statedFields(schema, input.config), input.reset?.(apiVersion));
  const managers = new Map(before).set(identity, { time: last?.time, set: stated, ...self });
  const pruned = namingStep('failed to prune fields', () => prune({ input, merged, managers, stated, last }));
  const taken = takeChanged({ versions, apiVersion, live, object: pruned, managers, self: identity, reset: input.reset });
  if (taken.conflicts.size > 0 && !input.force) throw new ApplyConflictError(taken.conflicts);
  return finish({ input, live, object: pruned, before, managers: taken.managers, identity });
}

interface Applied {
  readonly input: ApplyInput;
  readonly live: KubeObject;
  readonly object: KubeObject;
  readonly before: Managers;
  readonly managers: Map<string, Manager>;
  readonly identity: string;
}

function finish(step: Applied): ApplyOutput {
  const { managers, identity, before, input } = step;
  const mine = managers.get(identity) as Manager;
  const set = stripUnowned(mine.set);
  const last = before.get(identity)?.set;
  if (set.isEmpty) managers.delete(identity);
  else managers.set(identity, { ...mine, set: last?.equals(set) === true ? last : set });
  // An apply that changes nothing but owners leaves its time as it was: an applier that shares everything has none.
  if (equalJson(step.live, step.object)) {
    return { object: step.live, isChanged: false, managedFields: encodeManagers(sameManagers(managers, before) ? before : managers) };
  }
  const entry = managers.get(identity);
  if (entry) managers.set(identity, { ...entry, time: input.time });
  return { object: step.object, isChanged: true, managedFields: encodeManagers(managers) };
}

interface Pruning {
  readonly input: ApplyInput;
  readonly merged: KubeObject;
  readonly managers: Managers;
  /** What this apply states. */
  readonly stated: FieldSet;
  readonly last: Manager | undefined;
}

/** Removes the fields that this applier stated last time and omits now, unless another manager owns them. */
function prune({ input, merged, managers, stated, last }: Pruning): KubeObject {
  if (last === undefined || last.set.isEmpty) return merged;
  const { versions } = input;
  const others = new Set([...managers.values()].map(({ apiVersion }) => apiVersion).filter((apiVersion) => apiVersion !== last.apiVersion));
  // An applier that states all that it stated before keeps it: the common case, which needs no walk through the object.
  const isOneVersion = last.apiVersion === input.apiVersion && (!versions.mayUnfit || others.size === 0);
  if (isOneVersion && last.set.difference(stated).isEmpty) return merged;
  if (isMissing(versions, last.apiVersion)) return merged;
  const at = (name: string, object: unknown, { from, to }: { readonly from: string; readonly to: string }): KubeObject =>
    (from === to ? object as KubeObject : namingStep(name, () => convertTyped(versions, object as KubeObject, to)));
  const base = at('failed to convert merged object to last applied version', merged, { from: input.apiVersion, to: last.apiVersion });
  const schema = versions.schemaFor(last.apiVersion) as Schema;
  const lastSet = withNamedFields(schema, last.set);
  let pruned = addBackOwned({ schema, base, pruned: removeItems(schema, base, lastSet), owned: ownedIn(managers, last.apiVersion) });
  for (const to of others) {
    if (isMissing(versions, to)) continue;
    const way = { from: last.apiVersion, to };
    const [had, has] = namingStep('failed add back owned items', () =>
      [at(`failed to convert merged object at version ${to}`, base, way), at(`failed to convert pruned object at version ${to}`, pruned, way)] as const);
    const kept = addBackOwned({ schema: versions.schemaFor(to) as Schema, base: had, pruned: has, owned: ownedIn(managers, to) });
    pruned = at('failed add back dangling items: failed to convert pruned object to last applied version', kept, { from: to, to: last.apiVersion });
  }
  const before = withNamedFields(schema, toFieldSet(schema, base));
  const gone = before.difference(withNamedFields(schema, toFieldSet(schema, pruned))).intersection(lastSet);
  const result = removeItems(schema, base, gone) as KubeObject;
  return last.apiVersion === input.apiVersion ? result : convertTyped(versions, result, input.apiVersion);
}

function ownedIn(managers: Managers, apiVersion: string): FieldSet {
  let owned = emptySet;
  for (const manager of managers.values()) if (manager.apiVersion === apiVersion) owned = owned.union(manager.set);
  return owned;
}

function addBackOwned({ schema, base, pruned, owned }: { schema: Schema; base: unknown; pruned: unknown; owned: FieldSet }): unknown {
  const had = withNamedFields(schema, toFieldSet(schema, base));
  const has = withNamedFields(schema, toFieldSet(schema, pruned));
  return removeItems(schema, base, had.difference(has.union(withNamedFields(schema, owned))));
}
