// The parser: precedence climbing by recursive descent, macros expanded on the way. Positions are those of cel-go (operators at their
// sign, calls at their parenthesis), and so are the messages of the first syntax error. Depth and length of a text are bounded.
import { isResumable, remember } from '../../../base/index.ts';
import type { Expr, FieldEntry, Literal, MapEntry, ParsedExpr } from './ast.ts';
import { runeCount } from '../values/runes.ts';
import { FIELD_STARTS, followers, keywords, mapSigns, MAP_STARTS, PRIMARY_STARTS, relations, reserved, starters } from './grammar.ts';
import { type Token, escapeShown, lex } from './lex.ts';
import { LiteralError, readNumber, readText } from './literals.ts';
import { MacroError, type MacroHelper, macroKey } from './macros.ts';
import { MAX_DEPTH, MAX_EXPRESSION_RUNES, MAX_NODES, type ParseOptions, RUNES_PER_PART } from './options.ts';
import { CelSyntaxError, type Issue, MAX_REPORTED_ISSUES } from './source.ts';
import { Stop, untilStop } from './stop.ts';
import { Weights } from './weights.ts';

/** Parses a text; throws CelSyntaxError. */
export function parseExpression(text: string, options: ParseOptions): ParsedExpr {
  const issues: Issue[] = [];
  const size = runeCount(text);
  if (size > MAX_EXPRESSION_RUNES) {
    throw new CelSyntaxError([{ offset: -1, message: `expression code point size exceeds limit: size: ${size}, limit ${MAX_EXPRESSION_RUNES}` }], text);
  }
  const parser = remember(() => {
    const tokens = lex(text, issues);
    if (issues.length > MAX_REPORTED_ISSUES) throw new CelSyntaxError(issues, text);
    return new Parser(text, options, { tokens, issues });
  }, size / RUNES_PER_PART);
  const root = parser.parse();
  if (parser.issues.length > 0 || root === undefined) throw new CelSyntaxError(parser.issues, text);
  return { text, root, offsets: parser.offsets };
}

class Parser implements MacroHelper {
  readonly offsets = new Map<number, number>();
  readonly #depths = new Map<number, number>();
  readonly #weights = new Weights();
  readonly #source: string;
  readonly #tokens: readonly Token[];
  readonly #options: ParseOptions;
  readonly #lexIssues: readonly Issue[];
  issues: Issue[] = [];
  #at = 0;
  #nesting = 0;
  /** A problem was reported, and no token accepted since. */
  #recovering = false;
  #lastId = 0;

  constructor(text: string, options: ParseOptions, read: { tokens: readonly Token[]; issues: Issue[] }) {
    this.#source = text;
    this.#options = options;
    this.#tokens = read.tokens;
    this.#lexIssues = read.issues;
  }

