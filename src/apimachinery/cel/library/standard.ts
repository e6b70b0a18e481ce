// The functions of the language itself: operators, conversions, strings, sizes. && || ?: and @not_strictly_false are declared here for the
// checker only; the evaluator implements them, because they do not need all of their arguments.
import { compareParts, compareValues, containsValue } from '../values/compare.ts';
import { type FunctionDeclaration, type Implementation, type Library, type Overload, declare, method, metered, overload } from '../check/environment.ts';
import { concatBytes } from '../parse/literals.ts';
import { addInts, divideInts, divideUints, makeInt, makeUint, multiplyInts, remainderInts, remainderUints, subtractInts, toNumber } from '../values/numbers.ts';
import { matchPattern } from '../values/regex.ts';
import { addDuration, makeDuration, subtractTimes } from '../values/time.ts';
import { runeCount } from '../values/runes.ts';
import {
  type CelType, boolType, bytesType, doubleType, durationType, dynType, intType, listOf, mapOf, paramType, stringType, timestampType, typeOfType, uintType,
} from '../values/types.ts';
import {
  CelDouble, type CelDuration, CelError, type CelList, type CelMap, type CelTimestamp, CelUint, type Value, noSuchOverload, sizeOf, typeOf,
} from '../values/values.ts';
import { conversionFunctions } from './conversions.ts';
import { timeFunctions } from './times.ts';

const a = paramType('A');
const b = paramType('B');
const listOfA = listOf(a);
const mapOfAB = mapOf(a, b);
type Int = number | bigint;
type Params = readonly CelType[];

const negate = (isSame: boolean | CelError): boolean | CelError => (typeof isSame === 'boolean' ? !isSame : isSame);

const unused: Implementation = () => noSuchOverload;

const logic: readonly FunctionDeclaration[] = [
  declare('_&&_', overload('logical_and', [boolType, boolType], [boolType, unused])),
  declare('_||_', overload('logical_or', [boolType, boolType], [boolType, unused])),
  declare('_?_:_', overload('conditional', [boolType, a, a], [a, unused])),
  declare('@not_strictly_false', overload('not_strictly_false', [boolType], [boolType, unused])),
  declare('!_', overload('logical_not', [boolType], [boolType, (value: boolean) => !value])),
  declare('_==_', overload('equals', [a, a], [boolType, metered((meter, x: Value, y: Value) => compareParts(x, y, meter))])),
  declare('_!=_', overload('not_equals', [a, a], [boolType, metered((meter, x: Value, y: Value) => negate(compareParts(x, y, meter)))])),
];

const sameTypes: readonly (readonly [string, CelType])[] = [
  ['bool', boolType], ['int64', intType], ['uint64', uintType], ['double', doubleType], ['string', stringType], ['bytes', bytesType],
  ['timestamp', timestampType], ['duration', durationType],
];
const mixedTypes: readonly (readonly [string, CelType, CelType])[] = [
  ['int64_double', intType, doubleType], ['int64_uint64', intType, uintType], ['uint64_double', uintType, doubleType],
  ['uint64_int64', uintType, intType], ['double_int64', doubleType, intType], ['double_uint64', doubleType, uintType],
];

function ordering(name: string, id: string, holds: (order: number) => boolean): FunctionDeclaration {
  const call = (x: Value, y: Value): Value => {
    const order = compareValues(x, y);
    return order === undefined ? noSuchOverload : holds(order);
  };
  return declare(name,
    ...sameTypes.map(([suffix, type]) => overload(`${id}_${suffix}`, [type, type], [boolType, call])),
    ...mixedTypes.map(([suffix, left, right]) => overload(`${id}_${suffix}`, [left, right], [boolType, call])));
}

const doubles = (operate: (x: number, y: number) => number): Implementation => (x: CelDouble, y: CelDouble) => new CelDouble(operate(x.value, y.value));
const uints = (operate: (x: bigint, y: bigint) => bigint): Implementation => (x: CelUint, y: CelUint) => makeUint(operate(x.value, y.value));
const pair = (type: CelType): Params => [type, type];

