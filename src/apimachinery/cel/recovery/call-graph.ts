// The calls that a prediction returns to. Sequences of calls that have the same callers share their parts, so that ever so many of them take little
// place; the same set of sequences is always the same object.
import type { State } from './network.ts';

/** A call that is open, and those around it. */
interface Call {
  /** The state behind the call; undefined: there is no caller. */
  readonly follow: State | undefined;
  readonly outer: Calls;
}

/** Sequences of calls, by their innermost call. */
export interface Calls {
  readonly id: number;
  readonly calls: readonly Call[];
}

/** The sequence without a call. */
export const noCalls: Calls = { id: 0, calls: [] };

/** Makes sets of sequences. */
export class CallGraph {
  readonly #known = new Map<string, Calls>();
  readonly #merged = new Map<string, Calls>();
  /** Nothing is known of the callers of a sequence without calls, so that it stands for all others. */
  readonly #isLocal: boolean;
  #count = 0;

  constructor(isLocal: boolean) {
    this.#isLocal = isLocal;
  }

  /** The sequences with a call inside of them. */
  push(outer: Calls, follow: State): Calls {
    return this.#share([{ follow, outer }]);
  }

  /** The sequences of both. */
  merge(one: Calls, other: Calls): Calls {
    if (one === other) return one;
    if (this.#isLocal && (one === noCalls || other === noCalls)) return noCalls;
    const key = `${one.id} ${other.id}`;
    let merged = this.#merged.get(key);
    if (merged === undefined) this.#merged.set(key, merged = this.#mergeCalls(this.#callsOf(one), this.#callsOf(other)));
    return merged;
  }

  #callsOf(calls: Calls): readonly Call[] {
    return calls === noCalls ? [{ follow: undefined, outer: noCalls }] : calls.calls;
  }

  #mergeCalls(one: readonly Call[], other: readonly Call[]): Calls {
    const merged = new Map(one.map(({ follow, outer }) => [follow, outer]));
    for (const { follow, outer } of other) {
      const known = merged.get(follow);
      merged.set(follow, known === undefined ? outer : this.merge(known, outer));
    }
    return this.#share([...merged].map(([follow, outer]) => ({ follow, outer })));
  }

  #share(calls: readonly Call[]): Calls {
    const sorted = [...calls].sort((one, other) => (one.follow?.id ?? -1) - (other.follow?.id ?? -1));
    const key = sorted.map(({ follow, outer }) => `${follow?.id ?? ''}:${outer.id}`).join();
    let shared = this.#known.get(key);
    if (shared === undefined) this.#known.set(key, shared = { id: ++this.#count, calls: sorted });
    return shared;
  }
}
