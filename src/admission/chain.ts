// The admission chain: plugins in order, first all that change the object, later (after validation) all that only look at it. Mirrors upstream's
// chainAdmissionHandler and reinvoker: the first refusal ends the chain, and when a plugin asks for it the mutating ones run a second time.
// The order of the list is that of the reference; plugins of the process that embeds the server come after the built-in ones, before policies.
import { type Clock, type MaybePromise, mapMaybe, visitInOrder } from '../base/index.ts';
import type { Admission, AdmissionAttributes } from '../registry/index.ts';
import type { AdmissionMetrics, AdmissionStep } from './metrics.ts';

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
  /** May change `attributes.object` in place, or set another one. Runs again in a second pass. */
  mutate?(attributes: AdmissionAttributes, pass: MutatingPass): MaybePromise<void>;
  /** Must not change anything. */
  validate?(attributes: AdmissionAttributes): MaybePromise<void>;
}

interface ChainOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly metrics: Pick<AdmissionMetrics, 'recordStep'>;
}

class Passes implements MutatingPass {
  isAgain = false;
  isWanted = false;
  #notes: Map<string, unknown> | undefined;

  get notes(): Map<string, unknown> {
    return (this.#notes ??= new Map());
  }

  requestAgain(): void {
    this.isWanted = true;
  }
}

type Run = (plugin: AdmissionPlugin) => MaybePromise<void>;

/** The plugins as the registry sees them; with `options` each run is measured. */
export function createAdmissionChain(plugins: readonly AdmissionPlugin[], options?: ChainOptions): Admission {
  const mutating = plugins.filter((plugin) => plugin.mutate !== undefined);
  const validating = plugins.filter((plugin) => plugin.validate !== undefined);
  const runAll = (list: readonly AdmissionPlugin[], attributes: AdmissionAttributes, run: Run): MaybePromise<void> =>
    visitInOrder(list, (plugin) => (plugin.handles(attributes) ? run(plugin) : undefined));
  const measure = options === undefined ? runUnmeasured : createMeasure(options);
  return {
    mutate: (attributes) => measure('admit', attributes, (measured) => {
      const passes = new Passes();
      const run = (): MaybePromise<void> => runAll(mutating, attributes, (plugin) => measured(plugin, () => plugin.mutate?.(attributes, passes)));
      return mapMaybe(run(), () => {
        if (!passes.isWanted) return;
        passes.isAgain = true;
        return run();
      });
    }),
    validate: (attributes) => measure('validate', attributes, (measured) =>
      runAll(validating, attributes, (plugin) => measured(plugin, () => plugin.validate?.(attributes)))),
  };
}

type Work = () => MaybePromise<void>;
/** Runs a plugin. */
type RunPlugin = (plugin: AdmissionPlugin, work: () => MaybePromise<void> | undefined) => MaybePromise<void>;
type Measure = (type: AdmissionStep['type'], attributes: AdmissionAttributes, work: (run: RunPlugin) => MaybePromise<void>) => MaybePromise<void>;

const runUnmeasured: Measure = (_type, _attributes, work) => work((_plugin, run) => run());

function createMeasure({ clock, metrics }: ChainOptions): Measure {
  const timed = (step: Omit<AdmissionStep, 'durationMs' | 'rejected'>, work: Work): MaybePromise<void> => {
    const startedMs = clock.monotonicMs();
    const record = (rejected: boolean): void => metrics.recordStep({ ...step, rejected, durationMs: clock.monotonicMs() - startedMs });
    let result: MaybePromise<void>;
    try {
      result = work();
    } catch (error) {
      record(true);
      throw error;
    }
    if (!(result instanceof Promise)) return record(false);
    return result.then(() => record(false), (error: unknown) => {
      record(true);
      throw error;
    });
  };
  return (type, { operation }, work) => timed({ name: undefined, type, operation }, () =>
    work((plugin, run) => timed({ name: plugin.name, type, operation }, () => run())));
}
