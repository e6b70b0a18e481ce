// Where a prediction may be: the states that the tokens read so far lead to, each with the way that led there and the calls it returns to.
import type { CallGraph, Calls } from './call-graph.ts';
import type { State } from './network.ts';

/** One place where a prediction may be. */
export interface Configuration {
  readonly state: State;
  /** The number of the way, from 1. */
  readonly alternative: number;
  readonly calls: Calls;
  /** The precedence that the way asks for; 0 asks for none. */
  readonly level: number;
  /** The rule of the decision is over, and what follows it was looked up among all of its callers. */
  readonly isOutside: boolean;
  /** It left the rule of the decision by a call without precedence, so that another iteration of its loop is no rival of it. */
  readonly isApart: boolean;
}

/** Places, each state and way once, with all sequences of calls that lead there. */
export class Configurations {
  readonly #graph: CallGraph;
  readonly #places = new Map<string, Configuration>();

  constructor(graph: CallGraph) {
    this.#graph = graph;
  }

  get all(): Iterable<Configuration> {
    return this.#places.values();
  }

  get size(): number {
    return this.#places.size;
  }

  add(place: Configuration): void {
    const key = `${place.state.id} ${place.alternative} ${place.level}`;
    const known = this.#places.get(key);
    this.#places.set(key, known === undefined ? place : {
      ...place, calls: this.#graph.merge(known.calls, place.calls), isOutside: place.isOutside || known.isOutside, isApart: place.isApart || known.isApart,
    });
  }

  /** Some of the places. */
  only(isMeant: (place: Configuration) => boolean): Configurations {
    const kept = new Configurations(this.#graph);
    for (const place of this.#places.values()) if (isMeant(place)) kept.add(place);
    return kept;
  }

  /** What sets of the same places have in common. */
  get key(): string {
    return [...this.#places].map(([key, { calls, isOutside, isApart }]) => `${key} ${calls.id}${isOutside ? '+' : ''}${isApart ? '-' : ''}`).join();
  }

  /** The way that all places have in common; 0 where they have none. */
  get commonAlternative(): number {
    let common = 0;
    for (const { alternative } of this.#places.values()) {
      if (common === 0) common = alternative;
      else if (common !== alternative) return 0;
    }
    return common;
  }

  /** The first way that some of the places took; 0 where there is none. */
  firstAlternative(isMeant: (place: Configuration) => boolean): number {
    let first = 0;
    for (const place of this.#places.values()) if (isMeant(place) && (first === 0 || place.alternative < first)) first = place.alternative;
    return first;
  }
}

/** The ways that lead to each state with the same calls, and those that lead to each state. */
export function rivals(places: Configurations): { readonly byCalls: readonly ReadonlySet<number>[]; readonly byState: readonly ReadonlySet<number>[] } {
  const byCalls = new Map<string, Set<number>>();
  const byState = new Map<string, Set<number>>();
  for (const { state, alternative, calls } of places.all) {
    note(byCalls, `${state.id} ${calls.id}`, alternative);
    note(byState, `${state.id}`, alternative);
  }
  return { byCalls: [...byCalls.values()], byState: [...byState.values()] };
}

function note(ways: Map<string, Set<number>>, key: string, alternative: number): void {
  ways.set(key, (ways.get(key) ?? new Set<number>()).add(alternative));
}
