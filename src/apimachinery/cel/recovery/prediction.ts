// Which way through a block fits what follows, as ANTLR predicts it: first with nothing known of the callers, which is quick and remembered; where that
// leaves several ways to the same place, again with the callers at hand. The first way wins where the text fits several.
import type { Steps } from '../../../base/index.ts';
import { END_TYPE } from './grammar.ts';
import { CallGraph, type Calls, noCalls } from './call-graph.ts';
import { type Configuration, Configurations, rivals } from './configurations.ts';
import type { Network, State, Transition } from './network.ts';

/** The tokens ahead. */
export interface Lookahead {
  /** The type of the token so many after the next. */
  typeAt(distance: number): number;
}

/** What a prediction starts from. */
export interface Decision {
  readonly state: State;
  /** The precedence with which the rule was called. */
  readonly precedence: number;
  readonly ahead: Lookahead;
  /** The open calls, looked up only where they are needed. */
  readonly callers: () => readonly State[];
}

/** The way, or how far the text was read until it fitted none. */
export type Prediction = { readonly alternative: number } | { readonly failedAt: number };

/** Places after some tokens, with what is known of them. */
interface Known {
  readonly places: Configurations;
  readonly next: Map<number, Known | undefined>;
  /** The way that is left; 0 while there are several. */
  readonly alternative: number;
  /** Several ways lead to the same places: the callers decide. */
  readonly isAmbiguous: boolean;
}

interface Walk {
  readonly decision: State;
  readonly into: Configurations;
  readonly graph: CallGraph;
  /** Nothing is known of the callers. */
  readonly isLocal: boolean;
  /** The walk starts at the decision, where precedences count. */
  readonly starts: boolean;
  readonly precedence: number;
  readonly seen: Set<string>;
}

/** Tokens that are looked at in one step while nothing is known of the callers. */
const TOKENS_IN_STEP = 500;

/** Predicts; remembers what it works out without the callers. */
export class Predictor {
  readonly #network: Network;
  readonly #graph = new CallGraph(true);
  readonly #starts = new Map<string, Known>();
  readonly #known = new Map<string, Known>();

  constructor(network: Network) {
    this.#network = network;
  }

  /** Predicts a way, in steps. */
  *predict(decision: Decision): Steps<Prediction> {
    let at = this.#start(decision);
    for (let distance = 0; ; distance++) {
      if (distance % TOKENS_IN_STEP === TOKENS_IN_STEP - 1) yield;
      const type = decision.ahead.typeAt(distance);
      const next = this.#next(at, decision.state, type);
      if (next === undefined) return failure(at.places, distance);
      if (next.isAmbiguous) return yield* this.#predictWithCallers(decision);
      if (next.alternative !== 0) return { alternative: next.alternative };
      at = next;
    }
  }

