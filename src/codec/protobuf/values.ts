// Codecs of single values: scalars, and the messages that JSON shows as something else (Quantity, Time, IntOrString, raw JSON …). An undefined
// value is written as Go's zero value.
import { type JsonValue } from '../../apimachinery/index.ts';
import { formatDurationNanos, isJsonObject } from '../../base/index.ts';
import { parseJson, stringifyJson } from '../json/json.ts';
import { formatTime, parseDuration, parseTime } from './time.ts';
import { ProtobufError, type Reader, type Writer } from './wire.ts';

/** How a value of one schema is written behind its tag, and read. */
export interface ValueCodec {
  /** Wire type: 0 varint, 1 eight bytes, 2 length-delimited. */
  readonly wire: 0 | 1 | 2;
  /** Go's nil: left out when absent even where the Go field is no pointer. */
  readonly nilable?: boolean;
  /** What JSON shows when nothing is on the wire and the field is always shown. */
  readonly zero: () => JsonValue;
  /** What `omitempty` leaves out; absent where Go never does. */
  readonly empty?: JsonValue;
  /** The zero value is a single byte 0. */
  readonly shortZero?: boolean;
  write(writer: Writer, value: JsonValue | undefined): void;
  read(reader: Reader): JsonValue;
}

const numberOf = (value: JsonValue | undefined): number | bigint => {
  if (typeof value === 'number') return Number.isInteger(value) ? value : Math.trunc(value) || 0;
  return typeof value === 'bigint' ? value : 0;
};
const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : value === undefined || value === null ? '' : String(value));

/** Codecs of scalars. */
export const stringCodec: ValueCodec = {
  wire: 2, zero: () => '', empty: '', shortZero: true,
  write: (writer, value) => writer.text(typeof value === 'string' ? value : textOf(value)),
  read: (reader) => reader.text(),
};
export const int64Codec: ValueCodec = {
  wire: 0, zero: () => 0, empty: 0, shortZero: true,
  write: (writer, value) => writer.int64(numberOf(value)),
  read: (reader) => reader.int64(),
};
export const int32Codec: ValueCodec = { ...int64Codec, read: (reader) => reader.int32() };
export const boolCodec: ValueCodec = {
  wire: 0, zero: () => false, empty: false, shortZero: true,
  write: (writer, value) => writer.varint(value === true ? 1 : 0),
  read: (reader) => reader.varint() !== 0,
};
export const doubleCodec: ValueCodec = {
  wire: 1, zero: () => 0, empty: 0,
  write: (writer, value) => writer.double(Number(value ?? 0)),
  read: (reader) => {
    const value = reader.double();
    if (!Number.isFinite(value)) throw new ProtobufError('json: unsupported value');
    return value;
  },
};
/** Bytes; base64 in JSON. */
export const bytesCodec: ValueCodec = {
  wire: 2, nilable: true, zero: () => null, empty: '',
  write: (writer, value) => writer.delimited(Buffer.from(textOf(value), 'base64')),
  read: (reader) => {
    const bytes = reader.delimited();
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  },
};

/** Calls `field` with each tag of a nested message; what it does not take is passed over. */
function readFields(reader: Reader, field: (tag: number) => boolean): void {
  const outer = reader.enter();
  while (reader.next()) {
    if (!field(reader.tag)) reader.skip();
  }
  reader.leave(outer);
}

/** A message whose fields `write` puts, in descending order. */
function writeMessage(writer: Writer, write: () => void): void {
  const used = writer.size;
  write();
  writer.varint(writer.size - used);
}

function timeCodec(micro: boolean): ValueCodec {
  return {
    wire: 2, zero: () => null, empty: null, shortZero: true,
    write(writer, value) {
      const time = typeof value === 'string' ? parseTime(value) : undefined;
      writeMessage(writer, () => {
        if (time === undefined) return;
        writer.int64(time.nanos);
        writer.varint(0x10);
        writer.int64(time.seconds);
        writer.varint(0x08);
      });
    },
    read(reader) {
      let seconds = 0;
      let nanos = 0;
      let some = false;
      readFields(reader, (tag) => {
        some = true;
        if (tag === 0x08) seconds = Number(reader.int64());
        else if (tag === 0x10) nanos = reader.int32();
        return tag === 0x08 || tag === 0x10;
      });
      return some ? formatTime({ seconds, nanos }, micro) : null;
    },
  };
}

const quantityCodec: ValueCodec = {
  wire: 2, zero: () => '0',
  write: (writer, value) => writeMessage(writer, () => {
    writer.text(value === undefined || value === null ? '0' : textOf(value));
    writer.varint(0x0a);
  }),
  read(reader) {
    let text = '0';
    readFields(reader, (tag) => {
      if (tag === 0x0a) text = reader.text() || '0';
      return tag === 0x0a;
    });
    return text;
  },
};

