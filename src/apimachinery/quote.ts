// Texts as Go's %q writes them, for messages in Go's words.

const goEscapes: Readonly<Record<string, string>> = {
  '"': '\\"', '\\': '\\\\', '\x07': '\\a', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\v': '\\v',
};

function escapeForGo(char: string): string {
  const known = goEscapes[char];
  if (known !== undefined) return known;
  const code = char.codePointAt(0) as number;
  const digits = code.toString(16);
  if (code < 0x80) return `\\x${digits.padStart(2, '0')}`;
  return code > 0xffff ? `\\U${digits.padStart(8, '0')}` : `\\u${digits.padStart(4, '0')}`;
}

/** A text as Go's %q writes it: quotation marks, backslashes and what cannot be printed are escaped. */
export function quoteGo(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escapeForGo)}"`;
}