  /** Parses from the start; a parse that was broken off knows the relations that it has read. */
  parse(): Expr | undefined {
    this.issues = [...this.#lexIssues];
    this.#at = 0;
    this.#nesting = 0;
    this.#recovering = false;
    return untilStop(() => {
      const root = this.#expression();
      if (this.#token.kind !== 'end') this.#unexpected('<EOF>', this.#tokens[this.#at + 1]?.kind === 'end');
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
    this.#advance();
    return true;
  }

  /** Accepts the current token, which ends the recovery from an error. */
  #advance(): void {
    this.#at++;
    this.#recovering = false;
  }

  /** Accepts an operator. As in the reference, one token that is too many before it is skipped, and a colon before an expression may be missing. */
  #expect(text: string, expected = `'${text}'`): void {
    if (this.#take(text)) return;
    const next = this.#tokens[this.#at + 1];
    if (expected.length === text.length + 2 && next?.kind === 'op' && next.text === text) {
      this.#reportSyntax(`extraneous input '${this.#token.text}' expecting ${expected}`);
      this.#at++;
      this.#advance();
    } else if (text === ':' && this.#startsPrimary(this.#token) && !this.#is('in')) this.#reportSyntax(`missing ':' at '${this.#token.text}'`);
    else this.#unexpected(expected);
  }

  #unexpected(expected: string, extraneous = false): never {
    this.#reportSyntax(`${extraneous ? 'extraneous' : 'mismatched'} input '${this.#token.text}' expecting ${expected}`);
    throw new Stop();
  }

  /** Reports a problem of the current token, unless it follows from the problem before. */
  #reportSyntax(message: string): void {
    if (!this.#recovering) this.#report(this.#token.offset, `Syntax error: ${message}`);
    this.#recovering = true;
  }

  /** The text from a token to the current one fits no alternative of the grammar; the end of the input has no text. */
  #noAlternative(from: Token): void {
    const { kind, offset, text } = this.#token;
    const input = kind === 'end' ? from.text : Array.from(this.#source).slice(from.offset, offset + runeCount(text)).join('');
    this.#reportSyntax(`no viable alternative at input '${escapeShown(input)}'`);
  }

  #report(offset: number, message: string): void {
    this.issues.push({ offset, message });
  }

  /** Counts the depth of a new node; trees that are too deep end the parse. */
  #sized<E extends Expr>(expr: E, ...children: readonly Expr[]): E {
    let depth = 0;
    for (const child of children) depth = Math.max(depth, this.#depths.get(child.id) ?? 0);
    this.#depths.set(expr.id, depth + 1);
    if (depth <= MAX_DEPTH) return expr;
    this.#report(-1, 'max recursion depth exceeded');
    throw new Stop();
  }

  #expression(): Expr {
    if (++this.#nesting > MAX_DEPTH) {
      this.#report(-1, `expression recursion limit exceeded: ${MAX_DEPTH}`);
      throw new Stop();
    }
    const condition = this.#logical('||', '_||_');
    const result = this.#is('?') ? this.#ternary(condition) : condition;
    this.#nesting--;
    return result;
  }

  #ternary(condition: Expr): Expr {
    const id = this.idAt(this.#token);
    this.#advance();
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
      this.#advance();
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
      return { expr, issues: this.issues, at: this.#at, recovering: this.#recovering };
    });
    this.issues = issues;
    for (const issue of read.issues) issues.push(issue);
    this.#at = read.at;
    this.#recovering = read.recovering;
    if (read.expr === undefined) throw new Stop();
    return read.expr;
  }

