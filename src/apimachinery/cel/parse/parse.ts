// The parser: precedence climbing by recursive descent, macros expanded on the way. Positions are those of cel-go (operators at their
// sign, calls at their parenthesis). Depth and length of a text are bounded. The first problem ends the parse; ../recovery finds all that are reported.
import { isResumable, remember } from '../../../base/index.ts';
import type { Expr, FieldEntry, Literal, MapEntry, ParsedExpr } from './ast.ts';
import { runeCount } from '../values/runes.ts';
import { findIssues } from '../recovery/find-issues.ts';
import { keywords, relations, reserved } from './grammar.ts';
import { type LexIssue, type Token, escapeShown, lex } from './lex.ts';
import { LiteralError, readNumber, readText } from './literals.ts';
import { MacroError, type MacroHelper, macroKey } from './macros.ts';
import { MAX_DEPTH, MAX_EXPRESSION_RUNES, MAX_NODES, type ParseOptions, RUNES_PER_PART } from './options.ts';
import { CelSyntaxError, type Issue, MAX_REPORTED_ISSUES } from './source.ts';
import { Stop, untilStop } from './stop.ts';
import { Weights } from './weights.ts';

/** Parses a text; throws CelSyntaxError. */
export function parseExpression(text: string, options: ParseOptions): ParsedExpr {
  const size = runeCount(text);
  if (size > MAX_EXPRESSION_RUNES) {
    throw new CelSyntaxError([{ offset: -1, message: `expression code point size exceeds limit: size: ${size}, limit ${MAX_EXPRESSION_RUNES}` }], text);
  }
  const split = remember(() => {
    const issues: LexIssue[] = [];
    return { text, tokens: lex(text, issues), issues };
  }, size / RUNES_PER_PART);
  if (split.issues.length > MAX_REPORTED_ISSUES) throw new CelSyntaxError(split.issues, text);
  const parser = remember(() => new Parser(options, split.tokens));
  const root = split.issues.length > 0 ? undefined : parser.parse();
  if (root !== undefined) return { text, root, offsets: parser.offsets };
  const issues = findIssues(split, options);
  throw new CelSyntaxError(issues.length > 0 ? issues : parser.issues, text);
}

/** How often the rules that call themselves are open; an operand on the right of an operator is one more. */
interface OpenRules {
  expr: number;
  relation: number;
  calc: number;
}

const noOpenRules = (): OpenRules => ({ expr: 0, relation: 0, calc: 0 });

class Parser implements MacroHelper {
  readonly offsets = new Map<number, number>();
  readonly #depths = new Map<number, number>();
  readonly #weights = new Weights();
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  /** The problem that ended the parse. */
  issues: Issue[] = [];
  #at = 0;
  #open = noOpenRules();
  #lastId = 0;

  constructor(options: ParseOptions, tokens: readonly Token[]) {
    this.#options = options;
    this.#tokens = tokens;
  }

  /** Parses from the start; a parse that was broken off knows the relations that it has read. */
  parse(): Expr | undefined {
    this.issues = [];
    this.#at = 0;
    this.#open = noOpenRules();
    return untilStop(() => {
      const root = this.#expression();
      if (this.#token.kind !== 'end') this.#refuse();
      return root;
    });
  }

  /** A new node id at the place of another node, or at an offset. */
  idAt(place: { id: number } | { offset: number }): number {
    const offset = 'offset' in place ? place.offset : this.offsets.get(place.id) ?? 0;
    this.offsets.set(++this.#lastId, offset);
    return this.#lastId;
  }

  get #token(): Token {
    return this.#tokens[this.#at]!;
  }

  #is(text: string): boolean {
    const token = this.#token;
    return token.text === text && (token.kind === 'op' || (token.kind === 'ident' && keywords.has(text)));
  }

