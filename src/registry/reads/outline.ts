// Stored objects without what is large in them and not needed.
import { cutValues, parseJson } from '../../codec/index.ts';
import type { KubeObject } from '../../apimachinery/index.ts';
import type { StoredObject } from '../contract.ts';
import { findValues } from '../objects/json-scan.ts';

/** `stored.object(version)` with null for the values at a path, which are not parsed; `*` stands for every item of a list. */
export function readWithout(stored: StoredObject, version: string, path: readonly string[]): KubeObject {
  const bytes = stored.bytes(version, 'json-single');
  return parseJson(cutValues(bytes, [...findValues(bytes, 0, path)])).value as unknown as KubeObject;
}
