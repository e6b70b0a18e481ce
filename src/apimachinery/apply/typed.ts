// Whether a value fits its schema, as structured-merge-diff asks before an apply: undeclared fields, wrong types, duplicate and keyless
// items. The texts hold Go values as Go prints them.
import { isJsonObject } from '../../base/index.ts';
import { formatGo, goTypeOf } from '../patch/go-format.ts';
import { sortDeep } from '../schema/decode/prune.ts';
import type { Schema } from '../schema/schema.ts';
import { formatPath, type PathElement } from './field-set.ts';
import { elementOfItem, fallbackOf, TypedValueError } from './value.ts';

/** The problems as one text, the way upstream joins them; undefined when the value fits. Stored objects may hold duplicates: `allowsDuplicates`. */
export function typedProblem(schema: Schema, value: unknown, allowsDuplicates = false): string | undefined {
  const problems = findProblems(schema, value, allowsDuplicates);
  return problems.length <= 1 ? problems[0] : ['errors:', ...problems.map((text) => `  ${text}`)].join('\n');
}

/** The reference looks at keys in the order of a map in Go, which mostly is that of sorted keys in what was read from YAML. */
function findProblems(schema: Schema, value: unknown, allowsDuplicates: boolean): readonly string[] {
  const checker = new Checker(allowsDuplicates);
  checker.check(schema, value);
  if (checker.problems.length === 0) return checker.problems;
  const sorted = new Checker(allowsDuplicates);
  sorted.check(schema, sortDeep(value));
  return sorted.problems;
}

/** More problems than these are not looked for. */
const MAX_PROBLEMS = 100;

type Kind = 'untyped' | 'map' | 'list' | 'string' | 'numeric' | 'boolean' | 'anything';

/** What the reference's schema says of a value: texts of any format but bytes are scalars of any type there. */
function kindOf(schema: Schema): Kind {
  const { type, format } = schema;
  if (format === 'raw' || format === 'json' || format === 'fields-v1' || format?.startsWith('schema-or-') === true || type === 'any') return 'anything';
  if (format === 'quantity' || format === 'int-or-string' || (type === 'string' && format !== undefined && format !== 'byte')) return 'untyped';
  if (type === 'array') return schema.items === undefined ? 'anything' : 'list';
  if (type === 'object' || type === 'map') return 'map';
  return type === 'integer' || type === 'number' ? 'numeric' : type;
}

/** Lists of which nothing is wrong but duplicates, and their schema: an update shares most of its lists with what it replaces. */
const fitting = new WeakMap<readonly unknown[], Schema>();

class Checker {
  readonly problems: string[] = [];
  readonly #path: PathElement[] = [];
  readonly #allowsDuplicates: boolean;

  constructor(allowsDuplicates: boolean) {
    this.#allowsDuplicates = allowsDuplicates;
  }

  check(schema: Schema, value: unknown): void {
    if (value === null || value === undefined || this.problems.length >= MAX_PROBLEMS) return;
    const kind = kindOf(schema);
    if (kind === 'map') this.#checkMap(schema, value);
    else if (kind === 'list') this.#checkList(schema, value);
    else if (kind !== 'anything') this.#checkScalar(kind, value);
  }

  #report(text: string): void {
    this.problems.push(this.#path.length === 0 ? text : `${formatPath(this.#path)}: ${text}`);
  }

  #checkScalar(kind: Kind, value: unknown): void {
    const isNumber = typeof value === 'number' || typeof value === 'bigint';
    if (kind === 'string' && typeof value !== 'string') this.#report(`expected string, got &value.valueUnstructured{Value:${formatGoSyntax(value)}}`);
    if (kind === 'numeric' && !isNumber) this.#report(`expected numeric (int or float), got ${goTypeOf(value)}`);
    if (kind === 'boolean' && typeof value !== 'boolean') this.#report(`expected boolean, got &{${formatGo(value)}}`);
    if (kind === 'untyped' && typeof value === 'object') this.#report(`expected any scalar, got &{${formatGo(value)}}`);
  }

  #checkMap(map: Schema, value: unknown): void {
    if (!isJsonObject(value)) return this.#report(`expected map, got &{${formatGo(value)}}`);
    const fallback = fallbackOf(map);
    for (const key of Object.keys(value)) {
      const schema = map.fields?.get(key)?.schema ?? fallback;
      this.#path.push(`f:${key}`);
      if (schema === undefined) this.#report('field not declared in schema');
      else this.check(schema, value[key]);
      this.#path.pop();
      if (schema === undefined) return;
    }
  }

  #checkList(list: Schema, value: unknown): void {
    if (!Array.isArray(value)) return this.#report(`expected list, got &{${formatGo(value)}}`);
    if (this.#allowsDuplicates && fitting.get(value) === list) return;
    const known = this.problems.length;
    this.#checkItems(list, value);
    if (this.problems.length === known) fitting.set(value, list);
  }

  #checkItems(list: Schema, value: readonly unknown[]): void {
    const isAssociative = list.listType === 'map' || list.listType === 'set';
    const seen = new Set<PathElement>();
    for (let i = 0; i < value.length; i++) {
      const element = isAssociative ? this.#elementOf(list, value[i], i) : `i:${i}`;
      if (element === undefined) return;
      if (!this.#allowsDuplicates && seen.has(element)) this.#report(`duplicate entries for key ${formatPath([element])}`);
      seen.add(element);
      this.#path.push(element);
      this.check(list.items as Schema, value[i]);
      this.#path.pop();
    }
  }

  /** undefined: the item has no key, which has been reported. */
  #elementOf(list: Schema, item: unknown, index: number): PathElement | undefined {
    try {
      return elementOfItem(list, item);
    } catch (error) {
      if (!(error instanceof TypedValueError)) throw error;
      this.#report(`element ${index}: ${error.message}`);
      return undefined;
    }
  }
}

/** Go's %#v of JSON data. */
function formatGoSyntax(value: unknown): string {
  if (value === null || value === undefined) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(formatGoSyntax).join(', ')}}`;
  if (!isJsonObject(value)) return typeof value === 'string' ? JSON.stringify(value) : formatGo(value);
  return `map[string]interface {}{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${formatGoSyntax(value[key])}`).join(', ')}}`;
}
