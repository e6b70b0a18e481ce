// Protobuf between Kubernetes' JSON shape and bytes, compiled once per schema, without a message class in between. What Go's types decide is in the
// schema: fields that are no pointers are always on the wire, even zero; pointers, lists and maps only when present. Fields go out by number,
// maps by key. Unknown fields are passed over. kind and apiVersion are not in messages but in the envelope, see envelope.ts.
import { type Field, type JsonObject, type JsonValue, type Schema } from '../apimachinery/index.ts';
import {
  type ValueCodec, boolCodec, bytesCodec, doubleCodec, findFormatCodec, int32Codec, int64Codec, readFields, stringCodec, wrappedCodec, writeMessage, writeTagged,
} from './protobuf-values.ts';
import { ProtobufError, Reader, Writer } from './protobuf-wire.ts';

export { ProtobufError } from './protobuf-wire.ts';

/** The message of an object, without envelope. Expects the shape that the schema engine's decoding gives; what the schema does not know is left out. */
export function encodeMessage(schema: Schema, object: JsonValue): Uint8Array {
  const writer = borrowed ?? new Writer();
  borrowed = undefined;
  writer.start();
  compileObject(schema).writeBody(writer, object as JsonObject);
  const bytes = writer.finish();
  borrowed = writer;
  return bytes;
}

/** The object of a message, without kind and apiVersion, keys in the order of the schema; throws ProtobufError. */
export function decodeMessage(schema: Schema, bytes: Uint8Array): JsonObject {
  return compileObject(schema).readBody(new Reader(bytes), bytes.length);
}

/** One writer is kept between calls; a call inside a call, or after one that threw, makes its own. */
let borrowed: Writer | undefined;

type Slots = (JsonValue | undefined)[];

/** Codec of one field, or of a message that nests fields which JSON shows flat. */
interface FieldCodec {
  readonly number: number;
  /** Writes the field, tag included, from its owner. */
  write(writer: Writer, owner: JsonObject): void;
  /** Reads one occurrence of the field into the slots; `tag` tells the wire type. */
  read(reader: Reader, at: { readonly tag: number; readonly end: number }, slots: Slots): void;
}

interface ObjectCodec extends ValueCodec {
  writeBody(writer: Writer, object: JsonObject): void;
  readBody(reader: Reader, end: number): JsonObject;
}

const compiled = new WeakMap<Schema, ObjectCodec>();
const emptyObject: JsonObject = Object.freeze({});

function compileObject(schema: Schema): ObjectCodec {
  const known = compiled.get(schema);
  if (known !== undefined) return known;
  const codec = makeObjectCodec(schema);
  compiled.set(schema, codec);
  return codec;
}

/** Schemas refer to themselves: fields are compiled on first use. */
function makeObjectCodec(schema: Schema): ObjectCodec {
  let message: MessageLayout | undefined;
  const layout = (): MessageLayout => (message ??= layOut(schema));
  const codec: ObjectCodec = {
    wire: 2,
    zero: () => layout().build([]),
    isZero: (value) => Object.keys(value as JsonObject).length === 0,
    writeBody(writer, object) {
      for (const field of layout().fields) field.write(writer, object);
    },
    write(writer, value) {
      const object = typeof value === 'object' && value !== null ? (value as JsonObject) : emptyObject;
      const used = writer.size;
      for (const field of layout().fields) field.write(writer, object);
      writer.varint(writer.size - used);
    },
    readBody(reader, end) {
      const { slots: count, byNumber, build } = layout();
      const slots: Slots = new Array<JsonValue | undefined>(count).fill(undefined);
      readInto({ reader, end, byNumber, slots });
      return build(slots);
    },
    read: (reader, end) => reader.message(end, (to) => codec.readBody(reader, to)),
  };
  return codec;
}

function readInto({ reader, end, byNumber, slots }: { reader: Reader; end: number; byNumber: readonly (FieldCodec | undefined)[]; slots: Slots }): void {
  while (reader.at < end) {
    const tag = reader.tag(end);
    const field = byNumber[tag >>> 3];
    if (field === undefined) reader.skip(tag, end);
    else field.read(reader, { tag, end }, slots);
  }
}

