// Protobuf between Kubernetes' JSON shape and bytes, compiled once per schema, without a message class in between. What Go's types decide is in the
// schema: fields that are no pointers are always on the wire, even zero; pointers, lists and maps only when present. Fields go out by number,
// maps by key. Unknown fields are passed over. kind and apiVersion are not in messages but in the envelope, see envelope.ts.
import { isJsonObject } from '../../base/index.ts';
import { type Field, type JsonObject, type JsonValue, type Schema } from '../../apimachinery/index.ts';
import {
  type ValueCodec, boolCodec, bytesCodec, doubleCodec, findFormatCodec, int32Codec, int64Codec, stringCodec, wrappedCodec, writeTagged,
} from './values.ts';
import { ProtobufError, Reader, Writer } from './wire.ts';

export { ProtobufError } from './wire.ts';

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
  return compileObject(schema).readBody(new Reader(bytes));
}

/** One writer is kept between calls, as a new one takes 0.5 µs; a call inside a call, or after one that threw, makes its own. */
let borrowed: Writer | undefined;

type Slots = (JsonValue | undefined)[];

/** Codec of one field, or of a message that nests fields which JSON shows flat. */
interface FieldCodec {
  readonly number: number;
  readonly name: string;
  /** The message nests fields of its owner, which it is handed as its value. */
  readonly isWrapper: boolean;
  /** The field is left out when it has no value; otherwise `zeroTag`, when above 0, is all it takes to write its zero. */
  readonly optional: boolean;
  readonly zeroTag: number;
  /** The tag of a single text, the commonest of all fields, which is read into its slot and written without a call; else 0. */
  readonly textTag: number;
  readonly slot: number;
  /** Writes the field, tag included. */
  write(writer: Writer, value: JsonValue | undefined): void;
  /** Reads one occurrence of the field, whose tag was just read, into the slots. */
  read(reader: Reader, slots: Slots): void;
}

interface ObjectCodec extends ValueCodec {
  writeBody(writer: Writer, object: JsonObject): void;
  readBody(reader: Reader): JsonObject;
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
  const spare: Slots[] = [];
  const layout = (): MessageLayout => (message ??= layOut(schema));
  const codec: ObjectCodec = {
    wire: 2,
    zero: () => buildObject(layout().members, []),
    writeBody: (writer, object) => writeFields(writer, layout().fields, object),
    write(writer, value) {
      const used = writer.size;
      codec.writeBody(writer, typeof value === 'object' && value !== null ? (value as JsonObject) : emptyObject);
      writer.varint(writer.size - used);
    },
    readBody(reader) {
      const { slots: count, byNumber, members } = layout();
      const slots = spare.pop() ?? new Array<JsonValue | undefined>(count).fill(undefined);
      readInto(reader, byNumber, slots);
      const object = buildObject(members, slots);
      if (spare.length < MAX_SPARE) spare.push(slots);
      return object;
    },
    read(reader) {
      const outer = reader.enter();
      const object = codec.readBody(reader);
      reader.leave(outer);
      return object;
    },
  };
  return codec;
}

/** Slots are used again, one array per level of a schema in itself; they are empty in between. */
const MAX_SPARE = 8;

/** Most fields of most objects have no value, and most others are texts: these are dealt with here, without a call. */
function writeFields(writer: Writer, fields: readonly FieldCodec[], owner: JsonObject): void {
  for (let i = 0; i < fields.length; i++) {
    const field = fields[i] as FieldCodec;
    const value = field.isWrapper ? owner : owner[field.name];
    if (typeof value === 'string' && field.textTag > 0) {
      writer.text(value);
      writer.varint(field.textTag);
    } else if (value !== undefined && value !== null) field.write(writer, value);
    else if (field.zeroTag > 0) writer.zero(field.zeroTag);
    else if (!field.optional) field.write(writer, undefined);
  }
}

function readInto(reader: Reader, byNumber: readonly (FieldCodec | undefined)[], slots: Slots): void {
  while (reader.next()) {
    const field = byNumber[reader.tag >>> 3];
    if (field === undefined) reader.skip();
    else if (reader.tag === field.textTag) slots[field.slot] = reader.text();
    else field.read(reader, slots);
  }
}

interface MessageLayout {
  /** In descending order of their numbers, as the writer writes backwards. */
  readonly fields: readonly FieldCodec[];
  readonly byNumber: readonly (FieldCodec | undefined)[];
  readonly slots: number;
  readonly members: readonly Member[];
}

interface Member {
  readonly field: Field;
  readonly name: string;
  readonly codec: FieldCodec;
  /** Shown where nothing was read; undefined when the field is left out then. */
  readonly absent: (() => JsonValue) | undefined;
  /** A value that `omitempty` leaves out; undefined when there is none. */
  readonly empty: JsonValue | undefined;
}