  #readRelation(): Expr {
    let left = this.#sum();
    while (relations.has(this.#token.text) && this.#is(this.#token.text)) {
      const operator = this.#token.text;
      const id = this.idAt(this.#token);
      this.#advance();
      left = this.#call(id, operator === 'in' ? '@in' : `_${operator}_`, [left, this.#sum()]);
    }
    return left;
  }

  #sum(): Expr {
    let left = this.#product();
    while (this.#is('+') || this.#is('-')) left = this.#binary(left, () => this.#product());
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
    this.#advance();
    return this.#call(id, name, [left, right()]);
  }

  #unary(): Expr {
    const sign = this.#token;
    if (!this.#is('!') && !this.#is('-')) return this.#member();
    let count = 0;
    for (; this.#is(sign.text); count++) this.#advance();
    const { kind } = this.#token;
    if (sign.text === '-' && count === 1 && (kind === 'int' || kind === 'float')) return this.#selectors(this.#number(sign));
    if (this.#is('!') || this.#is('-')) this.#unexpected(PRIMARY_STARTS);
    if (sign.text === '-' && this.#token.kind === 'end') this.#endAfterSigns(count);
    const operand = this.#member();
    return count % 2 === 0 ? operand : this.#call(this.idAt(sign), sign.text === '!' ? '!_' : '-_', [operand]);
  }

  /** The reference tries a sign and its operand at once, and reports the operand again after more than one sign. */
  #endAfterSigns(count: number): void {
    this.#noAlternative(this.#tokens[this.#at - 1]!);
    this.#recovering = count === 1;
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
    this.#advance();
    const optional = this.#optionalMark(dot, '.?');
    const name = this.#fieldName(optional ? undefined : dot);
    if (this.#is('(') && !optional) return this.#memberCall(operand, name);
    if (!optional) return this.#sized({ type: 'select', id: this.idAt(dot), operand, field: name, testOnly: false }, operand);
    const field: Expr = { type: 'literal', id: this.idAt(this.#tokens[this.#at - 1]!), value: name };
    return this.#call(this.idAt(dot), '_?._', [operand, field]);
  }

  /** Reads a `?` after `.`, `[` or at the start of an entry. */
  #optionalMark(place: Token, shown: string): boolean {
    if (!this.#is('?')) return false;
    if (this.#options.optionalSyntax !== true) this.#report(place.offset, `unsupported syntax '${shown}'`);
    this.#advance();
    return true;
  }

  #fieldName(from?: Token): string {
    const token = this.#token;
    if (token.kind === 'escaped') {
      if (this.#options.escapedNames !== true) this.#report(token.offset, "unsupported syntax: '`'");
      this.#advance();
      return token.text.slice(1, -1);
    }
    if (token.kind !== 'ident' || keywords.has(token.text)) {
      if (from === undefined) this.#unexpected('IDENTIFIER');
      this.#noAlternative(from);
      throw new Stop();
    }
    this.#advance();
    return token.text;
  }

  #index(operand: Expr): Expr {
    const bracket = this.#token;
    this.#advance();
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
      if (this.#is(')')) this.#unexpected(PRIMARY_STARTS);
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
      if (expanded !== undefined && this.#weights.of(expanded) > MAX_NODES) {
        this.#report(-1, `expression size exceeds limit: ${MAX_NODES} nodes`);
        throw new Stop();
      }
      return expanded === undefined ? undefined : this.#sized(expanded, ...call.args, ...(call.target === undefined ? [] : [call.target]));
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      this.#report(this.offsets.get(error.id) ?? 0, error.message);
      return { type: 'literal', id: call.id, value: null };
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
      this.#advance();
      return this.#literal(token, token.text === 'null' ? null : token.text === 'true');
    }
    return this.#name();
  }

  #parenthesis(): Expr {
    this.#advance();
    const inner = this.#expression();
    this.#expect(')');
    return inner;
  }

  #literal(token: Token, value: Literal): Expr {
    return { type: 'literal', id: this.idAt(token), value };
  }

  #number(sign?: Token): Expr {
    const token = this.#token;
    this.#advance();
    return this.#read(sign ?? token, () => readNumber(token, sign !== undefined));
  }

  #text(): Expr {
    const token = this.#token;
    this.#advance();
    return this.#read(token, () => readText(token));
  }

  #read(token: Token, read: () => Literal): Expr {
    try {
      return this.#literal(token, read());
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error;
      this.#report(token.offset, error.message);
      return this.#literal(token, null);
    }
  }

  #name(): Expr {
    const start = this.#token;
    const dot = this.#take('.') ? '.' : '';
    const token = this.#token;
    if (token.kind !== 'ident' || keywords.has(token.text)) return this.#notPrimary(dot === '' ? undefined : start);
    this.#advance();
    if (reserved.has(token.text)) {
      this.#report(token.offset, `reserved identifier: ${token.text}`);
      if (this.#is('(')) this.#arguments();
      return this.#literal(token, null);
    }
    const name = dot + token.text;
    if (!this.#is('(')) return this.#sized({ type: 'ident', id: this.idAt(start), name });
    const id = this.idAt(this.#token);
    const args = this.#arguments();
    return this.#expand({ id, name, target: undefined, args }) ?? this.#call(id, name, args);
  }

  #notPrimary(dot: Token | undefined): Expr {
    if (dot !== undefined) {
      this.#noAlternative(dot);
      throw new Stop();
    }
    if (this.#token.kind === 'end' || !this.#startsPrimary(this.#tokens[this.#at + 1])) return this.#recover();
    this.#reportSyntax(`extraneous input '${this.#token.text}' expecting ${PRIMARY_STARTS}`);
    this.#advance();
    return this.#expression();
  }

  #startsPrimary(token: Token | undefined): boolean {
    return token !== undefined && token.kind !== 'end' && (token.kind !== 'op' || starters.has(token.text));
  }

  /** Reports that an expression is missing, and continues at the next token that may follow one. */
  #recover(): Expr {
    this.#reportSyntax(`mismatched input '${this.#token.text}' expecting ${PRIMARY_STARTS}`);
    while (this.#token.kind !== 'end' && !followers.has(this.#token.text)) this.#at++;
    return this.#literal(this.#token, null);
  }

  #call(id: number, name: string, args: readonly Expr[]): Expr {
    return this.#sized({ type: 'call', id, name, target: undefined, args }, ...args);
  }

  #list(): Expr {
    const id = this.idAt(this.#token);
    this.#advance();
    const elements: Expr[] = [];
    const optional: number[] = [];
    while (!this.#is(']')) {
      if (elements.length === 0 && this.#take(',')) break;
      if (this.#optionalMark(this.#token, '?')) optional.push(elements.length);
      elements.push(this.#expression());
      if (!this.#take(',')) break;
    }
    this.#expect(']', elements.length > 0 ? "{']', ','}" : undefined);
    return this.#sized({ type: 'list', id, elements, optional }, ...elements);
  }

  #map(): Expr {
    const id = this.idAt(this.#token);
    this.#advance();
    const entries: MapEntry[] = [];
    this.#skipUnexpected(MAP_STARTS, (token) => this.#startsPrimary(token) || (token.kind === 'op' && mapSigns.has(token.text)));
    while (!this.#is('}')) {
      if (entries.length === 0 && this.#take(',')) break;
      const optional = this.#optionalMark(this.#token, '?');
      const key = this.#expression();
      const colon = this.#token;
      this.#expect(':');
      entries.push({ id: this.idAt(colon), key, value: this.#expression(), optional });
      if (!this.#take(',')) break;
    }
    this.#expect('}', entries.length > 0 ? "{'}', ','}" : undefined);
    return this.#sized({ type: 'map', id, entries }, ...entries.flatMap((entry) => [entry.key, entry.value]));
  }

  /** Reports a first entry that cannot be one; a single token that is too many is skipped. */
  #skipUnexpected(expected: string, fits: (token: Token) => boolean): void {
    if (fits(this.#token)) return;
    const next = this.#tokens[this.#at + 1];
    if (next === undefined || !fits(next)) this.#unexpected(expected);
    this.#reportSyntax(`extraneous input '${this.#token.text}' expecting ${expected}`);
    this.#advance();
  }

  #struct(named: Expr): Expr {
    const id = this.idAt(this.#token);
    this.#advance();
    const fields: FieldEntry[] = [];
    this.#skipUnexpected(FIELD_STARTS, (token) => token.kind === 'ident' || token.kind === 'escaped' || (token.kind === 'op' && mapSigns.has(token.text)));
    while (!this.#is('}')) {
      if (fields.length === 0 && this.#take(',')) break;
      const optional = this.#optionalMark(this.#token, '?');
      const field = this.#fieldName();
      const colon = this.#token;
      this.#expect(':');
      fields.push({ id: this.idAt(colon), field, value: this.#expression(), optional });
      if (!this.#take(',')) break;
    }
    this.#expect('}', fields.length > 0 ? "{'}', ','}" : undefined);
    return this.#sized({ type: 'struct', id, name: this.#nameOf(named)!, fields }, ...fields.map((entry) => entry.value));
  }
}
