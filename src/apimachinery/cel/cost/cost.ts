// The estimate of what an expression may cost at worst, from the sizes that the schema allows. It decides which rules a definition may
// hold, so it follows cel-go's estimator and Kubernetes' size hints step by step; the costs of functions are in cost-functions.ts.
import { isResumable, remember } from '../../../base/index.ts';
import { type CallExpr, type Expr, type FoldExpr, type ListExpr, type MapExpr, type SelectExpr, isBinding } from '../parse/ast.ts';
import type { CheckedExpr } from '../check/check.ts';
import { type CallEstimate, estimateFunction } from './cost-functions.ts';
import type { CostNode, SizeHints } from './node.ts';
import { type Range, addRanges, exactly, multiplyRanges, unionRanges, unknownSize, zero } from './ranges.ts';
import { type CelType, dynType } from '../values/types.ts';
import { runeCount } from '../values/runes.ts';

/** Estimates the cost of a checked expression. */
export function estimateCost(checked: CheckedExpr, hints: SizeHints): Range {
  const coster = remember(() => new Coster(checked, hints));
  coster.begin();
  return coster.cost(checked.root);
}

interface EntrySize {
  readonly kind: 'list' | 'map';
  readonly key: Range;
  readonly value: Range;
}

interface Local {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entries: EntrySize | undefined;
}

const identCost = exactly(1);
const listCost = exactly(10);
const mapCost = exactly(30);
const structCost = exactly(40);
const scalars: ReadonlySet<string> = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);

/** True for types whose values have size one. */
const isScalar = (type: CelType): boolean => scalars.has(type.kind)
  || (type.name === 'optional_type' && type.params[0] !== undefined && isScalar(type.params[0]));

/** Walks a tree, keeping sizes and paths of the nodes it has seen. */
class Coster {
  readonly #checked: CheckedExpr;
  readonly #hints: SizeHints;
  readonly #paths = new Map<number, readonly string[]>();
  readonly #sizes = new Map<number, Range>();
  readonly #entries = new Map<number, EntrySize>();
  readonly #locals: { name: string; local: Local }[] = [];

  constructor(checked: CheckedExpr, hints: SizeHints) {
    this.#checked = checked;
    this.#hints = hints;
  }

  /** An estimate that was broken off begins again outside of all folds. */
  begin(): void {
    this.#locals.length = 0;
  }

  cost(expr: Expr): Range {
    return isResumable() ? remember(() => this.#cost(expr)) : this.#cost(expr);
  }

  #cost(expr: Expr): Range {
    switch (expr.type) {
      case 'ident': return this.#ident(expr, expr.name);
      case 'select': return this.#select(expr);
      case 'call': return this.#call(expr);
      case 'list': return this.#list(expr);
      case 'map': return this.#map(expr);
      case 'struct': return expr.fields.reduce((sum, field) => addRanges(sum, this.cost(field.value)), structCost);
      case 'fold': return this.#fold(expr);
      default: return zero;
    }
  }

  typeOf(expr: Expr): CelType {
    return this.#checked.types.get(expr.id) ?? dynType;
  }

