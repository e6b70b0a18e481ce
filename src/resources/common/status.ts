// What kinds add to the separation of spec and status, which the registry does for all of them: the metadata that a status update may change
// differs per kind upstream, and so do the paths that a status update never owns (GetResetFields).
import type { KubeObject, ObjectMeta } from '../../apimachinery/index.ts';
import type { Resource, Strategy, StrategyContext } from '../../registry/index.ts';

/** The metadata that status updates of most newer kinds keep. */
export const allUserMetadata: KeptMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'];

/** The strategy of kinds whose status updates keep all user metadata. */
export const keepUserMetadata = prepareWithStatus({ keeps: allUserMetadata });

/** Names of metadata members that a status update keeps. */
type KeptMetadata = readonly (keyof ObjectMeta)[];

/** Copies a member from another object; a member that is absent there is removed. */
export function copyMember(object: KubeObject, from: KubeObject, name: string): void {
  if (from[name] === undefined) delete object[name];
  else object[name] = from[name];
}

/** Copies everything but metadata and status from the stored object. */
export function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  for (const name of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (name !== 'metadata' && name !== 'status' && name !== 'kind' && name !== 'apiVersion') copyMember(object, old, name);
  }
}

/** Copies these members of metadata from the stored object. */
export function keepMetadata(object: KubeObject, old: KubeObject, names: KeptMetadata): void {
  for (const name of names) {
    if (old.metadata[name] === undefined) delete object.metadata[name];
    else Object.assign(object.metadata, { [name]: old.metadata[name] });
  }
}

/** The preparation of a kind with a status; the registry separates spec and status before any of it runs. */
interface StatusRules {
  /** Metadata that a status update keeps; nothing by default. */
  readonly keeps?: KeptMetadata;
  /** Runs after the status of a new object was cleared. */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** Runs on the paths that do not write the status. */
  prepareForUpdate?(object: KubeObject, old: KubeObject, context: StrategyContext): void;
  /** Runs on the status path. */
  prepareForStatus?(object: KubeObject, old: KubeObject, context: StrategyContext): void;
}

/** The prepare functions of a kind with a status path. */
export function prepareWithStatus(rules: StatusRules): Pick<Strategy, 'prepareForCreate' | 'prepareForUpdate'> {
  return {
    prepareForCreate: (object, context) => rules.prepareForCreate?.(object, context),
    prepareForUpdate(object, old, context) {
      if (context.subresource !== 'status') {
        rules.prepareForUpdate?.(object, old, context);
        return;
      }
      keepMetadata(object, old, rules.keeps ?? []);
      rules.prepareForStatus?.(object, old, context);
    },
  };
}

type ResetFields = NonNullable<Resource['resetFields']>;

/** Reset fields of kinds whose status path writes no metadata. */
export const statusOnlyResets: ResetFields = { status: [['spec'], ['metadata']] };
