// A page of DER: just enough ASN.1 to write X.509 certificates. Every function returns one complete encoded element.

/** One element: tag, length, content. */
export function encodeElement(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), encodeLength(content.length), content]);
}

function encodeLength(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

/** SEQUENCE. */
export const encodeSequence = (...parts: readonly Uint8Array[]): Buffer => encodeElement(0x30, ...parts);

/** SET. */
export const encodeSet = (...parts: readonly Uint8Array[]): Buffer => encodeElement(0x31, ...parts);

/** INTEGER from the big-endian bytes of a non-negative number. */
export function encodeInteger(bytes: Uint8Array): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const trimmed = bytes.subarray(start);
  return encodeElement(0x02, ...((trimmed[0] ?? 0) >= 0x80 ? [Uint8Array.of(0), trimmed] : [trimmed]));
}

/** BOOLEAN true. */
export const encodeTrue = (): Buffer => encodeElement(0x01, Uint8Array.of(0xff));

/** OBJECT IDENTIFIER from its dotted form. */
export function encodeOid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) bytes.push(...encodeBase128(arc));
  return encodeElement(0x06, Uint8Array.from(bytes));
}

function encodeBase128(value: number): number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) | 0x80);
  return digits;
}

/** UTF8String. */
export const encodeUtf8 = (text: string): Buffer => encodeElement(0x0c, Buffer.from(text, 'utf8'));

/** BIT STRING of whole bytes; `unused` trailing bits do not count. */
export const encodeBits = (bytes: Uint8Array, unused = 0): Buffer => encodeElement(0x03, Uint8Array.of(unused), bytes);

/** OCTET STRING. */
export const encodeOctets = (bytes: Uint8Array): Buffer => encodeElement(0x04, bytes);

/** UTCTime before 2050, GeneralizedTime from then on, as X.509 demands. */
export function encodeTime(epochMs: number): Buffer {
  const digits = new Date(epochMs).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const late = Number(digits.slice(0, 4)) >= 2050;
  return late ? encodeElement(0x18, Buffer.from(`${digits}Z`, 'latin1')) : encodeElement(0x17, Buffer.from(`${digits.slice(2)}Z`, 'latin1'));
}
