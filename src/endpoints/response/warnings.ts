// Warning headers: deduplicated, escaped, and kept within the reference's budget of runes. Texts with control characters are not sent.
const TOTAL_RUNES = 4096;
const ITEM_RUNES = 256;
const control = /\p{Cc}/u;

/** Text as a quoted string. */
function quote(text: string): string {
  let out = '"';
  for (const char of text) {
    out += char === '"' || char === '\\' ? `\\${char}` : char;
  }
  return `${out}"`;
}

/** Headers are bytes: each character of the result is one byte of the UTF-8 text. */
function toByteString(text: string): string {
  if (!/[^\x20-\x7e]/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

const formatWarning = (runes: readonly string[]): string => toByteString(`299 - ${quote(runes.join(''))}`);

/**
 * The values of the Warning headers for these texts. Everything is sent whole while it fits; once it does not, every text is cut
 * to 256 runes and texts are sent until the budget is spent.
 */
export function formatWarnings(texts: readonly string[]): string[] {
  const distinct = [...new Set(texts)].filter((text) => text !== '' && !control.test(text)).map((text) => [...text]);
  const total = distinct.reduce((sum, runes) => sum + runes.length, 0);
  if (total <= TOTAL_RUNES) return distinct.map(formatWarning);
  const out: string[] = [];
  let written = 0;
  for (const runes of distinct) {
    if (written >= TOTAL_RUNES) break;
    const cut = runes.slice(0, ITEM_RUNES);
    written += cut.length;
    out.push(formatWarning(cut));
  }
  return out;
}
