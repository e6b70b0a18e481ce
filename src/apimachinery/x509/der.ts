// DER: the elements of a run of bytes, object identifiers and texts. Lengths are checked before anything is read, so that any bytes can be given.

/** Tags of X.509. */
export const SEQUENCE = 0x30;
export const INTEGER = 0x02;
export const BIT_STRING = 0x03;
export const OID = 0x06;

/** A tag, its content, and both as they stand. */
export interface Element {
  readonly tag: number;
  readonly whole: Uint8Array;
  readonly content: Uint8Array;
}

/** The elements of a run of bytes; undefined when they do not fill it exactly. */
export function readElements(bytes: Uint8Array): Element[] | undefined {
  const elements: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const element = readElement(bytes, at);
    if (element === undefined) return undefined;
    elements.push(element);
    at += element.whole.length;
  }
  return elements;
}

/** The element that begins at a place; undefined when the bytes do not hold one. */
export function readElement(bytes: Uint8Array, start = 0): Element | undefined {
  const [tag, first] = [bytes[start], bytes[start + 1]];
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) return undefined;
  let [content, length] = [start + 2, first];
  if (first >= 0x80) {
    const width = first & 0x7f;
    if (width === 0 || width > 4) return undefined;
    length = 0;
    for (let index = 0; index < width; index += 1) length = length * 256 + (bytes[content + index] ?? 0);
    content += width;
  }
  const end = content + length;
  return end > bytes.length ? undefined : { tag, whole: bytes.subarray(start, end), content: bytes.subarray(content, end) };
}

/** The text of an element: BMPString is UTF-16; the other kinds of text that names are written in fit into UTF-8. */
export function decodeText({ tag, content }: Element): string {
  if (tag !== 0x1e) return new TextDecoder().decode(content);
  let text = '';
  for (let index = 0; index + 1 < content.length; index += 2) text += String.fromCharCode((content[index] as number) * 256 + (content[index + 1] as number));
  return text;
}

/** An object identifier in numbers with dots between them. */
export function formatOid(content: Uint8Array): string {
  const arcs: number[] = [];
  let value = 0;
  for (const byte of content) {
    value = value * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(value / 40));
      arcs.push(first, value - first * 40);
    } else arcs.push(value);
    value = 0;
  }
  return arcs.join('.');
}

const noElements: readonly Element[] = [];

/** The elements inside a sequence (or another tag); none when there is no such element, or when its content is no run of elements. */
export function elementsIn(element: Element | undefined, tag = SEQUENCE): readonly Element[] {
  return element?.tag === tag ? readElements(element.content) ?? noElements : noElements;
}

/** The identifier that a sequence begins with, as algorithms and extensions do; '' without one. */
export function readOid(sequence: Element | undefined): string {
  const [oid] = elementsIn(sequence);
  return oid?.tag === OID ? formatOid(oid.content) : '';
}