  #take(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#at++;
    return true;
  }

  #expect(text: string): void {
    if (!this.#take(text)) this.#refuse();
  }

  /** Ends the parse: the current token does not fit. */
  #refuse(): never {
    return this.#fail(this.#token.offset, `Syntax error: unexpected input '${escapeShown(this.#token.text)}'`);
  }

  #fail(offset: number, message: string): never {
    this.issues.push({ offset, message });
    throw new Stop();
  }

  /** Counts the depth of a new node; trees that are too deep end the parse. */
  #sized<E extends Expr>(expr: E, ...children: readonly Expr[]): E {
    let depth = 0;
    for (const child of children) depth = Math.max(depth, this.#depths.get(child.id) ?? 0);
    this.#depths.set(expr.id, depth + 1);
    return depth < MAX_DEPTH ? expr : this.#fail(-1, 'max recursion depth exceeded');
  }

  /** Counts an open rule of the grammar. */
  #enter(rule: keyof OpenRules): void {
    if (++this.#open[rule] > MAX_DEPTH) this.#fail(-1, `expression recursion limit exceeded: ${MAX_DEPTH}`);
  }

  #expression(): Expr {
    this.#enter('expr');
    const condition = this.#logical('||', '_||_');
    const result = this.#is('?') ? this.#ternary(condition) : condition;
    this.#open.expr--;
    return result;
  }

  #ternary(condition: Expr): Expr {
    const id = this.idAt(this.#token);
    this.#at++;
    const yes = this.#logical('||', '_||_');
    this.#expect(':');
    const no = this.#expression();
    return this.#call(id, '_?_:_', [condition, yes, no]);
  }

  #logical(operator: '||' | '&&', name: string): Expr {
    const next = (): Expr => (operator === '||' ? this.#logical('&&', '_&&_') : this.#relation());
    const first = next();
    if (!this.#is(operator)) return first;
    const terms = [first];
    const ids: number[] = [];
    while (this.#is(operator)) {
      ids.push(this.idAt(this.#token));
      this.#at++;
      terms.push(next());
    }
    return this.#balance({ name, terms, ids }, 0, ids.length - 1);
  }

  /** A chain of && or || as a balanced tree, so that its depth is the logarithm of its length. */
  #balance(chain: { name: string; terms: readonly Expr[]; ids: readonly number[] }, low: number, high: number): Expr {
    const middle = (low + high + 1) >> 1;
    const left = middle === low ? chain.terms[middle]! : this.#balance(chain, low, middle - 1);
    const right = middle === high ? chain.terms[middle + 1]! : this.#balance(chain, middle + 1, high);
    return this.#call(chain.ids[middle]!, chain.name, [left, right]);
  }

  #relation(): Expr {
    if (!isResumable()) return this.#readRelation();
    const { issues } = this;
    const read = remember(() => {
      this.issues = [];
      const expr = untilStop(() => this.#readRelation());
      return { expr, issues: this.issues, at: this.#at };
    });
    this.issues = issues;
    for (const issue of read.issues) issues.push(issue);
    this.#at = read.at;
    if (read.expr === undefined) throw new Stop();
    return read.expr;
  }

  #readRelation(): Expr {
    this.#enter('relation');
    let left = this.#sum();
    while (relations.has(this.#token.text) && this.#is(this.#token.text)) {
      const operator = this.#token.text;
      const id = this.idAt(this.#token);
      this.#at++;
      this.#enter('relation');
      left = this.#call(id, operator === 'in' ? '@in' : `_${operator}_`, [left, this.#sum()]);
      this.#open.relation--;
    }
    this.#open.relation--;
    return left;
  }

  #sum(): Expr {
    this.#enter('calc');
    let left = this.#product();
    while (this.#is('+') || this.#is('-')) left = this.#binary(left, () => this.#product());
    this.#open.calc--;
    return left;
  }

  #product(): Expr {
    let left = this.#unary();
    while (this.#is('*') || this.#is('/') || this.#is('%')) left = this.#binary(left, () => this.#unary());
    return left;
  }

  #binary(left: Expr, right: () => Expr): Expr {
    const name = `_${this.#token.text}_`;
    const id = this.idAt(this.#token);
    this.#at++;
    this.#enter('calc');
    const operand = right();
    this.#open.calc--;
    return this.#call(id, name, [left, operand]);
  }

  #unary(): Expr {
    const sign = this.#token;
    if (!this.#is('!') && !this.#is('-')) return this.#member();
    let count = 0;
    for (; this.#is(sign.text); count++) this.#at++;
    const { kind } = this.#token;
    if (sign.text === '-' && count === 1 && (kind === 'int' || kind === 'float')) return this.#selectors(this.#number(sign));
    if (this.#is('!') || this.#is('-')) this.#refuse();
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(this.idAt(sign), sign.text === '!' ? '!_' : '-_', [operand]);
  }

  #member(): Expr {
    return this.#selectors(this.#primary());
  }

  #selectors(start: Expr): Expr {
    let expr = start;
    for (;;) {
      if (this.#is('.')) expr = this.#selection(expr);
      else if (this.#is('[')) expr = this.#index(expr);
      else if (this.#is('{') && expr !== start && this.#nameOf(expr) !== undefined) return this.#selectors(this.#struct(expr));
      else if (this.#is('{') && expr === start && expr.type === 'ident') return this.#selectors(this.#struct(expr));
      else return expr;
    }
  }

  #nameOf(expr: Expr): string | undefined {
    if (expr.type === 'ident') return expr.name;
    const prefix = expr.type === 'select' && !expr.testOnly ? this.#nameOf(expr.operand) : undefined;
    return prefix === undefined ? undefined : `${prefix}.${(expr as { field: string }).field}`;
  }

  #selection(operand: Expr): Expr {
    const dot = this.#token;
    this.#at++;
    const optional = this.#optionalMark(dot, '.?');
    const name = this.#fieldName();
    if (this.#is('(') && !optional) return this.#memberCall(operand, name);
    if (!optional) return this.#sized({ type: 'select', id: this.idAt(dot), operand, field: name, testOnly: false }, operand);
    const field: Expr = { type: 'literal', id: this.idAt(this.#tokens[this.#at - 1]!), value: name };
    return this.#call(this.idAt(dot), '_?._', [operand, field]);
  }

  /** Reads a `?` after `.`, `[` or at the start of an entry. */
  #optionalMark(place: Token, shown: string): boolean {
    if (!this.#is('?')) return false;
    if (this.#options.optionalSyntax !== true) this.#fail(place.offset, `unsupported syntax '${shown}'`);
    this.#at++;
    return true;
  }

  #fieldName(): string {
    const token = this.#token;
    if (token.kind === 'escaped') {
      if (this.#options.escapedNames !== true) this.#fail(token.offset, "unsupported syntax: '`'");
      this.#at++;
      return token.text.slice(1, -1);
    }
    if (token.kind !== 'ident' || keywords.has(token.text)) this.#refuse();
    this.#at++;
    return token.text;
  }

  #index(operand: Expr): Expr {
    const bracket = this.#token;
    this.#at++;
    const optional = this.#optionalMark(bracket, '[?');
    const index = this.#expression();
    this.#expect(']');
    return this.#call(this.idAt(bracket), optional ? '_[?_]' : '_[_]', [operand, index]);
  }

  #memberCall(target: Expr, name: string): Expr {
    const id = this.idAt(this.#token);
    const args = this.#arguments();
    return this.#expand({ id, name, target, args }) ?? this.#sized({ type: 'call', id, name, target, args }, target, ...args);
  }

  #arguments(): Expr[] {
    this.#expect('(');
    const args: Expr[] = [];
    while (!this.#is(')')) {
      args.push(this.#expression());
      if (!this.#take(',')) break;
      if (this.#is(')')) this.#refuse();
    }
    this.#expect(')');
    return args;
  }

  #expand(call: { id: number; name: string; target: Expr | undefined; args: readonly Expr[] }): Expr | undefined {
    const macro = this.#options.macros.get(macroKey(call.name, call.args.length, call.target !== undefined))
      ?? this.#options.macros.get(macroKey(call.name, -1, call.target !== undefined));
    if (macro === undefined) return undefined;
    try {
      const expanded = macro(this, call);
      if (expanded !== undefined && this.#weights.of(expanded) > MAX_NODES) this.#fail(-1, `expression size exceeds limit: ${MAX_NODES} nodes`);
      return expanded === undefined ? undefined : this.#sized(expanded, ...call.args, ...(call.target === undefined ? [] : [call.target]));
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.#fail(this.offsets.get(error.id) ?? 0, error.message);
    }
  }

  #primary(): Expr {
    const token = this.#token;
    if (token.kind === 'int' || token.kind === 'uint' || token.kind === 'float') return this.#number();
    if (token.kind === 'string' || token.kind === 'bytes') return this.#text();
    if (this.#is('(')) return this.#parenthesis();
    if (this.#is('[')) return this.#list();
    if (this.#is('{')) return this.#map();
    if (this.#is('true') || this.#is('false') || this.#is('null')) {
      this.#at++;
      return this.#literal(token, token.text === 'null' ? null : token.text === 'true');
    }
    return this.#name();
  }

  #parenthesis(): Expr {
    this.#at++;
    const inner = this.#expression();
    this.#expect(')');
    return inner;
  }

  #literal(token: Token, value: Literal): Expr {
    return { type: 'literal', id: this.idAt(token), value };
  }

  #number(sign?: Token): Expr {
    const token = this.#token;
    this.#at++;
    return this.#read(sign ?? token, () => readNumber(token, sign !== undefined));
  }

  #text(): Expr {
    const token = this.#token;
    this.#at++;
    return this.#read(token, () => readText(token));
  }

  #read(token: Token, read: () => Literal): Expr {
    try {
      return this.#literal(token, read());
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error;
      return this.#fail(token.offset, error.message);
    }
  }

  #name(): Expr {
    const dot = this.#take('.') ? '.' : '';
    const token = this.#token;
    if (token.kind !== 'ident' || keywords.has(token.text)) this.#refuse();
    this.#at++;
    if (reserved.has(token.text)) this.#fail(token.offset, `reserved identifier: ${token.text}`);
    const name = dot + token.text;
    if (!this.#is('(')) return { type: 'ident', id: this.idAt(token), name };
    const id = this.idAt(this.#token);
    const args = this.#arguments();
    return this.#expand({ id, name, target: undefined, args }) ?? this.#call(id, name, args);
  }

  #call(id: number, name: string, args: readonly Expr[]): Expr {
    return this.#sized({ type: 'call', id, name, target: undefined, args }, ...args);
  }

  #list(): Expr {
    const id = this.idAt(this.#token);
    this.#at++;
    const elements: Expr[] = [];
    const optional: number[] = [];
    while (!this.#is(']')) {
      if (elements.length === 0 && this.#take(',')) break;
      if (this.#optionalMark(this.#token, '?')) optional.push(elements.length);
      elements.push(this.#expression());
      if (!this.#take(',')) break;
    }
    this.#expect(']');
    return this.#sized({ type: 'list', id, elements, optional }, ...elements);
  }

  #map(): Expr {
    const id = this.idAt(this.#token);
    this.#at++;
    const entries: MapEntry[] = [];
    while (!this.#is('}')) {
      if (entries.length === 0 && this.#take(',')) break;
      const optional = this.#optionalMark(this.#token, '?');
      const key = this.#expression();
      const colon = this.#token;
      this.#expect(':');
      entries.push({ id: this.idAt(colon), key, value: this.#expression(), optional });
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    return this.#sized({ type: 'map', id, entries }, ...entries.flatMap((entry) => [entry.key, entry.value]));
  }

  #struct(named: Expr): Expr {
    const id = this.idAt(this.#token);
    this.#at++;
    const fields: FieldEntry[] = [];
    while (!this.#is('}')) {
      if (fields.length === 0 && this.#take(',')) break;
      const optional = this.#optionalMark(this.#token, '?');
      const field = this.#fieldName();
      const colon = this.#token;
      this.#expect(':');
      fields.push({ id: this.idAt(colon), field, value: this.#expression(), optional });
      if (!this.#take(',')) break;
    }
    this.#expect('}');
    return this.#sized({ type: 'struct', id, name: this.#nameOf(named)!, fields }, ...fields.map((entry) => entry.value));
  }
}
