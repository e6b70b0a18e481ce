// Positions in strings count runes in expressions and UTF-16 units in JavaScript. Only texts with surrogates need counting.

const surrogate = /[\ud800-\udbff]/;

/** Number of runes of a string. Sizes are read at every step of an expression: one native search decides for nearly all texts that nothing needs counting. */
export function runeCount(text: string): number {
  return surrogate.test(text) ? countRunes(text, text.length) : text.length;
}

function countRunes(text: string, end: number): number {
  let count = end;
  for (let i = 0; i < end; i++) {
    const code = text.charCodeAt(i);
    if (code >= 0xd800 && code <= 0xdbff) count--;
  }
  return count;
}

/** Number of runes before a UTF-16 index. */
export const runesBefore = (text: string, index: number): number => (surrogate.test(text) ? countRunes(text, index) : index);

/** The UTF-16 index of a rune; undefined beyond the end of the text. The rune after the last one is the end. */
export function indexOfRune(text: string, rune: number): number | undefined {
  if (rune < 0 || rune > text.length) return undefined;
  if (!surrogate.test(text)) return rune;
  let index = 0;
  for (let left = rune; left > 0; left--) {
    if (index >= text.length) return undefined;
    index += lengthAt(text, index);
  }
  return index;
}

/** 2 for a rune that is a pair of surrogates, else 1. */
export function lengthAt(text: string, index: number): number {
  const code = text.charCodeAt(index);
  return code >= 0xd800 && code <= 0xdbff && index + 1 < text.length ? 2 : 1;
}
