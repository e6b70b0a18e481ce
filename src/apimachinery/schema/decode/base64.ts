// Base64 as Go's standard encoding reads it into []byte: padded, line breaks ignored, errors by the index of the byte that is wrong.
import { DecodeError } from './error.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const letterValues = createValues();
const PADDING = 61;

/** The same bytes in canonical base64 (no line breaks, no stray bits before the padding). Throws DecodeError. */
export function canonicalizeBase64(text: string): string {
  const end = text.length;
  let digits = 0;
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code < 128 && letterValues[code]! >= 0) digits++;
    else if (code === PADDING) return finish(text, i, digits % 4);
    else if (code !== 10 && code !== 13) throw corrupt(i);
  }
  // Go reports the index of the incomplete group, counted from the end of the text.
  if (digits % 4 !== 0) throw corrupt(end - (digits % 4));
  return digits === end ? text : text.replace(/[\r\n]/g, '');
}

/** Checks the padding that begins at `at`, after `filled` digits of the last group. */
function finish(text: string, at: number, filled: number): string {
  if (filled < 2) throw corrupt(at);
  let i = at + 1;
  if (filled === 2) {
    i = skipBreaks(text, i);
    if (i === text.length) throw corrupt(i);
    if (text.charCodeAt(i) !== PADDING) throw corrupt(i - 1);
    i++;
  }
  i = skipBreaks(text, i);
  if (i < text.length) throw corrupt(i);
  const clean = text.replace(/[\r\n]/g, '');
  const last = clean.length - (filled === 2 ? 3 : 2);
  const value = letterValues[clean.charCodeAt(last)]! & (filled === 2 ? 0x30 : 0x3c);
  return clean.slice(0, last) + ALPHABET[value] + clean.slice(last + 1);
}

function skipBreaks(text: string, from: number): number {
  let i = from;
  while (text.charCodeAt(i) === 10 || text.charCodeAt(i) === 13) i++;
  return i;
}

function corrupt(at: number): DecodeError {
  return new DecodeError(`illegal base64 data at input byte ${at}`);
}

function createValues(): Int8Array {
  const values = new Int8Array(128).fill(-1);
  for (let i = 0; i < ALPHABET.length; i++) values[ALPHABET.charCodeAt(i)] = i;
  return values;
}
