// What calls say of values that none of their signatures takes. Operators look at the first value alone, and then leave it to that value.
import { CelError, type Value, noSuchOverload, typeOf } from '../values/values.ts';

const numbers = ['int', 'uint', 'double'];
const times = ['google.protobuf.Timestamp', 'google.protobuf.Duration'];
const ordered: ReadonlySet<string> = new Set([...numbers, ...times, 'bool', 'string', 'bytes']);
const factors: ReadonlySet<string> = new Set(numbers);

/** The first values that operators take, by their types. */
const operands: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['_+_', new Set([...numbers, ...times, 'string', 'bytes', 'list'])], ['_-_', new Set([...numbers, ...times])], ['_*_', factors], ['_/_', factors],
  ['_%_', new Set(['int', 'uint'])], ['-_', new Set(['int', 'double', 'google.protobuf.Duration'])], ['_<_', ordered], ['_<=_', ordered], ['_>_', ordered],
  ['_>=_', ordered], ['size', new Set(['string', 'bytes', 'list', 'map'])],
]);
/** Functions that say no more. */
const silent: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith', 'matches', '!_', '@in', '_==_', '_!=_']);

/** The error of a call with values that it does not take. */
export function mismatchOf(name: string, args: readonly Value[]): CelError {
  if (silent.has(name)) return noSuchOverload;
  const types = args.map((arg) => typeOf(arg).name);
  const taken = operands.get(name);
  if (taken !== undefined) return taken.has(types[0]!) ? noSuchOverload : new CelError(`no such overload: ${name}`);
  return new CelError(`no such overload: ${name}(${types.join(', ')})`);
}
