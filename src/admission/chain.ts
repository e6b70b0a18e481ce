// The admission chain: plugins in order, first all that change the object, later (after validation) all that only look at it. Mirrors upstream's
// chainAdmissionHandler and reinvoker: the first refusal ends the chain, and when a plugin asks for it the mutating ones run a second time.
// The order of the list is that of the reference; plugins of the process that embeds the server come after the built-in ones, before policies.
import type { Clock } from '../base/index.ts';
import type { Admission, AdmissionAttributes } from '../registry/index.ts';
import type { AdmissionMetrics, RecordStep } from './metrics.ts';

/** The mutating passes of one request, as its plugins share them. */
export interface MutatingPass {
  /** The second pass: plugins that keep notes look at what the first one did. */
  readonly isAgain: boolean;
  /** Asks for a second pass, since this plugin has changed the object and others may want to react. There is no third one. */
  requestAgain(): void;
  /** What plugins note in the first pass for the second, by plugin name. */
  readonly notes: Map<string, unknown>;
}

/** One admission plugin. Refuses by throwing a StatusError. */
export interface AdmissionPlugin {
  /** As `--enable-admission-plugins` names it. */
  readonly name: string;
  /** Whether the plugin has a say about this request. */
  handles(attributes: AdmissionAttributes): boolean;
  /**
   * May change `attributes.object` in place, but for what is deep in its members (a container of a template), which it may share with `oldObject`, or set
   * another one. Runs again in a second pass.
   */
  mutate?(attributes: AdmissionAttributes, pass: MutatingPass): Promise<void> | void;
  /** Must not change anything. */
  validate?(attributes: AdmissionAttributes): Promise<void> | void;
}

interface ChainOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly metrics: Pick<AdmissionMetrics, 'countStep'>;
}

class Passes implements MutatingPass {
  isAgain = false;
  #isWanted = false;
  #notes: Map<string, unknown> | undefined;

  get notes(): Map<string, unknown> {
    return (this.#notes ??= new Map());
  }

  requestAgain(): void {
    this.#isWanted = true;
  }

  /** Begins the second pass, if a plugin has asked for it in the first. */
  begin(): boolean {
    if (!this.#isWanted || this.isAgain) return false;
    this.isAgain = true;
    return true;
  }
}

/** One of the two parts of the chain: its plugins, each with the function that counts its runs, and the one that counts them together. */
interface Part {
  readonly steps: readonly { readonly plugin: AdmissionPlugin; readonly record: RecordStep }[];
  readonly record: RecordStep;
  readonly now: () => number;
  readonly run: (plugin: AdmissionPlugin, attributes: AdmissionAttributes, passes: Passes) => Promise<void> | void;
}

/** The plugins as the registry sees them; with `options` each run is measured. */
export function createAdmissionChain(plugins: readonly AdmissionPlugin[], options?: ChainOptions): Admission {
  const now = options === undefined ? () => 0 : () => options.clock.monotonicMs();
  const count = (type: 'admit' | 'validate', name?: string): RecordStep => options?.metrics.countStep({ name, type }) ?? recordNothing;
  const createPart = (type: 'admit' | 'validate', members: readonly AdmissionPlugin[], run: Part['run']): Part =>
    ({ steps: members.map((plugin) => ({ plugin, record: count(type, plugin.name) })), record: count(type), now, run });
  const mutating = createPart('admit', plugins.filter(({ mutate }) => mutate !== undefined),
    (plugin, attributes, passes) => plugin.mutate?.(attributes, passes));
  const validating = createPart('validate', plugins.filter(({ validate }) => validate !== undefined), (plugin, attributes) => plugin.validate?.(attributes));
  return { mutate: (attributes) => runPart(mutating, attributes), validate: (attributes) => runPart(validating, attributes) };
}

const recordNothing: RecordStep = () => {};

/** Runs a part, a second time if a plugin asks for it, and counts how long all of it takes. */
async function runPart(part: Part, attributes: AdmissionAttributes): Promise<void> {
  const passes = new Passes();
  const startedMs = part.now();
  let rejected = true;
  try {
    do await runPlugins(part, attributes, passes);
    while (passes.begin());
    rejected = false;
  } finally {
    part.record(attributes.operation, rejected, part.now() - startedMs);
  }
}

/** Runs the plugins that have a say, one after the other, until one refuses. */
async function runPlugins({ steps, now, run }: Part, attributes: AdmissionAttributes, passes: Passes): Promise<void> {
  for (let index = 0; index < steps.length; index += 1) {
    const { plugin, record } = steps[index] as Part['steps'][number];
    if (!plugin.handles(attributes)) continue;
    const startedMs = now();
    let rejected = true;
    try {
      const running = run(plugin, attributes, passes);
      // Nearly all plugins answer in the same turn.
      if (running !== undefined) await running;
      rejected = false;
    } finally {
      record(attributes.operation, rejected, now() - startedMs);
    }
  }
}