const intOrStringCodec: ValueCodec = {
  wire: 2, zero: () => 0,
  write: (writer, value) => writeMessage(writer, () => {
    const isText = typeof value === 'string';
    writer.text(isText ? value : '');
    writer.varint(0x1a);
    writer.int64(isText ? 0 : numberOf(value));
    writer.varint(0x10);
    writer.varint(isText ? 1 : 0);
    writer.varint(0x08);
  }),
  read(reader) {
    let type = 0;
    let number = 0;
    let text = '';
    readFields(reader, (tag) => {
      if (tag === 0x08) type = reader.int32();
      else if (tag === 0x10) number = reader.int32();
      else if (tag === 0x1a) text = reader.text();
      return tag === 0x08 || tag === 0x10 || tag === 0x1a;
    });
    return type === 1 ? text : number;
  },
};

const durationCodec: ValueCodec = {
  wire: 2, zero: () => '0s',
  write: (writer, value) => writeMessage(writer, () => {
    writer.int64(parseDuration(textOf(value)));
    writer.varint(0x08);
  }),
  read(reader) {
    let nanoseconds: number | bigint = 0;
    readFields(reader, (tag) => {
      if (tag === 0x08) nanoseconds = reader.int64();
      return tag === 0x08;
    });
    return formatDurationNanos(nanoseconds);
  },
};

/** RawExtension, FieldsV1 and JSON: a message with the bytes of a JSON text as field 1. */
const rawCodec: ValueCodec = {
  wire: 2, zero: () => null, empty: null, shortZero: true,
  write: (writer, value) => writeMessage(writer, () => {
    if (value === undefined) return;
    writer.text(stringifyJson(value));
    writer.varint(0x0a);
  }),
  read(reader) {
    let raw: Uint8Array | undefined;
    readFields(reader, (tag) => {
      if (tag === 0x0a) raw = reader.delimited();
      return tag === 0x0a;
    });
    return raw === undefined || (raw as Uint8Array).length === 0 ? null : parseRaw(raw);
  },
};

function parseRaw(raw: Uint8Array): JsonValue {
  try {
    return parseJson(raw).value;
  } catch (error) {
    throw new ProtobufError((error as Error).message);
  }
}

/** The alternatives of JSONSchemaProps: a schema, or many schemas, a boolean, or property names. */
function alternativeCodec(format: string, schema: ValueCodec): ValueCodec {
  const other = format === 'schema-or-array' ? schema : stringCodec;
  return {
    wire: 2, zero: () => null, empty: null, shortZero: true,
    write: (writer, value) => writeMessage(writer, () => {
      const isSchema = isJsonObject(value);
      const items = Array.isArray(value) ? value : [];
      if (format === 'schema-or-bool') {
        if (isSchema) writeTagged(writer, 0x12, schema, value);
        writeTagged(writer, 0x08, boolCodec, isSchema || value === true);
        return;
      }
      for (let i = items.length - 1; i >= 0; i--) writeTagged(writer, 0x12, other, items[i]);
      if (isSchema) writeTagged(writer, 0x0a, schema, value);
    }),
    read(reader) {
      let found: JsonValue | undefined;
      let allows = false;
      const items: JsonValue[] = [];
      const isBool = format === 'schema-or-bool';
      readFields(reader, (tag) => {
        if (isBool && tag === 0x08) allows = reader.varint() !== 0;
        else if (tag === (isBool ? 0x12 : 0x0a)) found = schema.read(reader);
        else if (!isBool && tag === 0x12) items.push(other.read(reader));
        else return false;
        return true;
      });
      return found ?? (isBool ? allows : items.length > 0 ? items : null);
    },
  };
}

/** Writes a value and, in front of it, its tag. */
export function writeTagged(writer: Writer, tag: number, codec: ValueCodec, value: JsonValue | undefined): void {
  codec.write(writer, value);
  writer.varint(tag);
}

/** A list in a message of its own (Verbs, ExtraValue): the elements are field 1. */
export function wrappedCodec(item: ValueCodec): ValueCodec {
  const tag = 8 | item.wire;
  return {
    wire: 2, nilable: true, zero: () => null,
    write: (writer, value) => writeMessage(writer, () => {
      const items = Array.isArray(value) ? value : [];
      for (let i = items.length - 1; i >= 0; i--) writeTagged(writer, tag, item, items[i]);
    }),
    read(reader) {
      const items: JsonValue[] = [];
      readFields(reader, (found) => {
        if (found === tag) items.push(item.read(reader));
        return found === tag;
      });
      return items;
    },
  };
}

const byFormat: Readonly<Record<string, ValueCodec>> = {
  time: timeCodec(false), 'micro-time': timeCodec(true), duration: durationCodec, quantity: quantityCodec, 'int-or-string': intOrStringCodec,
  byte: bytesCodec, raw: rawCodec, 'fields-v1': rawCodec, json: rawCodec,
};

/** The codec of a format; undefined when the format says nothing about protobuf. `props` is the codec of JSONSchemaProps. */
export function findFormatCodec(format: string, props: () => ValueCodec): ValueCodec | undefined {
  if (format.startsWith('schema-or-')) return alternativeCodec(format, props());
  return byFormat[format];
}
