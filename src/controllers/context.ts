// What every controller is given, and how it says what it does.
import type { Clock } from '../base/index.ts';
import type { Catalog, Registry } from '../registry/index.ts';

/** The world of a controller. It touches nothing else. */
export interface ControllerContext {
  readonly registry: Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Told what failed and will be tried again. */
  readonly report: (controller: string, key: string, error: unknown) => void;
}

/** A running loop. */
export interface Controller {
  /** Resolves when what the controller promises holds for the first time. */
  ready(): Promise<void>;
  /** Resolves when work under way is over. */
  stop(): Promise<void>;
}
