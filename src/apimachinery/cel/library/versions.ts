// Quantities and semantic versions.
import { quoteGo } from '../../quote.ts';
import { type FunctionDeclaration, type Library, declare, method, overload } from '../check/environment.ts';
import { type Quantity, QuantityError, addQuantities, approximateQuantity, compareQuantities, negateQuantity, parseQuantity } from '../../quantity.ts';
import { digitsOf } from '../values/numbers.ts';
import { type CelType, boolType, doubleType, intType, stringType, structType } from '../values/types.ts';
import { CelDouble, CelError, CelOpaque, type Value, MAX_INT64, MAX_UINT64, MIN_INT64, narrowInt } from '../values/values.ts';

/** The type of quantities. */
export const quantityType = structType('kubernetes.Quantity');
const semverType = structType('kubernetes.Semver');
type Int = number | bigint;

class CelQuantity extends CelOpaque {
  readonly type = quantityType;
  readonly value: Quantity;

  constructor(value: Quantity) {
    super();
    this.value = value;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelQuantity && compareQuantities(this.value, other.value) === 0;
  }
}

function toQuantity(text: string): CelQuantity | CelError {
  try {
    return new CelQuantity(parseQuantity(text));
  } catch (error) {
    if (error instanceof QuantityError) return new CelError(error.message);
    throw error;
  }
}

/** The whole number that a quantity is, if 64 bits hold it. */
function wholeOf({ value }: CelQuantity): bigint | undefined {
  const { mantissa, exponent } = value;
  if (exponent > 20) return mantissa === 0n ? 0n : undefined;
  const scale = 10n ** BigInt(Math.abs(exponent));
  if (exponent < 0 && mantissa % scale !== 0n) return undefined;
  const whole = exponent < 0 ? mantissa / scale : mantissa * scale;
  return whole <= MAX_INT64 && whole >= MIN_INT64 ? whole : undefined;
}

function asInteger(quantity: CelQuantity): Value {
  const whole = wholeOf(quantity);
  return whole === undefined ? new CelError('cannot convert value to integer') : narrowInt(whole);
}

const ofInt = (value: Int): Quantity => ({ mantissa: BigInt(value), exponent: 0, format: 'DecimalSI' });
const plus = (a: CelQuantity, b: Quantity): CelQuantity => new CelQuantity(addQuantities(a.value, b));
const signOf = ({ value }: CelQuantity): number => (value.mantissa > 0n ? 1 : value.mantissa < 0n ? -1 : 0);
const approximate = ({ value }: CelQuantity): CelDouble => new CelDouble(approximateQuantity(value));

interface Parts {
  readonly numbers: readonly [bigint, bigint, bigint];
  readonly before: readonly string[];
  readonly build: string;
}

class CelSemver extends CelOpaque {
  readonly type = semverType;
  readonly parts: Parts;

  constructor(parts: Parts) {
    super();
    this.parts = parts;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelSemver && compareVersions(this, other) === 0;
  }
}

const MAX_VERSION_LENGTH = 4096;
const plainNumber = /^(?:0|[1-9][0-9]*)$/;
const digits = /^[0-9]+$/;
const identifier = /^[0-9A-Za-z-]+$/;

/** A text that is no version; the message is the reference's. */
class VersionError extends Error {}

/** Reads MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD], splitting the patch at the first `+`, then at the first `-`. */
function parseVersion(text: string): CelSemver | CelError {
  try {
    return new CelSemver(splitVersion(text));
  } catch (error) {
    if (error instanceof VersionError) return new CelError(error.message);
    throw error;
  }
}

function splitVersion(text: string): Parts {
  if (text === '') throw new VersionError('Version string empty');
  if (text.length > MAX_VERSION_LENGTH) throw new VersionError(`Version string longer than ${MAX_VERSION_LENGTH}`);
  const [first, second, ...more] = text.split('.');
  if (more.length === 0) throw new VersionError('No Major.Minor.Patch elements found');
  const [major, minor] = [readNumber(first!, 'Major'), readNumber(second!, 'Minor')];
  const [whole, build] = cut(more.join('.'), '+');
  const [patch, before] = cut(whole, '-');
  const parts: Parts = { numbers: [major, minor, readNumber(patch, 'Patch')], before: before?.split('.') ?? [], build: build ?? '' };
  parts.before.forEach(checkPrerelease);
  build?.split('.').forEach(checkBuild);
  return parts;
}

