// Who may have which names: within a group, plural, singular, short names, kind and list kind belong to one definition. Pure functions of
// definitions; mirrors the naming and establishing controllers of apiextensions-apiserver, their reasons and messages.
//
//   created ─▶ NamesAccepted=True, Established=False (Installing) ─▶ Established=True, for good
//         │                                                             └──▶ Established=False (InvalidCABundle) ─▶ tried again when it changes
//         └──▶ NamesAccepted=False (KindConflict …), Established=False (NotAccepted) ─▶ tried again when a definition of the group goes
import type { KubeObject } from '../../apimachinery/index.ts';
import { bundleOf, bundleProblem } from './ca-bundle.ts';
import { type DefinitionCondition, type DefinitionNames, type DefinitionStatus, isTrue, specOf, statusOf } from '../row.ts';

/** Names that definitions of a group have. */
interface TakenNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** Reason of a definition that is not served because of its webhook's caBundle. */
const invalidBundle = 'InvalidCABundle';

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

/** Sets a condition; its time changes with its status only. */
export function withCondition(status: DefinitionStatus, condition: DefinitionCondition, now: string): DefinitionStatus {
  const conditions = [...(status.conditions ?? [])];
  const at = conditions.findIndex(({ type }) => type === condition.type);
  const known = conditions[at];
  const { type, status: value, reason, message } = condition;
  const time = known !== undefined && known.status === value && known.lastTransitionTime ? known.lastTransitionTime : now;
  const next: DefinitionCondition = { type, status: value, lastTransitionTime: time, ...(reason && { reason }), ...(message && { message }) };
  if (at < 0) conditions.push(next);
  else conditions[at] = next;
  return { ...status, conditions };
}

const conditionOf = (definition: KubeObject, type: string): DefinitionCondition | undefined =>
  statusOf(definition).conditions?.find((condition) => condition.type === type);

/** The status after the names were looked at; the same object when nothing changes. */
export function acceptNames(definition: KubeObject, taken: TakenNames, now: string): DefinitionStatus {
  const status = statusOf(definition);
  const { names, conflict } = checkNames(specOf(definition).names, status.acceptedNames, taken);
  const accepted: DefinitionCondition = conflict === undefined
    ? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
    : { type: 'NamesAccepted', status: 'False', ...conflict };
  const established = conditionOf(definition, 'Established');
  const isNew = established?.status !== 'True';
  const isKept = !isNew || (conflict === undefined && established?.reason === invalidBundle);
  const next: DefinitionCondition = isKept ? established as DefinitionCondition
    : conflict === undefined ? { type: 'Established', status: 'False', reason: 'Installing', message: 'the initial names have been accepted' }
      : (established ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' });
  return withCondition(withCondition({ ...status, acceptedNames: names }, accepted, now), next, now);
}

/**
 * The status of a definition whose names are accepted: served from here on, unless nobody could trust its conversion webhook. undefined when
 * there is nothing to do.
 */
export function establish(definition: KubeObject, now: string): DefinitionStatus | undefined {
  if (!isTrue(definition, 'NamesAccepted') || isTrue(definition, 'Established')) return undefined;
  if (bundleProblem(bundleOf(definition)) !== undefined) {
    if (conditionOf(definition, 'Established')?.reason === invalidBundle) return undefined;
    const refused = { type: 'Established', status: 'False', reason: invalidBundle, message: 'The conversion webhook CABundle is invalid' };
    return withCondition(statusOf(definition), refused, now);
  }
  const condition = { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' };
  return withCondition(statusOf(definition), condition, now);
}

const approvalAnnotation = 'api-approved.kubernetes.io';
const reviewLink = 'https://github.com/kubernetes/enhancements/pull/1111';

/** Whether a group is the Kubernetes community's: its APIs need an approval. */
export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

/** What the approval annotation of a definition says. */
interface Approval {
  readonly type: 'approved' | 'bypassed' | 'missing' | 'invalid';
  readonly message: string;
}

/** Reads the approval annotation. */
export function readApproval(annotations: Readonly<Record<string, string>> | undefined): Approval {
  const value = annotations?.[approvalAnnotation];
  const must = `protected groups must have approval annotation "${approvalAnnotation}"`;
  if (!value) return { type: 'missing', message: `${must}, see ${reviewLink}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+\S*$/.test(value)) return { type: 'approved', message: `approved in ${value}` };
  if (value.startsWith('unapproved')) return { type: 'bypassed', message: `not approved: ${JSON.stringify(value)}` };
  return { type: 'invalid', message: `${must} with either a URL or a reason starting with "unapproved", see ${reviewLink}` };
}

const approvalReasons = { approved: 'ApprovedAnnotation', bypassed: 'UnapprovedAnnotation', missing: 'MissingAnnotation',
  invalid: 'InvalidAnnotation' } as const;

/** The status with what the approval of a protected group amounts to; undefined when there is nothing to do. */
export function checkApproval(definition: KubeObject, now: string): DefinitionStatus | undefined {
  if (!isProtectedGroup(specOf(definition).group)) return undefined;
  const { type, message } = readApproval(definition.metadata.annotations);
  const condition = { type: 'KubernetesAPIApprovalPolicyConformant', status: type === 'approved' ? 'True' : 'False', reason: approvalReasons[type], message };
  const known = conditionOf(definition, condition.type);
  if (known !== undefined && known.status === condition.status && known.reason === condition.reason && known.message === condition.message) return undefined;
  return withCondition(statusOf(definition), condition, now);
}
