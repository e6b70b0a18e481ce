// Values as JSON: for objects and patches that expressions build, and for whatever else leaves an evaluation. Keys are data.
import { type Meter, VISIT_WORK, unmetered } from './meter.ts';
import { formatDuration, formatTimestamp } from './time.ts';
import { CelDouble, CelDuration, CelList, CelMap, CelOptional, CelTimestamp, CelUint, type Value, narrowInt, typeOf } from './values.ts';

/** A value that JSON cannot hold; the message says which. */
export class NotJsonError extends Error {}

/** The JSON of a value: times and durations are texts, bytes are base64, numbers beyond what JavaScript holds exactly are bigints. */
export function toJson(value: Value, meter: Meter = unmetered): unknown {
  meter.work(VISIT_WORK);
  if (value === null || typeof value !== 'object') return value;
  if (value instanceof CelDouble) return finite(value.value);
  if (value instanceof CelUint) return narrowInt(value.value);
  if (value instanceof CelList) return value.toArray().map((item) => toJson(item, meter));
  if (value instanceof CelMap) return mapToJson(value, meter);
  if (value instanceof CelTimestamp) return formatTimestamp(value);
  if (value instanceof CelDuration) return formatDuration(value);
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''));
  if (value instanceof CelOptional && value.value !== undefined) return toJson(value.value, meter);
  throw new NotJsonError(`unsupported type conversion from '${typeOf(value).name}' to JSON`);
}

function finite(value: number): number {
  if (!Number.isFinite(value)) throw new NotJsonError(`unsupported value: ${value}`);
  return value;
}

function mapToJson(map: CelMap, meter: Meter): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const key of map.keys()) {
    const name = typeof key === 'object' && key !== null && 'value' in key ? String(key.value) : String(key);
    Object.defineProperty(json, name, { value: toJson(map.find(key)!, meter), enumerable: true, writable: true, configurable: true });
  }
  return json;
}
