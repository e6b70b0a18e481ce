// Shard selectors: `shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')`, joined by ||, choose the objects whose hash of one
// field (FNV-1a, 64 bits) is in a range. They are written in the grammar of CEL and never evaluated.
import { CelSyntaxError } from './cel/parse/source.ts';
import { type CallExpr, type Expr, qualifiedName } from './cel/parse/ast.ts';
import { parseExpression } from './cel/parse/parse.ts';

type ShardField = 'object.metadata.uid' | 'object.metadata.namespace';

interface ShardRange {
  readonly field: ShardField;
  /** Inclusive; `0x` and sixteen digits. */
  readonly start: string;
  /** Exclusive; the same, or 2^64. */
  readonly end: string;
}

/** A parsed shard selector. */
export interface ShardSelector {
  /** The selector as the metadata of lists repeat it. */
  readonly text: string;
  matches(object: { readonly uid: string; readonly namespace: string }): boolean;
}

/** A text that is no shard selector; the message is the reference's. */
export class ShardSelectorError extends Error {
  override readonly name = 'ShardSelectorError';
}

const UPPER_BOUND = '0x10000000000000000';
const fail = (why: string): never => {
  throw new ShardSelectorError(why);
};

/** Parses a selector; throws ShardSelectorError. */
export function parseShardSelector(text: string): ShardSelector {
  if (text.trim() === '') fail('empty shard selector is not allowed; omit the parameter for unfiltered lists');
  const ranges: ShardRange[] = [];
  collectRanges(parse(text.trim()), ranges);
  const { field } = ranges[0] as ShardRange;
  const other = ranges.find((range) => range.field !== field);
  if (other !== undefined) fail(`all shard ranges must use the same field, got ${JSON.stringify(other.field)} and ${JSON.stringify(field)}`);
  return {
    text: ranges.map(({ start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(' || '),
    matches({ uid, namespace }) {
      const hash = `0x${hashShardKey(field === 'object.metadata.uid' ? uid : namespace)}`;
      return ranges.some(({ start, end }) => !isLess(hash, start) && isLess(hash, end));
    },
  };
}

function parse(text: string): Expr {
  try {
    return parseExpression(text, { macros: new Map() }).root;
  } catch (error) {
    if (error instanceof CelSyntaxError) return fail(`CEL parse error: ${error.issues[0]?.message ?? error.message}`);
    throw error;
  }
}

/** Numbers for the kinds of expressions, as messages print them. */
const kindNumbers: Readonly<Record<Expr['type'], number>> = { call: 1, fold: 2, ident: 3, list: 4, literal: 5, map: 6, select: 7, struct: 8 };

/** The depth of a tree is bounded by the parser. */
function collectRanges(expr: Expr, ranges: ShardRange[]): void {
  if (expr.type !== 'call') fail(`unexpected expression kind ${kindNumbers[expr.type]}; expected shardRange() call or || operator`);
  const call = expr as CallExpr;
  if (call.name === '_||_') for (const side of call.args) collectRanges(side, ranges);
  else if (call.name === 'shardRange') ranges.push(readRange(call));
  else fail(`unsupported function ${JSON.stringify(call.name)}; only shardRange() and || are allowed`);
}

function readRange({ args }: CallExpr): ShardRange {
  if (args.length !== 3) fail(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const [of, from, to] = args as [Expr, Expr, Expr];
  const field = qualifiedName(of) ??
    fail(`shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kindNumbers[of.type]}`);
  if (field !== 'object.metadata.uid' && field !== 'object.metadata.namespace') {
    return fail(`unsupported field path ${JSON.stringify(field)}; supported: object.metadata.uid, object.metadata.namespace`);
  }
  const [start, end] = [readBound(from, 'hexStart'), readBound(to, 'hexEnd')];
  if (!isLess(start, end)) fail(`shard range start ${start} must be less than end ${end}`);
  return { field, start, end };
}

function readBound(expr: Expr, name: string): string {
  if (expr.type !== 'literal') return fail(`${name} must be a string literal (e.g. '0xff'), got expression kind ${kindNumbers[expr.type]}`);
  const { value } = expr;
  if (typeof value !== 'string') return fail(`${name} must be a string literal, got ${typeof value === 'boolean' ? 'bool' : 'int64'}`);
  if (!value.startsWith('0x')) fail(`${name} must have '0x' prefix, got ${JSON.stringify(value)}`);
  const digits = value.slice(2);
  if (digits === '') fail(`${name}: hex value is required after '0x'`);
  if (digits.length > 17) fail(`${name}: hex value too long (${digits.length} chars, max 17): ${JSON.stringify(digits)}`);
  const odd = Array.from(digits).find((digit) => !/[0-9a-f]/.test(digit));
  if (odd !== undefined) fail(`${name}: invalid hex character ${JSON.stringify(odd)} in ${JSON.stringify(value)}`);
  if (digits.length === 17) {
    if (value !== UPPER_BOUND) fail(`${name}: 17-digit hex value must be '${UPPER_BOUND}' (2^64), got ${JSON.stringify(value)}`);
  } else if (digits.length !== 16) {
    const padded = `0x${digits.padStart(16, '0')}`;
    fail(`${name} must be a 0x-prefixed 16-digit hex value, got ${JSON.stringify(value)} (did you mean ${JSON.stringify(padded)}?)`);
  }
  return value;
}

const isLess = (a: string, b: string): boolean => (a.length === b.length ? a < b : a.length < b.length);

const utf8 = new TextEncoder();

/** FNV-1a with 64 bits as sixteen hexadecimal digits. The factor is 2^40 + 0x1b3, so two halves of 32 bits are multiplied without big numbers. */
export function hashShardKey(value: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of utf8.encode(value)) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    high = (Math.imul(high, 0x1b3) + Math.floor(product / 2 ** 32) + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
