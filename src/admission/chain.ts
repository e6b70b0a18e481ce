// The admission chain: plugins in order, first all that change the object, later (after validation) all that only judge it.
// Mirrors upstream's chainAdmissionHandler: the first refusal ends it.
import { type MaybePromise, visitInOrder } from '../base/index.ts';
import type { Admission, AdmissionAttributes } from '../registry/index.ts';

/** One admission plugin. Refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  /** As `--enable-admission-plugins` names it. */
  readonly name: string;
  /** Whether the plugin has a say about this request. */
  handles(attributes: AdmissionAttributes): boolean;
  /** May change `attributes.object` in place. */
  mutate?(attributes: AdmissionAttributes): MaybePromise<void>;
  /** Must not change anything. */
  validate?(attributes: AdmissionAttributes): MaybePromise<void>;
}

/** The plugins as the registry sees them. */
export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  return {
    mutate: (attributes) => visitInOrder(mutating, (plugin) => (plugin.handles(attributes) ? plugin.mutate?.(attributes) : undefined)),
    validate: (attributes) => visitInOrder(validating, (plugin) => (plugin.handles(attributes) ? plugin.validate?.(attributes) : undefined)),
  };
}
