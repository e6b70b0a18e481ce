// Parses a text that has errors, to find all of them: as ANTLR does by default, a token that is too many is skipped, one that is missing is made up, and
// after anything else parsing continues at a token that may follow an open rule. The bounds of recoveries and of skipped tokens are those of cel-go.
import type { Steps } from '../../../base/index.ts';
import { type LexIssue, type Token, escapeShown } from '../parse/lex.ts';
import { MAX_DEPTH } from '../parse/options.ts';
import { type Issue, MAX_REPORTED_ISSUES } from '../parse/source.ts';
import { Stop } from '../parse/stop.ts';
import { type BlockElement, type Element, END_TYPE, type RuleName, tokenNames, type TokenElement, rules,
} from './grammar.ts';
import { Network, type NextTokens, type State } from './network.ts';
import { Predictor } from './prediction.ts';
import { TokenReader } from './token-reader.ts';
import { Node } from './tree.ts';

const MAX_RECOVERIES = 30;
const MAX_SKIPPED_IN_RECOVERY = 256;
/** Parts of rules that are read in one step. */
const FRAMES_IN_STEP = 200;

/** A problem that ends a rule, until parsing continues behind it. */
class Mismatch extends Error {
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** What recovery has done since a token was last accepted. */
interface Recovery {
  readonly at: number;
  readonly states: Set<State>;
}

/** A rule that is being read. */
interface RuleFrame {
  readonly type: 'rule';
  readonly name: RuleName;
  readonly label: string;
  readonly node: Node;
  readonly outer: Node | undefined;
  readonly calledFrom: State;
}

/** Work that is left, innermost last. A stack of its own, since texts nest deeper than the stack of the process. */
type Frame = RuleFrame | { readonly type: 'sequence'; readonly elements: readonly Element[]; at: number }
  | { readonly type: 'loop'; readonly block: BlockElement };

/** A parse of a text with errors. */
export class RecoveringParser {
  readonly #network = new Network();
  readonly #predictor = new Predictor(this.#network);
  readonly #reader: TokenReader;
  readonly #issues: Issue[] = [];
  readonly #depths = new Map<RuleName, number>();
  readonly #precedences: number[] = [];
  readonly #frames: Frame[] = [];
  #node: Node | undefined;
  #state: State = this.#network.startOf('start');
  /** A problem was reported, and no token accepted since. */
  #isRecovering = false;
  #recovery: Recovery | undefined;
  #recoveries = 0;

  constructor(text: string, tokens: readonly Token[], skipped: readonly LexIssue[]) {
    this.#reader = new TokenReader(text, tokens, skipped);
  }

  /** The problems found so far. */
  get issues(): readonly Issue[] {
    return [...this.#reader.problems.map(({ offset, message }) => ({ offset, message })), ...this.#issues];
  }

  /** Parses in steps; undefined where a bound ends it. */
  *parse(): Steps<Node | undefined> {
    try {
      this.#call('start', '', 0);
      const { node } = this.#frames[0] as RuleFrame;
      for (let count = 1; this.#frames.length > 0; count++) {
        if (count % FRAMES_IN_STEP === 0) yield;
        yield* this.#proceed();
      }
      return node;
    } catch (error) {
      if (error instanceof Stop) return undefined;
      throw error;
    }
  }

  /** Does what is next; a problem ends the innermost rule. */
  *#proceed(): Steps<void> {
    try {
      yield* this.#continue(this.#frames.at(-1)!);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      this.#report(error.message, error.offset);
      this.#recover();
      while (this.#frames.at(-1)!.type !== 'rule') this.#frames.pop();
      this.#leave(this.#frames.pop() as RuleFrame);
    }
  }

  *#continue(frame: Frame): Steps<void> {
    if (frame.type === 'rule') return this.#leave(this.#frames.pop() as RuleFrame);
    if (frame.type === 'loop') return yield* this.#goOn(frame.block);
    const element = frame.elements[frame.at++];
    if (element === undefined) this.#frames.pop();
    else if (element.type === 'token') this.#take(element);
    else if (element.type === 'block') yield* this.#enter(element);
    else {
      this.#state = this.#network.placeOf(element).state;
      this.#call(element.rule, element.label, element.precedence);
    }
  }

  #call(name: RuleName, label: string, precedence: number): void {
    const [outer, calledFrom] = [this.#node, this.#state];
    const node = new Node(name, this.#reader.next, { parent: outer, calledFrom: outer === undefined ? undefined : calledFrom });
    this.#node = node;
    this.#state = this.#network.startOf(name);
    const depth = (this.#depths.get(name) ?? 0) + 1;
    this.#depths.set(name, depth);
    if (depth > MAX_DEPTH) this.#stop(`expression recursion limit exceeded: ${MAX_DEPTH}`);
    this.#precedences.push(precedence);
    this.#frames.push({ type: 'rule', name, label, node, outer, calledFrom });
    this.#push(rules[name]);
  }

  #push(elements: readonly Element[]): void {
    this.#frames.push({ type: 'sequence', elements, at: 0 });
  }

  #leave({ name, label, outer, calledFrom }: RuleFrame): void {
    this.#precedences.pop();
    this.#depths.set(name, this.#depths.get(name)! - 1);
    outer?.add(label, this.#node!);
    this.#node = outer;
    this.#state = calledFrom;
  }

  #stop(message: string): never {
    this.#issues.push({ offset: -1, message });
    throw new Stop();
  }