  #local(name: string): Local | undefined {
    return this.#locals.findLast((entry) => entry.name === name)?.local;
  }

  #ident(expr: Expr, name: string): Range {
    this.#paths.set(expr.id, this.#local(name)?.path ?? [name]);
    return identCost;
  }

  pathOf(expr: Expr): readonly string[] {
    const local = expr.type === 'ident' ? this.#local(expr.name) : undefined;
    return local?.path ?? this.#paths.get(expr.id) ?? [];
  }

  #select(expr: SelectExpr): Range {
    const reference = this.#checked.references.get(expr.id);
    if (reference?.type === 'type') return this.#ident(expr, reference.value.name);
    if (reference?.type === 'variable') return this.#ident(expr, reference.name);
    const operand = this.cost(expr.operand);
    if (expr.testOnly) return operand;
    this.#paths.set(expr.id, [...this.pathOf(expr.operand), expr.field]);
    const { kind } = this.typeOf(expr.operand);
    return kind === 'map' || kind === 'struct' || kind === 'param' ? addRanges(operand, identCost) : operand;
  }

  node(expr: Expr): CostNode {
    const path = this.pathOf(expr);
    return { expr, type: this.typeOf(expr), path: path[0] === '@result' ? [] : path, size: this.sizeOf(expr) };
  }

  /** Bounds of the size of a node's value; undefined when nothing is known. */
  sizeOf(expr: Expr): Range | undefined {
    const known = this.#sizes.get(expr.id) ?? sizeOfLiteral(expr);
    if (known !== undefined) return known;
    const hinted = this.#hints(this.pathOf(expr));
    if (hinted !== undefined) return hinted;
    if (isScalar(this.typeOf(expr))) return exactly(1);
    return expr.type === 'ident' ? this.#local(expr.name)?.size : undefined;
  }

  setSize(expr: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(expr.id, size);
  }

  #entriesOf(expr: Expr): EntrySize | undefined {
    return this.#entries.get(expr.id) ?? (expr.type === 'ident' ? this.#local(expr.name)?.entries : undefined);
  }

  #setEntries(expr: Expr, entries: EntrySize | undefined): void {
    if (entries !== undefined) this.#entries.set(expr.id, entries);
  }

  #call(expr: CallExpr): Range {
    if (expr.name === 'dyn' && expr.args.length === 1) return this.#dyn(expr, expr.args[0]!);
    const costs = expr.args.map((arg) => this.cost(arg));
    const reference = this.#checked.references.get(expr.id);
    const logical = expr.name === '_&&_' || expr.name === '_||_';
    if (!logical && (reference?.type !== 'function' || reference.overloads.length === 0)) return zero;
    const global = logical || reference?.type !== 'function' || reference.global;
    const target = global || expr.target === undefined ? undefined : expr.target;
    const targetCost = target === undefined ? zero : this.cost(target);
    const ids = logical || reference?.type !== 'function'
      ? [expr.name === '_&&_' ? 'logical_and' : 'logical_or'] : reference.overloads.map((overload) => overload.id);
    const name = reference?.type === 'function' ? reference.declaration.name : expr.name;
    return addRanges(targetCost, this.#overloads(expr, { ids, name, costs, target }));
  }

  #dyn(expr: Expr, arg: Expr): Range {
    const cost = addRanges(exactly(1), this.cost(arg));
    this.setSize(expr, this.sizeOf(arg));
    this.#setEntries(expr, this.#entriesOf(arg));
    return cost;
  }

  /** The range that covers all overloads that may be called. */
  #overloads(expr: CallExpr, call: { ids: readonly string[]; name: string; costs: readonly Range[]; target: Expr | undefined }): Range {
    const args = expr.args.map((arg) => this.node(arg));
    const target = call.target === undefined ? undefined : this.node(call.target);
    let covered: Range | undefined;
    let size: Range | undefined;
    for (const id of call.ids) {
      const estimate = estimateFunction(this.#hints, { name: call.name, id, target, args, argCosts: call.costs });
      covered = covered === undefined ? estimate.cost : unionRanges(covered, estimate.cost);
      size = this.#resultSize(expr, { id, size, estimate });
    }
    this.setSize(expr, size);
    return covered ?? zero;
  }

  #resultSize(expr: CallExpr, state: { id: string; size: Range | undefined; estimate: CallEstimate }): Range | undefined {
    const { id, estimate } = state;
    let { size } = state;
    if (estimate.size !== undefined) size = size === undefined ? estimate.size : unionRanges(size, estimate.size);
    const [first, second, third] = expr.args;
    if (id === 'index_list' || id === 'index_map') {
      size = this.#entriesOf(first!)?.value;
      this.#paths.set(expr.id, [...this.pathOf(first!), id === 'index_list' ? '@items' : '@values']);
    } else if (id === 'conditional') this.#setEntries(expr, unionEntries(this.#entriesOf(second!), this.#entriesOf(third!)));
    else if (id.startsWith('add_')) this.#setEntries(expr, unionEntries(this.#entriesOf(first!), this.#entriesOf(second!)));
    return size ?? this.sizeOf(expr);
  }

  #list(expr: ListExpr): Range {
    let sum = listCost;
    let item: Range | undefined;
    for (const element of expr.elements) {
      sum = addRanges(sum, this.cost(element));
      item = unionOf(item, this.sizeOf(element) ?? unknownSize);
    }
    this.#setEntries(expr, { kind: 'list', key: exactly(1), value: item ?? zero });
    return sum;
  }

  #map(expr: MapExpr): Range {
    let sum = mapCost;
    let key: Range | undefined;
    let value: Range | undefined;
    for (const entry of expr.entries) {
      sum = addRanges(addRanges(sum, this.cost(entry.key)), this.cost(entry.value));
      key = unionOf(key, this.sizeOf(entry.key) ?? unknownSize);
      value = unionOf(value, this.sizeOf(entry.value) ?? unknownSize);
    }
    this.#setEntries(expr, { kind: 'map', key: key ?? zero, value: value ?? zero });
    return sum;
  }

  #fold(expr: FoldExpr): Range {
    let sum = addRanges(this.cost(expr.range), this.cost(expr.init));
    const depth = this.#locals.length;
    this.#locals.push({ name: expr.accumulator, local: { path: this.pathOf(expr.init), size: this.sizeOf(expr.init), entries: this.#entriesOf(expr.init) } });
    if (isBinding(expr)) return this.#binding(expr, { sum, depth });
    this.#declareVariables(expr);
    const loop = addRanges(this.cost(expr.condition), this.cost(expr.step));
    this.#locals.length = depth + 1;
    sum = addRanges(sum, this.cost(expr.result));
    this.#locals.length = depth;
    const count = this.sizeOf(expr.range) ?? unknownSize;
    this.#foldSize(expr, count);
    return addRanges(sum, multiplyRanges(count, loop));
  }

  #binding(expr: FoldExpr, state: { sum: Range; depth: number }): Range {
    const sum = addRanges(state.sum, this.cost(expr.result));
    this.setSize(expr, this.sizeOf(expr.result));
    this.#setEntries(expr, this.#entriesOf(expr.result));
    this.#locals.length = state.depth;
    return sum;
  }

  #foldSize(expr: FoldExpr, count: Range): void {
    if (expr.init.type === 'literal') return this.setSize(expr, this.sizeOf(expr.init));
    if (expr.init.type !== 'list' && expr.init.type !== 'map') return;
    this.setSize(expr, count);
    this.#setEntries(expr, this.#entriesOf(expr.step));
  }

  #declareVariables(expr: FoldExpr): void {
    const entries = this.#entriesOf(expr.range);
    const kind = entries?.kind ?? this.typeOf(expr.range).kind;
    const path = this.pathOf(expr.range);
    const keys: Local = { path: [...path, kind === 'list' ? '@indices' : '@keys'], size: entries?.key, entries: undefined };
    const values: Local = { path: [...path, kind === 'list' ? '@items' : '@values'], size: entries?.value, entries: undefined };
    const single = expr.variable2 === undefined && kind === 'list';
    this.#locals.push({ name: expr.variable, local: single ? values : keys });
    if (expr.variable2 !== undefined) this.#locals.push({ name: expr.variable2, local: values });
  }
}

const unionOf = (a: Range | undefined, b: Range): Range => (a === undefined ? b : unionRanges(a, b));

function unionEntries(a: EntrySize | undefined, b: EntrySize | undefined): EntrySize | undefined {
  return a === undefined || b === undefined ? undefined : { kind: a.kind, key: unionRanges(a.key, b.key), value: unionRanges(a.value, b.value) };
}

function sizeOfLiteral(expr: Expr): Range | undefined {
  if (expr.type === 'list') return exactly(expr.elements.length);
  if (expr.type === 'map') return exactly(expr.entries.length);
  if (expr.type !== 'literal') return undefined;
  if (typeof expr.value === 'string') return exactly(runeCount(expr.value));
  return exactly(expr.value instanceof Uint8Array ? expr.value.length : 1);
}
