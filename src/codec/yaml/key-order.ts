// The order in which go-yaml writes the keys of a map: natural, so that `a2` comes before `a10`; punctuation before letters, except after a digit.

const isDigit = (c: string | undefined): boolean => c !== undefined && /^\p{Nd}$/u.test(c);
const isLetter = (c: string): boolean => /^\p{L}$/u.test(c);
const isSimple = /^[a-z]+$/;

/** Compares two keys for sorting. */
export function compareKeys(a: string, b: string): number {
  if (isSimple.test(a) && isSimple.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  const left = [...a];
  const right = [...b];
  for (let i = 0; i < left.length && i < right.length; i++) {
    if (left[i] !== right[i]) return compareFrom(left, right, i);
  }
  return left.length - right.length;
}

function compareFrom(left: readonly string[], right: readonly string[], i: number): number {
  const a = left[i] as string;
  const b = right[i] as string;
  const byCode = (a.codePointAt(0) as number) - (b.codePointAt(0) as number);
  const aIsLetter = isLetter(a);
  const bIsLetter = isLetter(b);
  if (aIsLetter && bIsLetter) return byCode;
  if (aIsLetter || bIsLetter) return aIsLetter === (i > 0 && isDigit(left[i - 1])) ? -1 : 1;
  const carry = (a === '0' || b === '0') && followsNonZero(left, i) ? '1' : '';
  const aDigits = takeDigits(left, i);
  const bDigits = takeDigits(right, i);
  return compareNumbers(carry + aDigits, carry + bDigits) || aDigits.length - bDigits.length || byCode;
}

/** A zero counts as a place of the number only behind a digit that is not zero. */
function followsNonZero(text: readonly string[], i: number): boolean {
  for (let k = i - 1; k >= 0 && isDigit(text[k]); k--) {
    if (text[k] !== '0') return true;
  }
  return false;
}

function takeDigits(text: readonly string[], from: number): string {
  let end = from;
  while (isDigit(text[end])) end++;
  return text.slice(from, end).join('');
}

function compareNumbers(a: string, b: string): number {
  const left = a.replace(/^0+/, '');
  const right = b.replace(/^0+/, '');
  return left.length - right.length || (left < right ? -1 : left > right ? 1 : 0);
}
