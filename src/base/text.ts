// Small work on texts: patterns that would backtrack, and the encoding of headers.

/** The text without a run of one character at its end; `/x+$/` begins again at each x and is quadratic in `xxx…y`. */
export function trimEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return end === text.length ? text : text.slice(0, end);
}

/** The text of a header's value: its bytes, which come one to a character, are UTF-8. */
export function decodeHeader(value: string): string {
  return /[\x80-\xff]/.test(value) && !/[^\x00-\xff]/.test(value) ? new TextDecoder().decode(Uint8Array.from(value, (char) => char.charCodeAt(0))) : value;
}