function cut(text: string, sign: string): [string, string?] {
  const at = text.indexOf(sign);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function readNumber(text: string, name: string): bigint {
  if (text === '') throw new VersionError('strconv.ParseUint: parsing "": invalid syntax');
  if (!digits.test(text)) throw new VersionError(`Invalid character(s) found in ${name.toLowerCase()} number ${quoteGo(text)}`);
  if (!plainNumber.test(text)) throw new VersionError(`${name} number must not contain leading zeroes ${quoteGo(text)}`);
  return inRange(text);
}

function inRange(text: string): bigint {
  const value = digitsOf(text);
  if (value === undefined || value > MAX_UINT64) throw new VersionError(`strconv.ParseUint: parsing ${quoteGo(text)}: value out of range`);
  return value;
}

function checkPrerelease(part: string): void {
  if (part === '') throw new VersionError('Prerelease is empty');
  if (!identifier.test(part)) throw new VersionError(`Invalid character(s) found in prerelease ${quoteGo(part)}`);
  if (!digits.test(part)) return;
  if (!plainNumber.test(part)) throw new VersionError(`Numeric PreRelease version must not contain leading zeroes ${quoteGo(part)}`);
  inRange(part);
}

function checkBuild(part: string): void {
  if (part === '') throw new VersionError('Build meta data is empty');
  if (!identifier.test(part)) throw new VersionError(`Invalid character(s) found in build meta data ${quoteGo(part)}`);
}

/** Without leading zeros, but with one where no digit is left to begin with. */
function normalizePart(part: string): string {
  if (part.length < 2) return part;
  const trimmed = part.replace(/^0+/, '');
  return /^[0-9]/.test(trimmed) ? trimmed : `0${trimmed}`;
}

/** Takes a leading v, leading zeros and missing parts too. */
function parseLoosely(text: string): CelSemver | CelError {
  if (text.length > MAX_VERSION_LENGTH) return parseVersion(text);
  const parts = (text.startsWith('v') ? text.slice(1) : text).split('.');
  const three = parts.length > 3 ? [...parts.slice(0, 2), parts.slice(2).join('.')] : parts;
  const plain = three.map(normalizePart);
  if (plain.length < 3 && /[+-]/.test(plain.at(-1)!)) return new CelError('short version cannot contain PreRelease/Build meta data');
  while (plain.length < 3) plain.push('0');
  return parseVersion(plain.join('.'));
}

const readVersion = (text: string, loose = false): CelSemver | CelError => (loose ? parseLoosely(text) : parseVersion(text));
const isVersion = (text: string, loose = false): boolean => readVersion(text, loose) instanceof CelSemver;

function compareVersions(a: CelSemver, b: CelSemver): number {
  for (let i = 0; i < 3; i++) {
    const [x, y] = [a.parts.numbers[i]!, b.parts.numbers[i]!];
    if (x !== y) return x < y ? -1 : 1;
  }
  const [x, y] = [a.parts.before, b.parts.before];
  if (x.length === 0 || y.length === 0) return x.length === y.length ? 0 : x.length === 0 ? 1 : -1;
  for (let i = 0; i < Math.min(x.length, y.length); i++) {
    const order = compareIdentifiers(x[i]!, y[i]!);
    if (order !== 0) return order;
  }
  return Math.sign(x.length - y.length);
}

function compareIdentifiers(a: string, b: string): number {
  const [x, y] = [digits.test(a), digits.test(b)];
  if (x && y) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (x !== y) return x ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A number of a version as an int, which the reference wraps around. */
const partOf = (version: CelSemver, at: 0 | 1 | 2): Value => narrowInt(BigInt.asIntN(64, version.parts.numbers[at]));

/** compareTo, isLessThan and isGreaterThan of a type. */
function comparisons<T>(type: CelType, prefix: string, order: (a: T, b: T) => number): FunctionDeclaration[] {
  return [
    declare('compareTo', method(`${prefix}_compare_to`, [type, type], [intType, (a: T, b: T) => order(a, b)])),
    declare('isLessThan', method(`${prefix}_is_less_than`, [type, type], [boolType, (a: T, b: T) => order(a, b) < 0])),
    declare('isGreaterThan', method(`${prefix}_is_greater_than`, [type, type], [boolType, (a: T, b: T) => order(a, b) > 0])),
  ];
}

/** Kubernetes' quantities. */
export const quantityLibrary: Library = {
  types: new Map([[quantityType.name, quantityType]]),
  functions: [
    declare('quantity', overload('string_to_quantity', [stringType], [quantityType, toQuantity])),
    declare('isQuantity', overload('is_quantity_string', [stringType], [boolType, (text: string) => toQuantity(text) instanceof CelQuantity])),
    declare('sign', overload('quantity_sign', [quantityType], [intType, signOf])),
    declare('isInteger', method('quantity_is_integer', [quantityType], [boolType, (quantity: CelQuantity) => wholeOf(quantity) !== undefined])),
    declare('asInteger', method('quantity_get_int', [quantityType], [intType, asInteger])),
    declare('asApproximateFloat', method('quantity_get_float', [quantityType], [doubleType, approximate])),
    declare('add', method('quantity_add', [quantityType, quantityType], [quantityType, (a: CelQuantity, b: CelQuantity) => plus(a, b.value)]),
      method('quantity_add_int', [quantityType, intType], [quantityType, (a: CelQuantity, b: Int) => plus(a, ofInt(b))])),
    declare('sub', method('quantity_sub', [quantityType, quantityType], [quantityType, (a: CelQuantity, b: CelQuantity) => plus(a, negateQuantity(b.value))]),
      method('quantity_sub_int', [quantityType, intType], [quantityType, (a: CelQuantity, b: Int) => plus(a, negateQuantity(ofInt(b)))])),
    ...comparisons<CelQuantity>(quantityType, 'quantity', (a, b) => Math.sign(compareQuantities(a.value, b.value))),
  ],
};

/** Kubernetes' semantic versions. */
export const semverLibrary: Library = {
  types: new Map([[semverType.name, semverType]]),
  functions: [
    declare('semver', overload('string_to_semver', [stringType], [semverType, readVersion]), overload('string_bool_to_semver', [stringType, boolType],
      [semverType, readVersion])),
    declare('isSemver', overload('is_semver_string', [stringType], [boolType, isVersion]), overload('is_semver_string_bool', [stringType, boolType],
      [boolType, isVersion])),
    declare('major', method('semver_major', [semverType], [intType, (version: CelSemver) => partOf(version, 0)])),
    declare('minor', method('semver_minor', [semverType], [intType, (version: CelSemver) => partOf(version, 1)])),
    declare('patch', method('semver_patch', [semverType], [intType, (version: CelSemver) => partOf(version, 2)])),
    ...comparisons<CelSemver>(semverType, 'semver', compareVersions),
  ],
};
