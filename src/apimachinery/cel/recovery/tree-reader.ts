// What else is wrong in a text with syntax errors: literals, reserved names and macros are checked in the tree as far as it was recognized, as in cel-go.
import type { Steps } from '../../../base/index.ts';
import type { Expr, Literal } from '../parse/ast.ts';
import { reserved } from '../parse/grammar.ts';
import type { Token } from '../parse/lex.ts';
import { LiteralError, readNumber, readText } from '../parse/literals.ts';
import { MacroError, type MacroHelper, macroKey } from '../parse/macros.ts';
import { MAX_DEPTH, type ParseOptions } from '../parse/options.ts';
import type { Issue } from '../parse/source.ts';
import { Stop } from '../parse/stop.ts';
import type { Node } from './tree.ts';

/** Nodes that are read in one step. */
const NODES_IN_STEP = 200;

/** Operators of calls by their signs. */
const functionOf = (sign: string): string => (sign === 'in' ? '@in' : `_${sign}_`);

/** Reads a tree for its problems. */
export class TreeReader implements MacroHelper {
  readonly #options: ParseOptions;
  readonly #issues: Issue[] = [];
  readonly #offsets = new Map<number, number>();
  #lastId = 0;
  #depth = 0;
  #count = 0;
  /** Whether the tree has problems that were reported before. */
  readonly #isBroken: boolean;

  constructor(options: ParseOptions, isBroken: boolean) {
    this.#options = options;
    this.#isBroken = isBroken;
  }

  /** The problems, in the order in which they are found. */
  *read(start: Node): Steps<readonly Issue[]> {
    try {
      yield* this.#visit(start.node('expr'));
    } catch (error) {
      if (!(error instanceof Stop)) throw error;
    }
    return this.#issues;
  }

  idAt(place: { id: number } | { offset: number } | undefined): number {
    const offset = place === undefined ? -1 : 'offset' in place ? place.offset : this.#offsets.get(place.id) ?? -1;
    this.#offsets.set(++this.#lastId, offset);
    return this.#lastId;
  }

