// The names that definitions accept: within a group, plural, singular, short names, kind and list kind belong to one definition. Pure functions of
// definitions; mirrors the naming and establishing controllers of apiextensions-apiserver, their reasons and messages.
//
//   created ─▶ NamesAccepted=True, Established=False (Installing) ─▶ Established=True, for good
//         │                                                             └──▶ Established=False (InvalidCABundle) ─▶ tried again when it changes
//         └──▶ NamesAccepted=False (KindConflict …), Established=False (NotAccepted) ─▶ tried again when names of the group become free
import type { KubeObject } from '../../apimachinery/index.ts';
import { conditionOf, isTrue, withCondition } from '../conditions.ts';
import { type DefinitionCondition, type DefinitionNames, type DefinitionStatus, specOf, statusOf } from '../types.ts';
import { bundleOf, bundleProblem } from '../validate/ca-bundle.ts';

/** Names that definitions of a group have. */
interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** Reason of a definition that is not served because of its webhook's caBundle. */
const INVALID_BUNDLE = 'InvalidCABundle';

type MutableNames = { -readonly [K in keyof DefinitionNames]: DefinitionNames[K] };

/** The names accepted for the other definitions of a group. */
export function collectTaken(others: Iterable<DefinitionNames>): TakenNames {
  const [resources, kinds] = [new Set<string>(), new Set<string>()];
  for (const names of others) {
    for (const name of [names.plural, names.singular, ...(names.shortNames ?? [])]) if (name) resources.add(name);
    for (const kind of [names.kind, names.listKind]) if (kind) kinds.add(kind);
  }
  return { resources, kinds };
}

interface Verdict {
  readonly names: DefinitionNames;
  /** The last conflict found, as the reference reports it. */
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

function checkNames(wanted: DefinitionNames, accepted: DefinitionNames | undefined, { resources, kinds }: TakenNames): Verdict {
  const names: MutableNames = { ...(accepted ?? { plural: '', kind: '' }) };
  let conflict: Verdict['conflict'];
  const claim = (field: 'plural' | 'singular' | 'kind' | 'listKind', taken: ReadonlySet<string>, reason: string): void => {
    const name = wanted[field] ?? '';
    if (name !== (accepted?.[field] ?? '') && taken.has(name)) conflict = { reason, message: `${JSON.stringify(name)} is already in use` };
    else if (name !== '') names[field] = name;
  };
  claim('plural', resources, 'PluralConflict');
  claim('singular', resources, 'SingularConflict');
  const own = new Set(accepted?.shortNames);
  const used = (wanted.shortNames ?? []).filter((name) => !own.has(name) && resources.has(name)).map((name) => `${JSON.stringify(name)} is already in use`);
  if (used.length > 0) conflict = { reason: 'ShortNamesConflict', message: used.length === 1 ? (used[0] as string) : `[${used.join(', ')}]` };
  else if (wanted.shortNames?.length) names.shortNames = wanted.shortNames;
  else delete names.shortNames;
  claim('kind', kinds, 'KindConflict');
  claim('listKind', kinds, 'ListKindConflict');
  if (wanted.categories?.length) names.categories = wanted.categories;
  else delete names.categories;
  return { names: orderNames(names), conflict };
}

/** In the order of the Go struct. */
function orderNames({ plural, singular, shortNames, kind, listKind, categories }: DefinitionNames): DefinitionNames {
  return {
    plural, ...(singular && { singular }), ...(shortNames && { shortNames }), kind, ...(listKind && { listKind }), ...(categories && { categories }),
  };
}

/** The status after the names were looked at; the same object when nothing changes. */
export function acceptNames(definition: KubeObject, taken: TakenNames, now: string): DefinitionStatus {
  const status = statusOf(definition);
  const { names, conflict } = checkNames(specOf(definition).names, status.acceptedNames, taken);
  const accepted: DefinitionCondition = conflict === undefined
    ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
    : { type: 'NamesAccepted', status: 'False', ...conflict };
  const established = conditionOf(definition, 'Established');
  const isNew = established?.status !== 'True';
  const isKept = !isNew || (conflict === undefined && established?.reason === INVALID_BUNDLE);
  const next: DefinitionCondition = isKept ? established as DefinitionCondition
    : conflict === undefined ? { type: 'Established', status: 'False', reason: 'Installing', message: 'the initial names have been accepted' }
      : (established ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' });
  return withCondition(withCondition({ ...status, acceptedNames: names }, accepted, now), next, now);
}

/**
 * The status of a definition whose names are accepted: served from here on, unless its conversion webhook's caBundle is unusable. undefined when
 * there is nothing to do.
 */
export function establish(definition: KubeObject, now: string): DefinitionStatus | undefined {
  if (!isTrue(definition, 'NamesAccepted') || isTrue(definition, 'Established')) return undefined;
  if (bundleProblem(bundleOf(definition)) !== undefined) {
    if (conditionOf(definition, 'Established')?.reason === INVALID_BUNDLE) return undefined;
    const refused = { type: 'Established', status: 'False', reason: INVALID_BUNDLE, message: 'The conversion webhook CABundle is invalid' };
    return withCondition(statusOf(definition), refused, now);
  }
  const condition = { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  return withCondition(statusOf(definition), condition, now);
}