function layOut(schema: Schema): MessageLayout {
  const members: Member[] = [];
  for (const field of schema.fields?.values() ?? []) {
    if (field.number > 0) members.push(compileMember(field, members.length));
  }
  const fields = nest(members, 0);
  return { fields, byNumber: indexByNumber(fields), slots: members.length, members };
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
    number, name: '', isWrapper: true, optional: false, zeroTag: 0, textTag: 0, slot: -1,
    write(writer, owner) {
      const used = writer.size;
      writeFields(writer, fields, owner as JsonObject);
      writer.varint(writer.size - used);
      writer.varint(tag);
    },
    read(reader, slots) {
      checkTag(reader.tag, tag, 'embedded message');
      const outer = reader.enter();
      readInto(reader, byNumber, slots);
      reader.leave(outer);
    },
  };
}

function checkTag(found: number, expected: number, name: string): void {
  if (found !== expected) throw new ProtobufError(`proto: wrong wireType = ${found & 7} for field ${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}

/** Puts what was read into an object, as Go's JSON encoder would show it, and empties the slots. */
function buildObject(members: readonly Member[], slots: Slots): JsonObject {
  const object: JsonObject = {};
  for (let i = 0; i < members.length; i++) {
    const member = members[i] as Member;
    const value = slots[i];
    if (value === undefined) {
      if (member.absent !== undefined) object[member.name] = member.absent();
      continue;
    }
    slots[i] = undefined;
    if (value !== member.empty) object[member.name] = value;
  }
  return object;
}

const showNull = (): JsonValue => null;

function compileMember(field: Field, slot: number): Member {
  const { name, schema } = field;
  const isList = schema.type === 'array' && schema.format !== 'wrapped';
  if (isList || schema.type === 'map') {
    const codec = isList ? compileList(field, slot) : compileMap(field, slot);
    return { field, name, codec, absent: field.omitEmpty ? undefined : showNull, empty: undefined };
  }
  const value = compileValue(schema);
  const absent = field.omitEmpty ? undefined : field.pointer ? showNull : value.zero;
  return { field, name, codec: compileSingle(field, slot, value), absent, empty: field.omitEmpty && !field.pointer ? value.empty : undefined };
}

function compileSingle(field: Field, slot: number, codec: ValueCodec): FieldCodec {
  const { name, number } = field;
  const tag = number * 8 + codec.wire;
  const optional = field.pointer || codec.nilable === true;
  return {
    number, name, isWrapper: false, optional, zeroTag: !optional && codec.shortZero === true ? tag : 0, textTag: codec === stringCodec ? tag : 0, slot,
    write(writer, value) {
      codec.write(writer, value);
      writer.varint(tag);
    },
    read(reader, slots) {
      if (reader.tag !== tag) checkTag(reader.tag, tag, name);
      slots[slot] = codec.read(reader);
    },
  };
}

function compileList(field: Field, slot: number): FieldCodec {
  const { name, number } = field;
  const codec = compileValue(field.schema.items as Schema);
  const tag = number * 8 + codec.wire;
  return {
    number, name, isWrapper: false, optional: true, zeroTag: 0, textTag: 0, slot,
    write(writer, items) {
      if (!Array.isArray(items)) return;
      for (let i = items.length - 1; i >= 0; i--) writeTagged(writer, tag, codec, items[i]);
    },
    read(reader, slots) {
      const items = (slots[slot] ??= []) as JsonValue[];
      if (reader.tag === tag) items.push(codec.read(reader));
      else {
        checkTag(reader.tag, codec.wire === 2 ? tag : number * 8 + 2, name);
        readPacked(reader, codec, items);
      }
    },
  };
}

function readPacked(reader: Reader, codec: ValueCodec, items: JsonValue[]): void {
  const outer = reader.enter();
  while (reader.at < reader.end) items.push(codec.read(reader));
  reader.leave(outer);
}

function compileMap(field: Field, slot: number): FieldCodec {
  const { name, number } = field;
  const codec = compileValue(field.schema.items as Schema);
  const tag = number * 8 + 2;
  const valueTag = 16 + codec.wire;
  return {
    number, name, isWrapper: false, optional: true, zeroTag: 0, textTag: 0, slot,
    write(writer, map) {
      if (!isJsonObject(map)) return;
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
    read(reader, slots) {
      if (reader.tag !== tag) checkTag(reader.tag, tag, name);
      const map = (slots[slot] ??= {}) as JsonObject;
      readEntry(reader, codec, map);
    },
  };
}

function readEntry(reader: Reader, codec: ValueCodec, map: JsonObject): void {
  let key = '';
  let value: JsonValue | undefined;
  const valueTag = 16 + codec.wire;
  const outer = reader.enter();
  while (reader.next()) {
    if (reader.tag === 0x0a) key = reader.text();
    else if (reader.tag === valueTag) value = codec.read(reader);
    else reader.skip();
  }
  reader.leave(outer);
  value ??= codec.zero();
  if (key === '__proto__') Object.defineProperty(map, key, { value, writable: true, enumerable: true, configurable: true });
  else map[key] = value;
}

/** Keys in the order of their bytes, which differs from JavaScript's order only beyond the basic plane. */
function sortKeys(map: JsonObject): string[] {
  const keys = Object.keys(map);
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i] as string) < (keys[i - 1] as string)) {
      keys.sort();
      break;
    }
  }
  return keys.length > 1 && keys.some((key) => beyondBasic.test(key)) ? keys.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))) : keys;
}

const beyondBasic = /[\ud800-\uffff]/;

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