interface MessageLayout {
  /** In descending order of their numbers, as the writer goes backwards. */
  readonly fields: readonly FieldCodec[];
  readonly byNumber: readonly (FieldCodec | undefined)[];
  readonly slots: number;
  /** Puts what was read into an object, as Go's JSON encoder would show it. */
  build(slots: Slots): JsonObject;
}

interface Member {
  readonly field: Field;
  readonly slot: number;
  readonly shown: (value: JsonValue | undefined) => JsonValue | undefined;
  readonly codec: FieldCodec;
}

function layOut(schema: Schema): MessageLayout {
  const members: Member[] = [];
  for (const field of schema.fields?.values() ?? []) {
    if (field.number > 0) members.push(compileMember(field, members.length));
  }
  const fields = nest(members, 0);
  return { fields, byNumber: indexByNumber(fields), slots: members.length, build: (slots) => buildObject(members, slots) };
}

function indexByNumber(fields: readonly FieldCodec[]): readonly (FieldCodec | undefined)[] {
  const table = new Array<FieldCodec | undefined>((fields[0]?.number ?? 0) + 1).fill(undefined);
  for (const field of fields) table[field.number] = field;
  return table;
}

/** Groups members into the messages that nest them; `depth` counts the messages around. */
function nest(members: readonly Member[], depth: number): readonly FieldCodec[] {
  const groups = new Map<number, Member[]>();
  const codecs: FieldCodec[] = [];
  for (const member of members) {
    const wrapper = member.field.inlined?.[depth];
    if (wrapper === undefined) codecs.push(member.codec);
    else if (groups.has(wrapper)) groups.get(wrapper)?.push(member);
    else groups.set(wrapper, [member]);
  }
  for (const [number, inside] of groups) codecs.push(compileWrapper(number, nest(inside, depth + 1)));
  return codecs.sort((a, b) => b.number - a.number);
}

function compileWrapper(number: number, fields: readonly FieldCodec[]): FieldCodec {
  const byNumber = indexByNumber(fields);
  const tag = number * 8 + 2;
  return {
    number,
    write(writer, owner) {
      writeMessage(writer, () => {
        for (const field of fields) field.write(writer, owner);
      });
      writer.varint(tag);
    },
    read(reader, at, slots) {
      checkTag(at.tag, tag, 'embedded message');
      reader.message(at.end, (end) => readInto({ reader, end, byNumber, slots }));
    },
  };
}

