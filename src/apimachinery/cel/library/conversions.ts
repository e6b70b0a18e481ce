// Conversions between types: int('42'), string(1.5), timestamp('…').
import { type FunctionDeclaration, type Implementation, declare, overload } from '../check/environment.ts';
import { digitsOf, formatDouble, intOfDouble, makeInt, makeUint, readDouble, toNumber, uintOfDouble, unsignedOverflow } from '../values/numbers.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp, timestampOfSeconds } from '../values/time.ts';
import { type CelType, boolType, bytesType, doubleType, durationType, intType, stringType, timestampType, uintType } from '../values/types.ts';
import { CelDouble, type CelDuration, CelError, type CelTimestamp, type CelUint, type Value, integerOverflow } from '../values/values.ts';

type Int = number | bigint;
type Row = readonly [id: string, from: CelType, call: Implementation];

const same: Implementation = (value: Value) => value;
const failed = (from: string, to: string): CelError => new CelError(`type conversion error from '${from}' to '${to}'`);

function convert(name: string, result: CelType, rows: readonly Row[]): FunctionDeclaration {
  return declare(name, ...rows.map(([id, from, call]) => overload(id, [from], [result, call])));
}

function parseInteger(text: string): Value {
  const signed = text.startsWith('-') || text.startsWith('+');
  const digits = digitsOf(signed ? text.slice(1) : text);
  if (digits === undefined) return failed('string', 'int');
  const value = makeInt(text.startsWith('-') ? -digits : digits);
  return value === integerOverflow ? failed('string', 'int') : value;
}

function parseUnsigned(text: string): Value {
  const digits = digitsOf(text);
  if (digits === undefined) return failed('string', 'uint');
  const value = makeUint(digits);
  return value === unsignedOverflow ? failed('string', 'uint') : value;
}

function parseDouble(text: string): Value {
  if (/^nan$/i.test(text)) return new CelDouble(NaN);
  const endless = /^([+-]?)(?:inf|infinity)$/i.exec(text);
  if (endless !== null) return new CelDouble(endless[1] === '-' ? -Infinity : Infinity);
  const value = readDouble(text);
  return value !== undefined && Number.isFinite(value) ? new CelDouble(value) : failed('string', 'double');
}

const truths: ReadonlyMap<string, boolean> = new Map([
  ['1', true], ['t', true], ['T', true], ['true', true], ['TRUE', true], ['True', true],
  ['0', false], ['f', false], ['F', false], ['false', false], ['FALSE', false], ['False', false],
]);

function decodeUtf8(bytes: Uint8Array): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return new CelError('invalid UTF-8 in bytes, cannot convert to string');
  }
}

/** int, uint, double, string, bytes, bool, timestamp and duration as functions. */
export const conversionFunctions: readonly FunctionDeclaration[] = [
  convert('int', intType, [
    ['int64_to_int64', intType, same], ['double_to_int64', doubleType, (value: CelDouble) => intOfDouble(value.value)],
    ['duration_to_int64', durationType, (value: CelDuration) => makeInt(value.nanos)], ['string_to_int64', stringType, parseInteger],
    ['timestamp_to_int64', timestampType, (value: CelTimestamp) => value.seconds], ['uint64_to_int64', uintType, (value: CelUint) => makeInt(value.value)],
  ]),
  convert('uint', uintType, [
    ['uint64_to_uint64', uintType, same], ['double_to_uint64', doubleType, (value: CelDouble) => uintOfDouble(value.value)],
    ['int64_to_uint64', intType, (value: Int) => makeUint(BigInt(value))], ['string_to_uint64', stringType, parseUnsigned],
  ]),
  convert('double', doubleType, [
    ['double_to_double', doubleType, same], ['int64_to_double', intType, (value: Int) => new CelDouble(toNumber(value))],
    ['uint64_to_double', uintType, (value: CelUint) => new CelDouble(toNumber(value))], ['string_to_double', stringType, parseDouble],
  ]),
  convert('string', stringType, [
    ['string_to_string', stringType, same], ['bool_to_string', boolType, (value: boolean) => String(value)], ['bytes_to_string', bytesType, decodeUtf8],
    ['double_to_string', doubleType, (value: CelDouble) => formatDouble(value.value)], ['duration_to_string', durationType, formatDuration],
    ['int64_to_string', intType, (value: Int) => String(value)], ['timestamp_to_string', timestampType, formatTimestamp],
    ['uint64_to_string', uintType, (value: CelUint) => String(value.value)],
  ]),
  convert('bytes', bytesType, [['bytes_to_bytes', bytesType, same], ['string_to_bytes', stringType, (text: string) => new TextEncoder().encode(text)]]),
  convert('bool', boolType, [['bool_to_bool', boolType, same], ['string_to_bool', stringType, (text: string) => truths.get(text) ?? failed('string', 'bool')]]),
  convert('timestamp', timestampType, [
    ['timestamp_to_timestamp', timestampType, same], ['int64_to_timestamp', intType, timestampOfSeconds],
    ['string_to_timestamp', stringType, (text: string) => parseTimestamp(text) ?? failed('string', 'google.protobuf.Timestamp')],
  ]),
  convert('duration', durationType, [
    ['duration_to_duration', durationType, same], ['string_to_duration', stringType, (text: string) => parseDuration(text) ?? failed('string',
      'google.protobuf.Duration')],
    ['int64_to_duration', intType, (nanos: Int) => parseDuration(`${nanos}ns`) ?? integerOverflow],
  ]),
];
