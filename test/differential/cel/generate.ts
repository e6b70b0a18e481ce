// Makes expressions by a seed: of a wanted type from the table of signatures, now and then with a part of another type, and some with damaged text.
import { Dice } from '../../fuzz/mutate.ts';
import { LITERALS, SIGNATURES } from './signatures.ts';
import { FIELDS } from './subject.ts';

const ANY_TYPES = ['int', 'string', 'double', 'bool', 'timestamp', 'duration', 'bytes'];
/** Types that lists, maps and optionals of the table hold. */
const ELEMENT_TYPES = ['int', 'string'];
const ORDERED = ['int', 'string', 'double', 'timestamp', 'duration', 'bytes', 'uint', 'bool'];
const NUMBERS = ['int', 'double', 'uint'];
const ROOTS = [...Object.keys(SIGNATURES), 'bool', 'bool', 'bool', 'bool', 'string', 'string', 'int', 'int', 'list(string)'];
const MISTAKES = ['self.nothing', 'nothing', 'nofun(1)', 'self.name.nofun()', 'self.n.x', '[1, "a"]', '{1: 2, "a": 3}', 'self.names.all(1, true)', 'has(1)',
  'self{}', 'Thing{a: 1}', 'self.map(x, x)', 'int()', "duration('x')", "timestamp('x')", "'a'.matches('(')", 'self.n.all(x, true)', 'namespace', 'if',
  'self.names.map(x, y, z, x)', 'cel.bind(1, 2, 3)', 'optional.of()', 'self.names.transformMap(i, i, i)', 'self["name"]', 'lists.range("a")',
  '99999999999999999999',
  '1e999', '"\\q"', "b'\\u00e9'", 'self.names.sortBy(x, [x])', 'format.nope()', 'self.?name.foo()', '{1.5: 1}', '`a`', 'self.`a-b`', 'self.in', '[?1]',
  '{?"a": 1}'];
const MARKS = ['(', ')', '[', ']', '{', '}', '.', ',', ':', '?', '!', '-', '+', '*', '/', '%', '<', '==', '&&', '||', '&', '|', '=', '@', '#', '"', "'",
  '`', '\\', ' in ', ' ',
  '\n', 'x', '1', '1.', '0x', 'true', 'null', 'as', '$', 'é', '//', '😀', ';', '..', '?.'];

interface Scope {
  readonly dice: Dice;
  readonly variables: string;
}

const VARIABLE_TYPES: Readonly<Record<string, string>> = { i: 'int', s: 'string', k: 'string', b: 'bool' };

/** The expression of a seed and a number. */
export function makeExpression(seed: number, index: number): string {
  const dice = new Dice(seed * 1_000_003 + index * 7919);
  for (let warm = 0; warm < 4; warm++) dice.below(2);
  const expression = expand({ dice, variables: '' }, dice.pick(SIGNATURES[dice.pick(ROOTS)]!), 1 + dice.below(4));
  if (dice.below(100) >= 16) return expression;
  let damaged = expression;
  for (let count = 1 + dice.below(3); count > 0; count--) damaged = damage(dice, damaged);
  return damaged;
}

function damage(dice: Dice, text: string): string {
  const chars = Array.from(text);
  const at = dice.below(chars.length + 1);
  const length = dice.below(3) === 0 ? 1 + dice.below(6) : 0;
  const mark = dice.below(3) === 0 && length > 0 ? '' : dice.pick(MARKS);
  return [...chars.slice(0, at), mark, ...chars.slice(at + length)].join('');
}

function fill(scope: Scope, type: string, depth: number): string {
  const { dice } = scope;
  if (dice.below(100) < 2) return dice.pick(MISTAKES);
  const wanted = dice.below(150) === 0 ? dice.pick(ROOTS) : type;
  const local = Array.from(scope.variables).filter((name) => VARIABLE_TYPES[name] === wanted);
  if (local.length > 0 && dice.below(2) === 0) return dice.pick(local);
  const signatures = depth > 0 && dice.below(6) > 0 ? SIGNATURES[wanted] ?? [] : [];
  if (signatures.length > 0) return expand(scope, dice.pick(signatures), depth);
  const fields = FIELDS.get(wanted);
  if (fields !== undefined && dice.below(2) === 0) return dice.pick(fields);
  const literals = LITERALS[wanted];
  if (literals !== undefined) return expand(scope, dice.pick(literals), 0);
  return expand(scope, dice.pick(SIGNATURES[wanted] ?? ['null']), 0);
}

/** Operands of operators are put between parentheses now and then; without them the text means something else, which is as good. */
const isOperation = (text: string): boolean => /^[^()[\]{}'"]*\s(?:[-+*/%<>=!&|?]|in\b)/.test(text);

function expand(scope: Scope, signature: string, depth: number): string {
  const { dice } = scope;
  const element = dice.pick(/\((?:T|string|int)\)/.test(signature) ? ELEMENT_TYPES : ANY_TYPES);
  const [ordered, number, other] = [dice.pick(ORDERED), dice.pick(NUMBERS), dice.pick(NUMBERS)];
  return signature.replace(/<([A-Za-z][\w()!]*2?)(?::([a-z]+))?>/g, (_, name: string, variables: string | undefined) => {
    const type = name.replace(/^T$|\bT\b/, element).replace(/^O$/, ordered).replace(/^N$/, number).replace(/^N2$/, other);
    const inner = variables === undefined ? scope : { dice, variables: scope.variables + variables };
    const made = fill(inner, type, depth - 1);
    return isOperation(made) && !signature.startsWith('<') && dice.below(3) > 0 ? `(${made})` : isOperation(made) && dice.below(2) > 0 ? `(${made})` : made;
  });
}