function checkTag(found: number, expected: number, name: string): void {
  if (found !== expected) throw new ProtobufError(`proto: wrong wireType = ${found & 7} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}

function buildObject(members: readonly Member[], slots: Slots): JsonObject {
  const object: JsonObject = {};
  for (const { field, slot, shown } of members) {
    const value = shown(slots[slot]);
    if (value !== undefined) object[field.name] = value;
  }
  return object;
}

function compileMember(field: Field, slot: number): Member {
  const { schema } = field;
  const isList = schema.type === 'array' && schema.format !== 'wrapped';
  if (isList || schema.type === 'map') {
    return {
      field, slot,
      shown: (value) => value ?? (field.omitEmpty ? undefined : null),
      codec: isList ? compileList(field, slot) : compileMap(field, slot),
    };
  }
  const codec = compileValue(schema);
  return { field, slot, shown: compileShown(field, codec), codec: compileSingle(field, slot, codec) };
}

/** The rule of `omitempty`: what JSON shows of a single value, undefined when nothing. */
function compileShown(field: Field, codec: ValueCodec): (value: JsonValue | undefined) => JsonValue | undefined {
  if (field.pointer) return field.omitEmpty ? (value) => value : (value) => value ?? null;
  if (!field.omitEmpty) return (value) => value ?? codec.zero();
  return (value) => (value === undefined || codec.isZero?.(value) === true ? undefined : value);
}

function compileSingle(field: Field, slot: number, codec: ValueCodec): FieldCodec {
  const { name, number } = field;
  const tag = number * 8 + codec.wire;
  const optional = field.pointer || codec.nilable === true;
  return {
    number,
    write(writer, owner) {
      const value = owner[name];
      if (value === undefined || value === null) {
        if (optional) return;
        codec.write(writer, undefined);
      } else codec.write(writer, value);
      writer.varint(tag);
    },
    read(reader, at, slots) {
      if (at.tag !== tag) checkTag(at.tag, tag, name);
      slots[slot] = codec.read(reader, at.end);
    },
  };
}

function compileList(field: Field, slot: number): FieldCodec {
  const { name, number } = field;
  const codec = compileValue(field.schema.items as Schema);
  const tag = number * 8 + codec.wire;
  return {
    number,
    write(writer, owner) {
      const items = owner[name];
      if (!Array.isArray(items)) return;
      for (let i = items.length - 1; i >= 0; i--) writeTagged(writer, tag, codec, items[i]);
    },
    read(reader, at, slots) {
      const items = (slots[slot] ??= []) as JsonValue[];
      if (at.tag === tag) items.push(codec.read(reader, at.end));
      else {
        checkTag(at.tag, codec.wire === 2 ? tag : number * 8 + 2, name);
        readPacked(reader, { end: at.end, codec, items });
      }
    },
  };
}

function readPacked(reader: Reader, { end, codec, items }: { end: number; codec: ValueCodec; items: JsonValue[] }): void {
  reader.message(end, (to) => {
    while (reader.at < to) items.push(codec.read(reader, to));
  });
}

function compileMap(field: Field, slot: number): FieldCodec {
  const { name, number } = field;
  const codec = compileValue(field.schema.items as Schema);
  const tag = number * 8 + 2;
  const valueTag = 16 + codec.wire;
  return {
    number,
    write(writer, owner) {
      const map = owner[name];
      if (typeof map !== 'object' || map === null || Array.isArray(map)) return;
      const keys = sortKeys(map);
      for (let i = keys.length - 1; i >= 0; i--) {
        const key = keys[i] as string;
        const used = writer.size;
        writeTagged(writer, valueTag, codec, map[key] ?? undefined);
        writeTagged(writer, 0x0a, stringCodec, key);
        writer.varint(writer.size - used);
        writer.varint(tag);
      }
    },
    read(reader, at, slots) {
      if (at.tag !== tag) checkTag(at.tag, tag, name);
      const { key, value } = readEntry(reader, at.end, codec);
      const map = (slots[slot] ??= {}) as JsonObject;
      if (key === '__proto__') Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
      else map[key] = value;
    },
  };
}

function readEntry(reader: Reader, end: number, codec: ValueCodec): { key: string; value: JsonValue } {
  let key = '';
  let value: JsonValue | undefined;
  const valueTag = 16 + codec.wire;
  readFields(reader, end, (tag, to) => {
    if (tag === 0x0a) key = reader.text(to);
    else if (tag === valueTag) value = codec.read(reader, to);
    else return false;
    return true;
  });
  return { key, value: value ?? codec.zero() };
}

/** Keys in the order of their bytes, which differs from JavaScript's order only beyond the basic plane. */
function sortKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  if (keys.length < 2) return keys;
  keys.sort();
  return keys.some((key) => /[\ud800-\uffff]/.test(key)) ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys;
}

const scalars: Readonly<Record<string, ValueCodec>> = { string: stringCodec, boolean: boolCodec, number: doubleCodec };

function compileValue(schema: Schema): ValueCodec {
  const special = schema.format === undefined ? undefined : findFormatCodec(schema.format, () => compileObject(schema.items as Schema));
  if (special !== undefined) return special;
  if (schema.type === 'array' && schema.format === 'wrapped') return wrappedCodec(compileValue(schema.items as Schema));
  if (schema.type === 'integer') return schema.format === 'int32' ? int32Codec : int64Codec;
  const scalar = scalars[schema.type];
  if (scalar !== undefined) return scalar;
  if (schema.type === 'object') return compileObject(schema);
  return bytesCodec;
}
