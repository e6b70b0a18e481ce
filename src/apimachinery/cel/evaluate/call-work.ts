// The work of calls that their cost does not show, from their arguments: characters and elements that are read or built at a cost of one.
// Functions that can only know on the way count for themselves (`metered`).
import { BUILD_WORK, COPY_WORK, TEXT_WORK } from '../values/meter.ts';
import { CelList, type Value } from '../values/values.ts';

/** Work of a call with these arguments, the target first. */
export type CallWork = (args: readonly Value[]) => number;

/** A native search for surrogates, which is what the size of a text takes. */
const SCAN_WORK = 0.005;

const lengthOf = (value: Value | undefined): number => (typeof value === 'string' || value instanceof Uint8Array ? value.length : 0);

const addition: CallWork = ([left, right]) => {
  if (left instanceof CelList && right instanceof CelList) return left.size + right.size;
  return (lengthOf(left) + lengthOf(right)) * BUILD_WORK;
};

function sumOfTexts(list: Value | undefined, between: number): number {
  if (!(list instanceof CelList)) return 0;
  let length = 0;
  for (let i = 0; i < list.size; i++) length += lengthOf(list.get(i)) + between;
  return length * BUILD_WORK + list.size * COPY_WORK;
}

const replacement: CallWork = ([text, part, by]) => {
  if (typeof text !== 'string' || typeof part !== 'string') return 0;
  let count = part === '' ? text.length + 1 : 0;
  if (part !== '') for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return (text.length + count * lengthOf(by)) * BUILD_WORK;
};

const reading = (factor: number): CallWork => (args) => {
  let length = 0;
  for (const arg of args) length += lengthOf(arg);
  return length * factor;
};
const copying: CallWork = ([list]) => (list instanceof CelList ? list.size * COPY_WORK : 0);

const readers = ['int', 'uint', 'double', 'bool', 'timestamp', 'string', 'bytes', 'charAt', 'indexOf', 'lastIndexOf', 'strings.quote',
  'format.named', 'validate', 'url', 'isURL', 'isQuantity', 'isSemver'];
const copiers = ['reverse', 'optional.unwrap', 'unwrapOpt', 'slice'];

const works = new Map<string, CallWork>([
  ['_+_', addition], ['replace', replacement], ['join', ([list, separator]) => sumOfTexts(list, lengthOf(separator))],
  ['lists.range', ([count]) => Math.max(0, Number(count)) * COPY_WORK], ['size', reading(SCAN_WORK)],
  // Each number of a duration is computed with for itself, each clause of a template is filled.
  ['duration', reading(BUILD_WORK)], ['format', ([template]) => lengthOf(template) * BUILD_WORK],
  ...readers.map((name) => [name, reading(TEXT_WORK)] as const), ...copiers.map((name) => [name, copying] as const),
]);

/** The work of calls of a function; undefined where it is no more than their cost. */
export const callWorkOf = (name: string): CallWork | undefined => works.get(name);
