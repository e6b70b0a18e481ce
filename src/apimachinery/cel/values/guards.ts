// Tests of values against the parameter types of overloads, for calls whose types are known at run time only.
import { type CelType, CelType as TypeClass } from './types.ts';
import {
  CelDouble, CelDuration, CelList, CelMap, CelOpaque, CelOptional, CelTimestamp, CelUint, type Value,
} from './values.ts';

/** True when a value can be an argument. */
export type Guard = (value: Value) => boolean;

const isInt: Guard = (value) => typeof value === 'number' || typeof value === 'bigint';
const plainGuards: ReadonlyMap<string, Guard> = new Map<string, Guard>([
  ['null', (value) => value === null], ['bool', (value) => typeof value === 'boolean'], ['int', isInt], ['uint', (value) => value instanceof CelUint],
  ['double', (value) => value instanceof CelDouble], ['string', (value) => typeof value === 'string'], ['bytes', (value) => value instanceof Uint8Array],
  ['timestamp', (value) => value instanceof CelTimestamp], ['duration', (value) => value instanceof CelDuration],
  ['list', (value) => value instanceof CelList], ['map', (value) => value instanceof CelMap], ['type', (value) => value instanceof TypeClass],
]);

/** The test for a parameter type; undefined for types that take anything. */
export function guardOf(type: CelType): Guard | undefined {
  if (type.kind === 'opaque' && type.name === 'optional_type') return (value) => value instanceof CelOptional;
  if (type.kind === 'opaque' || type.kind === 'struct') {
    return (value) => (value instanceof CelOpaque || value instanceof CelMap) && value.type.name === type.name;
  }
  return plainGuards.get(type.kind);
}