  /** Takes a token; makes up for one that is too many or missing. */
  #take(element: TokenElement): void {
    this.#state = this.#network.placeOf(element).state;
    const token = element.tokens.includes(this.#reader.typeAt(0)) ? this.#accept() : this.#recoverInline();
    this.#node!.add(element.label, token);
  }

  #accept(): Token {
    const token = this.#reader.next;
    this.#endRecovery();
    this.#reader.advance();
    return token;
  }

  *#enter(block: BlockElement): Steps<void> {
    const { state } = this.#network.placeOf(block);
    this.#state = state;
    this.#synchronize();
    if (block.kind === 'choice') return this.#follow(block, yield* this.#choose(block, state));
    if (block.kind === 'optional') return this.#startsWith(block) ? this.#follow(block, 0) : undefined;
    if (block.kind === 'star' && !(yield* this.#isMore(block, state))) return undefined;
    this.#frames.push({ type: 'loop', block });
    yield* this.#iterate(block);
  }

  /** Behind an iteration of a loop. */
  *#goOn(block: BlockElement): Steps<void> {
    const { state, loopBack } = this.#network.placeOf(block);
    this.#state = loopBack!;
    this.#synchronize();
    if (yield* this.#isMore(block, block.kind === 'plus' ? loopBack! : state)) yield* this.#iterate(block);
    else this.#frames.pop();
  }

  *#isMore(block: BlockElement, decision: State): Steps<boolean> {
    return block.byToken ? this.#startsWith(block) : (yield* this.#predict(decision)) === 0;
  }

