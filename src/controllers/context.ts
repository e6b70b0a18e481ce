// What every controller is given, and how it says what it does.
import type { Clock } from '../base/index.ts';
import type { Catalog, QueueObserver, Registry } from '../registry/index.ts';

/** The world of a controller. It touches nothing else. */
export interface ControllerContext {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Whether a feature gate is on; absent: none is that is off by default. */
  readonly isGateOn?: (gate: string) => boolean;
  /** Measures the work of a queue, by its name; absent where nothing is measured. */
  readonly observeQueue?: (name: string) => QueueObserver;
  /** Receives a failure, after which the work is tried again. */
  readonly report: (controller: string, key: string, error: unknown) => void;
}

/** A running loop. */
export interface Controller {
  /** Resolves when what the controller promises holds for the first time. */
  ready(): Promise<void>;
  /** Resolves when work under way is over. */
  stop(): Promise<void>;
}

/** What `Controller.ready` waits for. */
interface Readiness extends Pick<Controller, 'ready'> {
  /** Something holds for the first time; a second call, or a name that is not waited for, changes nothing. */
  mark(name: string): void;
}

/** Ready when each of `names` has been marked. */
export function createReadiness(names: Iterable<string>): Readiness {
  const missing = new Set(names);
  let open = () => {};
  const ready = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    ready: () => ready,
    mark(name) {
      missing.delete(name);
      if (missing.size === 0) open();
    },
  };
}
