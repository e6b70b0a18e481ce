// The admission chain: plugins in order, first all that change the object, later (after validation) all that only judge it.
// Mirrors upstream's chainAdmissionHandler: the first refusal ends it.
import type { Soon } from '../base/index.ts';
import type { Admission, AdmissionAttributes } from '../registry/index.ts';

/** One admission plugin. Refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  /** As `--enable-admission-plugins` names it. */
  readonly name: string;
  /** Whether the plugin has a say about this request. */
  handles(attributes: AdmissionAttributes): boolean;
  /** May change `attributes.object` in place. */
  mutate?(attributes: AdmissionAttributes): Soon<void>;
  /** Must not change anything. */
  validate?(attributes: AdmissionAttributes): Soon<void>;
}

/** The plugins as the registry sees them. */
export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): Admission {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  return {
    mutate: (attributes) => ask(mutating, attributes, 'mutate'),
    validate: (attributes) => ask(validating, attributes, 'validate'),
  };
}

/** Asks the plugins from `first` on, one after the other. */
function ask(plugins: readonly AdmissionPlugin[], attributes: AdmissionAttributes, question: 'mutate' | 'validate', first = 0): Soon<void> {
  for (let index = first; index < plugins.length; index++) {
    const plugin = plugins[index] as AdmissionPlugin;
    const answer = plugin.handles(attributes) ? plugin[question]?.(attributes) : undefined;
    if (answer instanceof Promise) return answer.then(() => ask(plugins, attributes, question, index + 1));
  }
}
