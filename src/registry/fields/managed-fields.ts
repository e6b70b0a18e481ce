// managedFields of one object as the write pipeline handles them: owners after a write, and owners that an admission plugin has broken.
// Mirrors upstream's managedFieldsValidatingAdmissionController.
import { type KubeObject, type ManagedFieldsEntry, decodeManagers } from '../../apimachinery/index.ts';
import type { Target, WriteContext } from '../contract.ts';
import type { Core } from '../core.ts';
import { trackOwners } from '../conversion/restartable-conversion.ts';

type Entries = ManagedFieldsEntry[] | undefined;

/** A copy of the entries, so that a plugin's change of one is seen. */
export function copyOwners({ metadata: { managedFields } }: KubeObject): Entries {
  return managedFields?.map((entry) => ({ ...entry }));
}

function entryProblem(entry: ManagedFieldsEntry, index: number): string | undefined {
  const { operation, apiVersion, fieldsType = '' } = entry;
  if (operation !== 'Apply' && operation !== 'Update') return 'operation must be `Apply` or `Update`';
  if (!apiVersion) return 'apiVersion must not be empty';
  if (fieldsType === '') return `missing fieldsType in managed fields entry ${index}`;
  if (fieldsType !== 'FieldsV1') return `invalid fieldsType ${JSON.stringify(fieldsType)} in managed fields entry ${index}`;
  return decodeManagers([entry]) === undefined ? `error decoding versioned set from managed fields entry ${index}` : undefined;
}

/** The first problem of entries, in the words of the reference; undefined for sound ones. */
export function describeBrokenOwners(entries: Entries): string | undefined {
  for (const [index, entry] of (entries ?? []).entries()) {
    const problem = entryProblem(entry, index);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The warning that comes with managedFields that were put back after admission. */
export const brokenOwnersWarning = (problem: string): string =>
  '.metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; ' +
  `please fix your requests: ${problem}`;

/** One write whose owners are computed. */
interface OwnedWrite {
  readonly target: Target;
  readonly subresource: string;
  readonly context: Pick<WriteContext, 'fieldManager'>;
  readonly nowMs: number;
}

/** Sets the owners of `object` after a write that is not an apply, in place; `old` is what the write replaces. */
export async function setManagedFields({ options }: Pick<Core, 'options'>, { target, subresource, context, nowMs }: OwnedWrite,
  { object, old }: { readonly object: KubeObject; readonly old: KubeObject | undefined }): Promise<void> {
  const { resource, version } = target;
  const input = { resource, version, subresource, manager: context.fieldManager, nowMs, old, object };
  const track = (): Entries => options.trackUpdate(input);
  setOwners(object, resource.convertRemotely === undefined ? track() : await trackOwners(resource, track));
}

/** Replaces the owners of an object, in place. */
export function setOwners({ metadata }: KubeObject, owners: Entries): void {
  if (owners === undefined) delete metadata.managedFields;
  else metadata.managedFields = owners;
}