  /** An expression that is none. */
  #nothing(place: Token | undefined): Expr {
    return { type: 'literal', id: this.idAt(place), value: null };
  }

  #report(place: { readonly offset: number }, message: string): Expr {
    this.#issues.push({ offset: place.offset, message });
    return { type: 'literal', id: this.idAt(place), value: null };
  }

  *#visit(node: Node | undefined): Steps<Expr> {
    if (++this.#count % NODES_IN_STEP === 0) yield;
    const found = unnest(node);
    switch (found?.name === '' ? found.rule : found?.name) {
      case 'expr': return yield* this.#nested(this.#ternary(found!));
      case 'or': return yield* this.#logical(found!, '_||_', '||');
      case 'and': return yield* this.#logical(found!, '_&&_', '&&');
      case 'relation': case 'calc': return yield* this.#nested(this.#binary(found!));
      case 'unary': return { type: 'literal', id: this.idAt(found!.start), value: '<<error>>' };
      case 'logicalNot': return yield* this.#signed(found!, '!_');
      case 'negate': return yield* this.#signed(found!, '-_');
      case 'select': return yield* this.#nested(this.#select(found!));
      case 'memberCall': return yield* this.#nested(this.#memberCall(found!));
      case 'index': return yield* this.#nested(this.#index(found!));
      default: return yield* this.#visitPrimary(found);
    }
  }

  *#visitPrimary(found: Node | undefined): Steps<Expr> {
    switch (found?.name) {
      case 'ident': case 'globalCall': return yield* this.#named(found);
      case 'createList': return yield* this.#list(found);
      case 'createStruct': return yield* this.#map(found);
      case 'createMessage': return yield* this.#message(found);
      case 'int': case 'uint': case 'double': return this.#literal(found, (token) => readNumber(token, found.token('sign') !== undefined));
      case 'string': case 'bytes': return this.#literal(found, readText);
      case 'boolTrue': case 'boolFalse': case 'null':
        return { type: 'literal', id: this.idAt(found.start), value: found.name === 'null' ? null : found.name === 'boolTrue' };
      default:
        if (!this.#isBroken && this.#issues.length === 0) this.#report({ offset: -1 }, `unknown parse element encountered: <<${found?.rule ?? 'nil'}>>`);
        return this.#nothing(undefined);
    }
  }

  /** Reads what is one level deeper. */
  *#nested(steps: Steps<Expr>): Steps<Expr> {
    if (++this.#depth > MAX_DEPTH) {
      this.#report({ offset: -1 }, 'max recursion depth exceeded');
      throw new Stop();
    }
    const expr = yield* steps;
    this.#depth--;
    return expr;
  }

  *#ternary(node: Node): Steps<Expr> {
    const condition = yield* this.#visit(node.node('e'));
    const id = this.idAt(node.token('op'));
    const yes = yield* this.#visit(node.node('e1'));
    return this.#call({ id, name: '_?_:_', args: [condition, yes, yield* this.#visit(node.node('e2'))] });
  }

  *#logical(node: Node, name: string, sign: string): Steps<Expr> {
    let expr = yield* this.#visit(node.node('e'));
    const rest = node.nodes('e1');
    for (const [index, operator] of node.tokens('ops').entries()) {
      if (index >= rest.length) return this.#report(node.start, `unexpected character, wanted '${sign}'`);
      const next = yield* this.#visit(rest[index]);
      expr = { type: 'call', id: this.idAt(operator), name, target: undefined, args: [expr, next] };
    }
    return expr;
  }

  *#binary(node: Node): Steps<Expr> {
    const left = yield* this.#visit(node.node('left'));
    const operator = node.token('op')!;
    const id = this.idAt(operator);
    return this.#call({ id, name: functionOf(operator.text), args: [left, yield* this.#visit(node.node('right'))] });
  }

  *#signed(node: Node, name: string): Steps<Expr> {
    const signs = node.tokens('ops');
    if (signs.length % 2 === 0) return yield* this.#visit(node.node('member'));
    const id = this.idAt(signs[0]);
    return this.#call({ id, name, args: [yield* this.#visit(node.node('member'))] });
  }

  *#select(node: Node): Steps<Expr> {
    const operand = yield* this.#visit(node.node('left'));
    const [named, operator] = [node.node('id'), node.token('op')];
    if (named === undefined || operator === undefined) return this.#nothing(node.start);
    const field = this.#fieldName(named, named.start);
    if (node.token('opt') === undefined) return { type: 'select', id: this.idAt(operator), operand, field, testOnly: false };
    if (this.#options.optionalSyntax !== true) return this.#report(operator, "unsupported syntax '.?'");
    const name: Expr = { type: 'literal', id: this.idAt(named.start), value: field };
    return { type: 'call', id: this.idAt(operator), name: '_?._', target: undefined, args: [operand, name] };
  }

  #fieldName(named: Node | undefined, place: Token): string {
    const token = named?.token('id');
    if (named?.name === 'simple' && token !== undefined) return token.text;
    const isEscaped = named?.name === 'escaped' && token !== undefined;
    if (isEscaped && this.#options.escapedNames === true) return token.text.slice(1, -1);
    this.#report(place, isEscaped ? "unsupported syntax: '`'" : 'unsupported ident kind');
    return '';
  }

  *#memberCall(node: Node): Steps<Expr> {
    const target = yield* this.#visit(node.node('left'));
    const named = node.token('id');
    if (named === undefined) return this.#nothing(node.start);
    const id = this.idAt(node.token('open'));
    return this.#call({ id, name: named.text, target, args: yield* this.#arguments(node) });
  }

  *#index(node: Node): Steps<Expr> {
    const target = yield* this.#visit(node.node('left'));
    const operator = node.token('op');
    if (operator === undefined) return this.#nothing(node.start);
    const id = this.idAt(operator);
    const index = yield* this.#visit(node.node('index'));
    const isOptional = node.token('opt') !== undefined;
    if (isOptional && this.#options.optionalSyntax !== true) return this.#report(operator, "unsupported syntax '[?'");
    return this.#call({ id, name: isOptional ? '_[?_]' : '_[_]', args: [target, index] });
  }

  *#arguments(node: Node): Steps<Expr[]> {
    const args: Expr[] = [];
    for (const each of node.node('args')?.nodes('e') ?? []) args.push(yield* this.#visit(each));
    return args;
  }

  *#named(node: Node): Steps<Expr> {
    const named = node.token('id');
    if (named === undefined) return this.#nothing(node.start);
    if (reserved.has(named.text)) return this.#report(node.start, `reserved identifier: ${named.text}`);
    const name = `${node.token('leadingDot') === undefined ? '' : '.'}${named.text}`;
    if (node.name === 'ident') return { type: 'ident', id: this.idAt(named), name };
    const id = this.idAt(node.token('op'));
    return this.#call({ id, name, args: yield* this.#arguments(node) });
  }

  *#list(node: Node): Steps<Expr> {
    const id = this.idAt(node.token('op'));
    const elements: Expr[] = [];
    const optional: number[] = [];
    for (const each of node.node('elems')?.nodes('elems') ?? []) {
      elements.push(yield* this.#visit(each.node('e')));
      const mark = each.token('opt');
      if (mark === undefined) continue;
      if (this.#options.optionalSyntax === true) optional.push(elements.length - 1);
      else this.#report(mark, "unsupported syntax '?'");
    }
    return { type: 'list', id, elements, optional };
  }

  *#map(node: Node): Steps<Expr> {
    const id = this.idAt(node.token('op'));
    const entries = node.node('entries');
    const [keys, values] = [entries?.nodes('keys') ?? [], entries?.nodes('values') ?? []];
    for (const index of (entries?.tokens('cols') ?? []).keys()) {
      const key = keys[index];
      if (key === undefined || index >= values.length) break;
      if (key.token('opt') !== undefined && this.#options.optionalSyntax !== true) {
        this.#report(key.start, "unsupported syntax '?'");
        continue;
      }
      yield* this.#visit(key.node('e'));
      yield* this.#visit(values[index]);
    }
    return { type: 'map', id, entries: [] };
  }

  *#message(node: Node): Steps<Expr> {
    const id = this.idAt(node.token('op'));
    const entries = node.node('entries');
    const [colons, values] = [entries?.tokens('cols') ?? [], entries?.nodes('values') ?? []];
    for (const [index, field] of (entries?.nodes('fields') ?? []).entries()) {
      if (index >= colons.length || index >= values.length) break;
      if (field.token('opt') !== undefined && this.#options.optionalSyntax !== true) {
        this.#report(field.start, "unsupported syntax '?'");
        continue;
      }
      const before = this.#issues.length;
      this.#fieldName(field.node('id'), entries!.start);
      if (this.#issues.length === before) yield* this.#visit(values[index]);
    }
    return { type: 'struct', id, name: node.tokens('ids').map(({ text }) => text).join('.'), fields: [] };
  }

  #literal(node: Node, read: (token: Token) => Literal): Expr {
    const token = node.token('tok');
    if (token === undefined) return this.#nothing(node.start);
    try {
      return { type: 'literal', id: this.idAt(node.start), value: read(token) };
    } catch (error) {
      if (!(error instanceof LiteralError)) throw error;
      return this.#report(node.start, error.message);
    }
  }

  #call({ id, name, target, args }: { readonly id: number; readonly name: string; readonly target?: Expr; readonly args: readonly Expr[] }): Expr {
    const isMember = target !== undefined;
    const macro = this.#options.macros.get(macroKey(name, args.length, isMember)) ?? this.#options.macros.get(macroKey(name, -1, isMember));
    try {
      const expanded = macro?.(this, { id, name, target, args });
      if (expanded !== undefined) return expanded;
    } catch (error) {
      if (!(error instanceof MacroError)) throw error;
      return this.#report({ offset: this.#offsets.get(error.id) ?? -1 }, error.message);
    }
    return { type: 'call', id, name, target, args };
  }
}

/** The first node below that is more than a way to another. */
function unnest(node: Node | undefined): Node | undefined {
  let found = node;
  while (found !== undefined) {
    const below = belowOf(found);
    if (below === 'itself') return found;
    found = below;
  }
  return found;
}

function belowOf(node: Node): Node | undefined | 'itself' {
  switch (node.name === '' ? node.rule : node.name) {
    case 'expr': return node.token('op') === undefined ? node.node('e') : 'itself';
    case 'or': case 'and': return node.token('ops') === undefined ? node.node('e') : 'itself';
    case 'relation': case 'calc':
      if (node.token('op') !== undefined) return 'itself';
      return node.node(node.rule === 'relation' ? 'calc' : 'unary');
    case 'memberExpr': return node.node('member');
    case 'member': return node.node('primary');
    case 'nested': return node.node('e');
    case 'constant': return node.node('literal');
    default: return 'itself';
  }
}