  #start({ state, precedence }: Decision): Known {
    const key = `${state.id} ${precedence}`;
    let start = this.#starts.get(key);
    if (start === undefined) {
      const places = this.#close(state, { graph: this.#graph, isLocal: true, callers: noCalls, precedence });
      start = this.#remember(state, state.isRecursionLoop ? withoutRivals(places, precedence) : places, false);
      this.#starts.set(key, start);
    }
    return start;
  }

  /** The places behind the transitions of a decision, each way by its number. */
  #close(decision: State, { graph, isLocal, callers, precedence }: {
    readonly graph: CallGraph; readonly isLocal: boolean; readonly callers: Calls; readonly precedence: number;
  }): Configurations {
    const into = new Configurations(graph);
    decision.transitions.forEach(({ target }, index) => {
      const transition = decision.transitions[index]!;
      const level = transition.type === 'precedence' && isLocal ? transition.level : 0;
      if (transition.type === 'precedence' && !isLocal && transition.level < precedence) return;
      const place = { state: target, alternative: index + 1, calls: callers, level, isOutside: false, isApart: false };
      this.#walk(place, 0, { decision, into, graph, isLocal, starts: true, precedence, seen: new Set() });
    });
    return into;
  }

  #remember(decision: State, places: Configurations, isDecided: boolean): Known {
    const key = `${decision.id} ${places.key}`;
    let known = this.#known.get(key);
    if (known === undefined) {
      const alternative = isDecided ? places.commonAlternative : 0;
      known = { places, next: new Map(), alternative, isAmbiguous: isDecided && alternative === 0 && isConflict(places) };
      this.#known.set(key, known);
    }
    return known;
  }

  #next(at: Known, decision: State, type: number): Known | undefined {
    if (at.next.has(type)) return at.next.get(type);
    const reached = this.#reach(at.places, type, { decision, graph: this.#graph, isLocal: true });
    const next = reached.size === 0 ? undefined : this.#remember(decision, reached, true);
    at.next.set(type, next);
    return next;
  }

  /** The places behind a token. */
  #reach(from: Configurations, type: number, { decision, graph, isLocal }: Pick<Walk, 'decision' | 'graph' | 'isLocal'>): Configurations {
    const moved: Configuration[] = [];
    const over: Configuration[] = [];
    for (const place of from.all) {
      if (place.state.role === 'ruleStop') {
        if (!isLocal || type === END_TYPE) over.push(place);
        continue;
      }
      for (const transition of place.state.transitions) {
        if (transition.type === 'token' && transition.tokens.includes(type)) moved.push({ ...place, state: transition.target });
      }
    }
    const into = new Configurations(graph);
    const isDecided = moved.every(({ alternative }) => alternative === moved[0]?.alternative);
    if (over.length === 0 && type !== END_TYPE && isDecided) {
      for (const place of moved) into.add(place);
      return into;
    }
    const seen = new Set<string>();
    for (const place of moved) this.#walk(place, 0, { decision, into, graph, isLocal, starts: false, precedence: 0, seen });
    const reached = type === END_TYPE ? into.only(({ state }) => state.role === 'ruleStop') : into;
    if (isLocal || reached.firstAlternative(({ state }) => state.role === 'ruleStop') === 0) for (const place of over) reached.add(place);
    return reached;
  }

  /** Follows what takes no token. `depth` is 0 in the rule of the decision, more below it, less outside. */
  #walk(place: Configuration, depth: number, walk: Walk): void {
    const { state, calls } = place;
    const key = `${state.id} ${place.alternative} ${calls.id} ${place.level} ${place.isApart} ${depth === 0}`;
    if (walk.seen.has(key)) return;
    walk.seen.add(key);
    if (state.role === 'ruleStop') return this.#leave(place, depth, walk);
    const isLoopAgain = state.isRecursionLoop && calls !== noCalls && calls.calls.every(({ follow }) => follow?.rule === state.rule);
    state.transitions.forEach((transition, index) => {
      // What the loop of the caller does as well.
      if (isLoopAgain && index === 0) return;
      this.#follow(transition, place, { depth, walk });
    });
    if (state.transitions.some(({ type }) => type === 'token')) walk.into.add(place);
  }

  #follow(transition: Transition, place: Configuration, { depth, walk }: { readonly depth: number; readonly walk: Walk }): void {
    const { target } = transition;
    if (transition.type === 'token') return;
    if (transition.type === 'rule') {
      const calls = walk.graph.push(place.calls, transition.follow);
      return this.#walk({ ...place, state: target, calls }, depth >= 0 ? depth + 1 : depth, walk);
    }
    const isAsked = transition.type === 'precedence' && walk.starts && depth === 0;
    if (isAsked && !walk.isLocal && transition.level < walk.precedence) return;
    this.#walk({ ...place, state: target, level: isAsked && walk.isLocal ? transition.level : place.level }, depth, walk);
  }

  /** Returns to the caller; to all callers where nothing is known of them. */
  #leave(place: Configuration, depth: number, walk: Walk): void {
    if (place.calls === noCalls) return this.#leaveLast(place, depth, walk);
    for (const { follow, outer } of place.calls.calls) {
      if (follow === undefined) this.#leaveLast({ ...place, calls: noCalls }, depth, walk);
      else this.#walk({ ...place, state: follow, calls: outer }, depth, walk);
    }
  }

  #leaveLast(place: Configuration, depth: number, walk: Walk): void {
    const { rule } = place.state;
    const callers = this.#network.callersOf(rule);
    if (!walk.isLocal || callers.length === 0) return walk.into.add(place);
    for (const { follow, precedence } of callers) {
      const isApart = place.isApart || (walk.decision.isRecursionLoop && precedence === 0 && rule === walk.decision.rule);
      this.#walk({ ...place, state: follow, isOutside: true, isApart }, depth - 1, walk);
    }
  }

  *#predictWithCallers({ state, precedence, ahead, callers }: Decision): Steps<Prediction> {
    const graph = new CallGraph(false);
    const open = callers().reduceRight<Calls>((outer, follow) => graph.push(outer, follow), noCalls);
    let places = this.#close(state, { graph, isLocal: false, callers: open, precedence });
    for (let distance = 0; ; distance++) {
      yield;
      const reached = this.#reach(places, ahead.typeAt(distance), { decision: state, graph, isLocal: false });
      if (reached.size === 0) return failure(places, distance);
      const alternative = reached.commonAlternative || onlyViable(reached);
      if (alternative !== 0) return { alternative };
      places = reached;
    }
  }
}

/** Where no way is left: the first way that had brought its rule to an end, if there is one. */
function failure(places: Configurations, distance: number): Prediction {
  const alternative = places.firstAlternative(({ isOutside, state, calls }) => isOutside || (state.role === 'ruleStop' && calls === noCalls));
  return alternative === 0 ? { failedAt: distance } : { alternative };
}

/** The places of a loop whose rule begins with itself: another iteration wins over the end of the loop, where both lead to the same place
 * and the precedence permits it. */
function withoutRivals(places: Configurations, precedence: number): Configurations {
  const inside = new Map<State, Calls>();
  for (const { state, alternative, calls, level } of places.all) if (alternative === 1 && level >= precedence) inside.set(state, calls);
  return places.only(({ state, alternative, calls, level, isApart }) => (alternative === 1 ? level >= precedence
    : isApart || inside.get(state) !== calls));
}

/** Whether several ways lead to each of the places, so that more tokens decide nothing. */
function isConflict(places: Configurations): boolean {
  if ([...places.all].every(({ state }) => state.role === 'ruleStop')) return true;
  const { byCalls, byState } = rivals(places);
  return byCalls.some((ways) => ways.size > 1) && byState.every((ways) => ways.size > 1);
}

/** The first way of all places, where it is the same for each; else 0. */
function onlyViable(places: Configurations): number {
  const firsts = new Set(rivals(places).byCalls.map((ways) => Math.min(...ways)));
  return firsts.size === 1 ? [...firsts][0]! : 0;
}
