// Small work on texts whose obvious pattern would backtrack.

/** The text without a run of one character at its end; `/x+$/` begins again at each x and is quadratic in `xxx…y`. */
export function trimEnd(text: string, char: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === char) end--;
  return end === text.length ? text : text.slice(0, end);
}
