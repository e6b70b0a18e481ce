// The cases of the CEL specification's conformance suite, as @bufbuild/cel-spec ships them, and the values that they speak of.
import {
  ArrayList, CelDouble, CelDuration, CelList, CelMap, CelTimestamp, CelUint, EntryMap, type MapKey, type Value, mapKeyOf, typeOf,
} from '../../src/apimachinery/cel/values/values.ts';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp } from '../../src/apimachinery/cel/values/time.ts';
import {
  CelType, anyType, boolType, bytesType, doubleType, durationType, dynType, intType, listOf, mapOf, namedTypes, nullType, opaqueType, stringType, structType,
  timestampType, typeOfType, uintType, wrapperOf,
} from '../../src/apimachinery/cel/values/types.ts';

type Json = Record<string, unknown>;

/** One case: an expression, what it is evaluated with, and what must come of it. */
export interface CelCase {
  readonly section: string;
  readonly name: string;
  readonly original: {
    readonly expr: string;
    readonly container?: string;
    readonly disableCheck?: boolean;
    readonly checkOnly?: boolean;
    readonly typeEnv?: readonly { readonly name: string; readonly ident?: { readonly type: Json } }[];
    readonly bindings?: Readonly<Record<string, { readonly value?: Json }>>;
    readonly value?: Json;
    readonly evalError?: unknown;
    readonly typedResult?: { readonly result?: Json; readonly deducedType?: Json };
  };
  readonly ast?: string;
  readonly type?: string;
  readonly error?: string;
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly (Omit<CelCase, 'section' | 'name'> & { original: { name?: string; expr: string } })[];
}

/** All cases of a suite, with the path of the suites that hold them as section. */
export function casesOf(suite: Suite, section = suite.name): CelCase[] {
  const own = (suite.tests ?? []).map((test): CelCase => ({ ...test, section, name: test.original.name ?? test.original.expr }));
  return [...own, ...(suite.suites ?? []).flatMap((inner) => casesOf(inner, `${section}/${inner.name}`))];
}

const primitives: Readonly<Record<string, CelType>> = {
  BOOL: boolType, INT64: intType, UINT64: uintType, DOUBLE: doubleType, STRING: stringType, BYTES: bytesType,
};
const wellKnown: Readonly<Record<string, CelType>> = { ANY: anyType, TIMESTAMP: timestampType, DURATION: durationType };
const jsonMessages: ReadonlyMap<unknown, CelType> = new Map([
  ['google.protobuf.Struct', mapOf(stringType, dynType)], ['google.protobuf.ListValue', listOf(dynType)], ['google.protobuf.Value', dynType],
]);

/** The type that a declaration names. */
export function typeFrom(json: Json): CelType {
  if ('primitive' in json) return primitives[json['primitive'] as string]!;
  if ('wrapper' in json) return wrapperOf(primitives[json['wrapper'] as string]!);
  if ('wellKnown' in json) return wellKnown[json['wellKnown'] as string]!;
  if ('null' in json) return nullType;
  if ('messageType' in json) {
    const name = json['messageType'] as string;
    return jsonMessages.get(name) ?? namedTypes.get(name) ?? structType(name);
  }
  if ('listType' in json) return listOf(typeFrom((json['listType'] as Json)['elemType'] as Json));
  if ('type' in json) return typeOfType(typeFrom(json['type'] as Json));
  if ('abstractType' in json) {
    const { name, parameterTypes } = json['abstractType'] as { name: string; parameterTypes?: Json[] };
    return opaqueType(name, ...(parameterTypes ?? []).map(typeFrom));
  }
  if (!('mapType' in json)) return dynType;
  const { keyType, valueType } = json['mapType'] as { keyType: Json; valueType: Json };
  return mapOf(typeFrom(keyType), typeFrom(valueType));
}

/** The value that a case gives; undefined for messages, which this engine does not have. */
export function valueFrom(json: Json): Value | undefined {
  const [kind, given] = Object.entries(json)[0] ?? [];
  switch (kind) {
    case 'boolValue': case 'stringValue': return given as Value;
    case 'nullValue': return null;
    case 'int64Value': return Number.isSafeInteger(Number(given)) ? Number(given) : BigInt(given as string);
    case 'uint64Value': return new CelUint(BigInt(given as string));
    case 'doubleValue': return new CelDouble(Number(given));
    case 'bytesValue': return Uint8Array.from(Buffer.from(given as string, 'base64'));
    case 'typeValue': return typeNamed(given as string);
    case 'listValue': return new ArrayList((((given as Json)['values'] as Json[]) ?? []).map((item) => valueFrom(item)!));
    case 'mapValue': return mapFromEntries(((given as Json)['entries'] as { key: Json; value: Json }[]) ?? []);
    case 'objectValue': return messageFrom(given as Json);
    default: return undefined;
  }
}

function typeNamed(name: string): CelType {
  return namedTypes.get(name) ?? new CelType('opaque', name);
}

function mapFromEntries(entries: readonly { key: Json; value: Json }[]): Value {
  const filed = new Map<MapKey, readonly [Value, Value]>();
  for (const { key, value } of entries) filed.set(mapKeyOf(valueFrom(key)!)!, [valueFrom(key)!, valueFrom(value)!]);
  return new EntryMap(filed);
}

function messageFrom(json: Json): Value | undefined {
  const name = String(json['@type']).replace('type.googleapis.com/', '');
  const inner = json['value'];
  if (name === 'google.protobuf.Timestamp') return parseTimestamp(inner as string);
  if (name === 'google.protobuf.Duration') return parseDuration(inner as string);
  if (/^google\.protobuf\.(Int64|Int32)Value$/.test(name)) return Number(inner ?? 0);
  if (name === 'google.protobuf.BoolValue' || name === 'google.protobuf.StringValue') return inner as Value;
  return undefined;
}

/** A value as a text that is the same for values that the suite holds to be the same: type and NaN included. */
export function showValue(value: Value): string {
  if (value instanceof CelDouble) return `double ${Number.isNaN(value.value) ? 'NaN' : Object.is(value.value, -0) ? '0' : value.value}`;
  if (value instanceof CelUint) return `uint ${value.value}`;
  if (value instanceof CelTimestamp) return `timestamp ${formatTimestamp(value)}`;
  if (value instanceof CelDuration) return `duration ${formatDuration(value)}`;
  if (value instanceof CelList) return `[${value.toArray().map(showValue).join(', ')}]`;
  if (value instanceof CelMap) return `{${value.keys().map((key) => `${showValue(key)}: ${showValue(value.find(key)!)}`).sort().join(', ')}}`;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('hex')}`;
  if (value instanceof CelType) return `type ${value.name}`;
  return `${typeOf(value).name} ${String(value)}`;
}