const arithmetic: readonly FunctionDeclaration[] = [
  declare('_+_',
    overload('add_int64', pair(intType), [intType, addInts]),
    overload('add_uint64', pair(uintType), [uintType, uints((x, y) => x + y)]),
    overload('add_double', pair(doubleType), [doubleType, doubles((x, y) => x + y)]),
    overload('add_string', pair(stringType), [stringType, (x: string, y: string) => x + y]),
    overload('add_bytes', pair(bytesType), [bytesType, (x: Uint8Array, y: Uint8Array) => concatBytes([x, y])]),
    overload('add_list', pair(listOfA), [listOfA, (x: CelList, y: CelList) => x.concat(y)]),
    overload('add_timestamp_duration', [timestampType, durationType], [timestampType, (x: CelTimestamp, y: CelDuration) => addDuration(x, y.nanos)]),
    overload('add_duration_timestamp', [durationType, timestampType], [timestampType, (x: CelDuration, y: CelTimestamp) => addDuration(y, x.nanos)]),
    overload('add_duration_duration', pair(durationType), [durationType, (x: CelDuration, y: CelDuration) => makeDuration(x.nanos + y.nanos)])),
  declare('_-_',
    overload('subtract_int64', pair(intType), [intType, subtractInts]),
    overload('subtract_uint64', pair(uintType), [uintType, uints((x, y) => x - y)]),
    overload('subtract_double', pair(doubleType), [doubleType, doubles((x, y) => x - y)]),
    overload('subtract_timestamp_timestamp', pair(timestampType), [durationType, subtractTimes]),
    overload('subtract_timestamp_duration', [timestampType, durationType], [timestampType, (x: CelTimestamp, y: CelDuration) => addDuration(x, -y.nanos)]),
    overload('subtract_duration_duration', pair(durationType), [durationType, (x: CelDuration, y: CelDuration) => makeDuration(x.nanos - y.nanos)])),
  declare('_*_',
    overload('multiply_int64', pair(intType), [intType, multiplyInts]),
    overload('multiply_uint64', pair(uintType), [uintType, uints((x, y) => x * y)]),
    overload('multiply_double', pair(doubleType), [doubleType, doubles((x, y) => x * y)])),
  declare('_/_',
    overload('divide_int64', pair(intType), [intType, divideInts]),
    overload('divide_uint64', pair(uintType), [uintType, divideUints]),
    overload('divide_double', pair(doubleType), [doubleType, doubles((x, y) => x / y)])),
  declare('_%_',
    overload('modulo_int64', pair(intType), [intType, remainderInts]),
    overload('modulo_uint64', pair(uintType), [uintType, remainderUints])),
  declare('-_',
    overload('negate_int64', [intType], [intType, (x: Int) => (typeof x === 'number' ? 0 - x : makeInt(-x))]),
    overload('negate_double', [doubleType], [doubleType, (x: CelDouble) => new CelDouble(-x.value)])),
];

function elementAt(list: CelList, index: Value): Value {
  if (typeof index !== 'number' && typeof index !== 'bigint' && !(index instanceof CelDouble) && !(index instanceof CelUint)) return noSuchOverload;
  const at = index instanceof CelDouble && !Number.isInteger(index.value) ? NaN : toNumber(index as Int);
  if (Number.isNaN(at)) return new CelError(`unsupported index value: ${toNumber(index as Int)}`);
  return at >= 0 && at < list.size ? list.get(at) : new CelError(`index out of bounds: ${at}`);
}

/** The entry of a map, or the error that says it is absent. */
function entryOf(map: CelMap, key: Value): Value {
  const found = map.find(key);
  if (found !== undefined) return found;
  const shown = typeof key === 'string' || typeof key === 'boolean' || typeof key === 'number' || typeof key === 'bigint' ? String(key)
    : key !== null && typeof key === 'object' && 'value' in key ? String(key.value) : undefined;
  return shown === undefined ? new CelError(`unsupported key type: ${typeOf(key).name}`) : new CelError(`no such key: ${shown}`);
}

const containers: readonly FunctionDeclaration[] = [
  declare('_[_]', overload('index_list', [listOfA, intType], [a, elementAt]), overload('index_map', [mapOfAB, a], [b, entryOf])),
  declare('@in',
    overload('in_list', [a, listOfA], [boolType, metered((meter, value: Value, list: CelList) => containsValue(list, value, meter))]),
    overload('in_map', [a, mapOfAB], [boolType, (value: Value, map: CelMap) => map.find(value) !== undefined])),
  declare('size', ...sizes('string', stringType, (text: string) => runeCount(text)), ...sizes('bytes', bytesType, (bytes: Uint8Array) => bytes.length),
    ...sizes('list', listOfA, (list: CelList) => sizeOf(list)), ...sizes('map', mapOfAB, (map: CelMap) => sizeOf(map))),
];

function sizes(name: string, type: CelType, call: Implementation): Overload[] {
  return [overload(`size_${name}`, [type], [intType, call]), method(`${name}_size`, [type], [intType, call])];
}

const strings: readonly FunctionDeclaration[] = [
  declare('contains', method('contains_string', pair(stringType), [boolType, (text: string, part: string) => text.includes(part)])),
  declare('startsWith', method('starts_with_string', pair(stringType), [boolType, (text: string, part: string) => text.startsWith(part)])),
  declare('endsWith', method('ends_with_string', pair(stringType), [boolType, (text: string, part: string) => text.endsWith(part)])),
  declare('matches', overload('matches', pair(stringType), [boolType, metered(matchPattern)]),
    method('matches_string', pair(stringType), [boolType, metered(matchPattern)])),
];

/** The functions of the language. */
export const standardLibrary: Library = {
  functions: [
    ...logic,
    ordering('_<_', 'less', (order) => order < 0), ordering('_<=_', 'less_equals', (order) => order <= 0),
    ordering('_>_', 'greater', (order) => order > 0), ordering('_>=_', 'greater_equals', (order) => order >= 0),
    ...arithmetic, ...containers, ...strings,
    declare('type', overload('type', [a], [typeOfType(a), (value: Value) => typeOf(value)])),
    declare('dyn', overload('to_dyn', [a], [dynType, (value: Value) => value])),
    ...conversionFunctions, ...timeFunctions,
  ],
};
