// The grammar as a network of states, the form in which ANTLR asks which tokens may come next and which way through a block fits what follows.
import { type BlockElement, type Element, type RuleName, rules } from './grammar.ts';

/** What a state is to the recovery from errors. */
export type StateRole = 'plain' | 'blockStart' | 'loopEntry' | 'loopBack' | 'ruleStop';

export type Transition =
  | { readonly type: 'epsilon'; readonly target: State }
  | { readonly type: 'precedence'; readonly target: State; readonly level: number }
  | { readonly type: 'token'; readonly target: State; readonly tokens: readonly number[] }
  | { readonly type: 'rule'; readonly target: State; readonly rule: RuleName; readonly precedence: number; readonly follow: State };

/** A state. */
export interface State {
  readonly id: number;
  readonly rule: RuleName;
  readonly role: StateRole;
  readonly transitions: Transition[];
  /** The loop of a rule that begins with itself starts here. */
  readonly isRecursionLoop: boolean;
}

/** Tokens that may come next within a rule; `ends` says that the rule may be over. */
export interface NextTokens {
  readonly tokens: ReadonlySet<number>;
  readonly ends: boolean;
}

/** The states between which something stands. */
interface Ends {
  readonly from: State;
  readonly end: State;
}

/** The states of one element: where it begins, and for a block where its decisions are made. */
export interface Place {
  readonly state: State;
  /** Where a loop decides whether there is another iteration. */
  readonly loopBack?: State;
  /** Where the way through the block of a loop is chosen. */
  readonly inner?: State;
}

/** The network of the grammar. */
export class Network {
  readonly #places = new Map<Element, Place>();
  readonly #starts = new Map<RuleName, State>();
  readonly #stops = new Map<RuleName, State>();
  readonly #callers = new Map<RuleName, (Transition & { readonly type: 'rule' })[]>();
  readonly #next = new Map<State, NextTokens>();
  #count = 0;

  constructor() {
    const names = Object.keys(rules) as RuleName[];
    for (const name of names) {
      this.#starts.set(name, this.#state(name));
      this.#stops.set(name, this.#state(name, 'ruleStop'));
      this.#callers.set(name, []);
    }
    for (const name of names) {
      const last = this.#state(name);
      this.#sequence(rules[name], { from: this.startOf(name), end: last });
      link(last, this.stopOf(name));
    }
  }

  startOf(rule: RuleName): State {
    return this.#starts.get(rule)!;
  }

  stopOf(rule: RuleName): State {
    return this.#stops.get(rule)!;
  }

  /** The calls of a rule. */
  callersOf(rule: RuleName): readonly (Transition & { readonly type: 'rule' })[] {
    return this.#callers.get(rule)!;
  }

  placeOf(element: Element): Place {
    return this.#places.get(element)!;
  }

  /** The tokens that may come next at a state, as far as its rule knows. */
  nextTokens(state: State): NextTokens {
    const known = this.#next.get(state);
    if (known !== undefined) return known;
    const tokens = new Set<number>();
    const seen = new Set<State>();
    let ends = false;
    const look = (at: State): void => {
      if (seen.has(at)) return;
      seen.add(at);
      if (at.role === 'ruleStop') ends = true;
      for (const transition of at.transitions) {
        if (transition.type === 'token') for (const token of transition.tokens) tokens.add(token);
        // No rule is empty, so what follows a call is not looked at.
        else if (transition.type === 'rule') for (const token of this.nextTokens(transition.target).tokens) tokens.add(token);
        else look(transition.target);
      }
    };
    look(state);
    const next = { tokens, ends };
    this.#next.set(state, next);
    return next;
  }

  #state(rule: RuleName, role: StateRole = 'plain', isRecursionLoop = false): State {
    return { id: this.#count++, rule, role, transitions: [], isRecursionLoop };
  }

  /** Links elements one after another. What follows the last is the end itself: calls that end several ways of a block return to the same state. */
  #sequence(elements: readonly Element[], { from, end }: Ends): void {
    let at = from;
    elements.forEach((element, index) => {
      const after = index === elements.length - 1 ? end : this.#state(from.rule);
      this.#element(element, { from: at, end: after });
      at = after;
    });
  }

  #element(element: Element, ends: Ends): void {
    const { from, end } = ends;
    if (element.type === 'block') return this.#block(element, ends);
    const state = this.#state(from.rule);
    this.#places.set(element, { state });
    link(from, state);
    if (element.type === 'token') state.transitions.push({ type: 'token', target: end, tokens: element.tokens });
    else {
      const call = { type: 'rule', target: this.startOf(element.rule), rule: element.rule, precedence: element.precedence, follow: end } as const;
      state.transitions.push(call);
      this.#callers.get(element.rule)!.push(call);
    }
  }

  #block(block: BlockElement, { from, end: after }: Ends): void {
    const { rule } = from;
    const [start, end] = [this.#state(rule, 'blockStart'), this.#state(rule)];
    for (const { elements, precedence } of block.alternatives) {
      const way = this.#state(rule);
      if (precedence > 0) start.transitions.push({ type: 'precedence', target: way, level: precedence });
      else link(start, way);
      this.#sequence(elements, { from: way, end });
    }
    if (block.kind === 'optional') link(start, end);
    if (block.kind === 'star') return this.#star(block, { from, start, end, after });
    link(from, start);
    if (block.kind !== 'plus') {
      link(end, after);
      this.#places.set(block, { state: start });
      return;
    }
    const loopBack = this.#state(rule, 'loopBack');
    link(end, loopBack);
    link(loopBack, start);
    link(loopBack, after);
    this.#places.set(block, { state: start, loopBack });
  }

  #star(block: BlockElement, { from, start, end, after }: Readonly<Record<'from' | 'start' | 'end' | 'after', State>>): void {
    const { rule } = start;
    const [entry, loopBack] = [this.#state(rule, 'loopEntry', block.recursive), this.#state(rule, 'loopBack')];
    link(from, entry);
    link(entry, start);
    link(entry, after);
    link(end, loopBack);
    link(loopBack, entry);
    this.#places.set(block, { state: entry, loopBack, inner: start });
  }
}

function link(from: State, target: State): void {
  from.transitions.push({ type: 'epsilon', target });
}
