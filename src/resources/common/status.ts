// What kinds add to the separation of spec and status, which the registry does for all of them: the metadata that a status update may change
// differs per kind upstream, and so do the paths that a status update never owns (GetResetFields).
import type { KubeObject, ObjectMeta } from '../../apimachinery/index.ts';
import type { Resource, Strategy, StrategyContext } from '../../registry/index.ts';

/** What most of the newer kinds keep. */
export const allUserMetadata: KeptMetadata = ['labels', 'annotations', 'finalizers', 'ownerReferences'];
export const keepUserMetadata = prepareWithStatus({ keeps: allUserMetadata });

/** Metadata that a status update takes from the stored object. */
type KeptMetadata = readonly (keyof ObjectMeta)[];

/** Sets a member to that of another object, or removes it with it. */
export function copyMember(object: KubeObject, from: KubeObject, name: string): void {
  if (from[name] === undefined) delete object[name];
  else object[name] = from[name];
}

/** Takes everything but metadata and status from the stored object. */
export function keepAllButStatus(object: KubeObject, old: KubeObject): void {
  for (const name of new Set([...Object.keys(object), ...Object.keys(old)])) {
    if (name !== 'metadata' && name !== 'status' && name !== 'kind' && name !== 'apiVersion') copyMember(object, old, name);
  }
}

/** Takes these members of metadata from the stored object. */
export function keepMetadata(object: KubeObject, old: KubeObject, names: KeptMetadata): void {
  for (const name of names) {
    if (old.metadata[name] === undefined) delete object.metadata[name];
    else Object.assign(object.metadata, { [name]: old.metadata[name] });
  }
}

/** What a kind with a status does besides; the registry has kept spec and status apart before any of it runs. */
interface StatusRules {
  /** Metadata that a status update keeps; nothing by default. */
  readonly keeps?: KeptMetadata;
  /** Runs after the status of a new object was cleared. */
  prepareForCreate?(object: KubeObject, context: StrategyContext): void;
  /** Runs on the paths that leave the status alone. */
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

/** The status path of these kinds writes nothing of metadata either. */
export const statusOnlyResets: ResetFields = { status: [['spec'], ['metadata']] };
