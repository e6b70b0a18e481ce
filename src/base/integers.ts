// Decimal integers in texts of clients, as Go's strconv reads them. BigInt takes more than linear time for long ones: it sees no more digits than fit.

/** The integers of a type. */
export interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

/** Go's int64. */
export const int64Range: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** Go's uint64. */
export const uint64Range: IntegerRange = { min: 0n, max: 2n ** 64n - 1n };

const decimal = /^[+-]?[0-9]+$/;
const leadingZeros = /^([+-]?)0+(?=[0-9])/;
/** A sign, and as many digits as an unsigned integer of 64 bits has. */
const MAX_LENGTH = 21;

/** The integer, or the words of strconv for why there is none. */
export function readInteger(text: string, { min, max }: IntegerRange): bigint | 'invalid syntax' | 'value out of range' {
  if (!decimal.test(text)) return 'invalid syntax';
  const short = text.length > MAX_LENGTH ? text.replace(leadingZeros, '$1') : text;
  if (short.length > MAX_LENGTH) return 'value out of range';
  const value = BigInt(short.startsWith('+') ? short.slice(1) : short);
  return value < min || value > max ? 'value out of range' : value;
}