  *#iterate(block: BlockElement): Steps<void> {
    let chosen = 0;
    if (block.alternatives.length > 1) {
      this.#state = this.#network.placeOf(block).inner!;
      this.#synchronize();
      chosen = yield* this.#predict(this.#state);
    }
    if (block.recursive) this.#wrap();
    this.#follow(block, chosen);
  }

  /** The node of a rule that begins with itself becomes the first part of another. */
  #wrap(): void {
    const left = this.#node!;
    this.#node = new Node(left.rule, left.start, left);
    this.#node.add('left', left);
  }

  #follow(block: BlockElement, index: number): void {
    const { name, elements } = block.alternatives[index]!;
    if (name !== '') this.#node!.name = name;
    this.#push(elements);
  }

  *#choose(block: BlockElement, state: State): Steps<number> {
    if (!block.byToken) return yield* this.#predict(state);
    const type = this.#reader.typeAt(0);
    const chosen = block.alternatives.findIndex(({ elements: [first] }) => first?.type === 'token' && first.tokens.includes(type));
    if (chosen < 0) throw this.#noAlternative(0);
    return chosen;
  }

  #startsWith({ alternatives: [alternative] }: BlockElement): boolean {
    const { state } = this.#network.placeOf(alternative!.elements[0]!);
    return this.#network.nextTokens(state).tokens.has(this.#reader.typeAt(0));
  }

  *#predict(state: State): Steps<number> {
    const found = yield* this.#predictor.predict({
      state, precedence: this.#precedences.at(-1)!, ahead: this.#reader, callers: () => this.#openCalls(),
    });
    if ('failedAt' in found) throw this.#noAlternative(found.failedAt);
    return found.alternative - 1;
  }

  /** The states behind the open calls, innermost first. */
  #openCalls(): readonly State[] {
    const calls: State[] = [];
    for (let node = this.#node; node?.calledFrom !== undefined; node = node.parent) calls.push(followOf(node.calledFrom));
    return calls;
  }

  #endRecovery(): void {
    this.#isRecovering = false;
    this.#recovery = undefined;
  }

  /** Reports a problem, unless it follows from the one before. */
  #report(message: string, offset: number = this.#reader.next.offset): void {
    if (this.#isRecovering) return;
    this.#isRecovering = true;
    const isLast = this.#reader.problems.length + this.#issues.length >= MAX_REPORTED_ISSUES;
    this.#issues.push({ offset, message: `Syntax error: ${isLast ? `More than ${MAX_REPORTED_ISSUES} syntax errors` : message}` });
    if (isLast) throw new Stop();
  }

  #mismatch(): Mismatch {
    const { text, offset } = this.#reader.next;
    return new Mismatch(`mismatched input '${escapeShown(text)}' expecting ${nameTokens(this.#expected())}`, offset);
  }

  #noAlternative(distance: number): Mismatch {
    const input = this.#reader.shown(distance);
    const { offset } = this.#reader.ahead(distance);
    // cel-go has words of its own for names that are none.
    const name = /^.(true|false|null)$/su.exec(input)?.[1];
    return new Mismatch(name === undefined ? `no viable alternative at input '${input}'` : `mismatched input '${name}' expecting IDENTIFIER`, offset);
  }

  /** The tokens that may come next, in this rule and behind the rules that may be over. */
  #expected(): Set<number> {
    let next: NextTokens = this.#network.nextTokens(this.#state);
    const expected = new Set(next.tokens);
    for (const follow of this.#openCalls()) {
      if (!next.ends) return expected;
      next = this.#network.nextTokens(follow);
      for (const token of next.tokens) expected.add(token);
    }
    if (next.ends) expected.add(END_TYPE);
    return expected;
  }

  /** Whether a token may come next at a state, where the callers are known. */
  #fitsAt(state: State, type: number): boolean {
    for (const at of [state, ...this.#openCalls()]) {
      const next = this.#network.nextTokens(at);
      if (next.tokens.has(type)) return true;
      if (!next.ends) return false;
    }
    return type === END_TYPE;
  }

  /** Looks whether the next token fits where a decision is made. One token that is too many is skipped. */
  #synchronize(): void {
    if (this.#isRecovering) return;
    const { tokens, ends } = this.#network.nextTokens(this.#state);
    if (ends || tokens.has(this.#reader.typeAt(0))) return;
    if (this.#state.role === 'loopBack') {
      this.#reportUnwanted();
      this.#skipUntil(new Set([...this.#expected(), ...this.#followers()]), Infinity);
    } else if (!this.#skipOne()) throw this.#mismatch();
  }

  #reportUnwanted(): void {
    this.#report(`extraneous input '${escapeShown(this.#reader.next.text)}' expecting ${nameTokens(this.#expected())}`);
  }

  /** Skips a token where the one after it fits. */
  #skipOne(): boolean {
    if (!this.#expected().has(this.#reader.typeAt(1))) return false;
    this.#reportUnwanted();
    this.#reader.advance();
    this.#endRecovery();
    return true;
  }

  #recoverInline(): Token {
    this.#countRecovery();
    if (this.#skipOne()) return this.#accept();
    const expected = this.#expected();
    const { transitions: [after] } = this.#state;
    if (!this.#fitsAt(after!.target, this.#reader.typeAt(0))) throw this.#mismatch();
    this.#report(`missing ${nameTokens(expected)} at '${escapeShown(this.#reader.next.text)}'`);
    const place = this.#reader.next.kind === 'end' ? this.#reader.before ?? this.#reader.next : this.#reader.next;
    return { kind: 'ident', text: madeUpText(Math.min(...expected)), offset: place.offset };
  }

  #countRecovery(): void {
    if (this.#recoveries === MAX_RECOVERIES) {
      this.#issues.push({ offset: this.#reader.next.offset, message: `Syntax error: error recovery attempt limit exceeded: ${MAX_RECOVERIES}` });
      throw new Stop();
    }
    this.#recoveries++;
  }

  /** Continues at a token that may follow one of the open rules. */
  #recover(): void {
    this.#countRecovery();
    let left = MAX_SKIPPED_IN_RECOVERY;
    const { at } = this.#reader;
    if (this.#recovery?.at === at && this.#recovery.states.has(this.#state) && this.#reader.next.kind !== 'end') {
      this.#reader.advance();
      left--;
    }
    this.#recovery = { at: this.#reader.at, states: (this.#recovery?.states ?? new Set<State>()).add(this.#state) };
    this.#skipUntil(this.#followers(), left);
  }

  /** The tokens that may follow one of the open rules. */
  #followers(): Set<number> {
    const followers = new Set<number>();
    for (const follow of this.#openCalls()) for (const token of this.#network.nextTokens(follow).tokens) followers.add(token);
    return followers;
  }

  #skipUntil(types: ReadonlySet<number>, most: number): void {
    let left = most;
    for (let type = this.#reader.typeAt(0); type !== END_TYPE && !types.has(type); type = this.#reader.typeAt(0)) {
      if (left-- === 0) this.#stop(`error recovery token lookahead limit exceeded: ${MAX_SKIPPED_IN_RECOVERY}`);
      this.#reader.advance();
    }
  }
}

/** The state behind a call. */
function followOf({ transitions: [call] }: State): State {
  if (call?.type !== 'rule') throw new Error('a rule is called from a state that calls none');
  return call.follow;
}

function nameTokens(types: ReadonlySet<number>): string {
  const names = [...types].sort((a, b) => a - b).map((type) => tokenNames[type]);
  return names.length === 1 ? names[0]! : `{${names.join(', ')}}`;
}

/** What stands for a token that is missing. */
function madeUpText(type: number): string {
  const name = tokenNames[type]!;
  return `<missing ${type === END_TYPE ? 'EOF' : name.startsWith("'") ? name : 'undefined'}>`;
}
