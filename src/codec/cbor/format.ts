// CBOR for people: diagnostic notation (RFC 8949, 8), which upstream prints where an object has no kind.
import type { JsonValue } from '../../apimachinery/index.ts';

/** A document in diagnostic notation, its strings as byte strings. */
export function formatCbor(document: JsonValue): string {
  return `55799(${formatItem(document)})`;
}

function formatItem(value: JsonValue): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return `[${value.map(formatItem).join(', ')}]`;
  return `{${Object.entries(value).map(([key, member]) => `${quote(key)}: ${formatItem(member as JsonValue)}`).join(', ')}}`;
}

function quote(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}
