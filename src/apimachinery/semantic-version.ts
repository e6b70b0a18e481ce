// Semantic versions, as programs of Kubernetes name theirs. Those of expressions are in cel/library/versions.ts, with the words of its errors.

/** A semantic version: three numbers, then identifiers of a pre-release, which come before the release. Build metadata counts for nothing. */
export interface SemanticVersion {
  readonly numbers: readonly number[];
  readonly pre: readonly string[];
}

const isNumeric = (text: string): boolean => /^\d+$/.test(text);
const isIdentifier = (text: string): boolean => /^[0-9A-Za-z-]+$/.test(text);
const hasNoLeadingZero = (text: string): boolean => text === '0' || !text.startsWith('0');

/** Reads one; undefined for a text that is none. */
export function parseVersion(text: string): SemanticVersion | undefined {
  const [whole = '', ...build] = text.split('+');
  const dash = whole.indexOf('-');
  const numbers = (dash < 0 ? whole : whole.slice(0, dash)).split('.');
  const pre = dash < 0 ? [] : whole.slice(dash + 1).split('.');
  if (numbers.length !== 3 || !numbers.every((part) => isNumeric(part) && hasNoLeadingZero(part))) return undefined;
  if (!pre.every((part) => isIdentifier(part) && (!isNumeric(part) || hasNoLeadingZero(part)))) return undefined;
  if (build.length > 1 || !build.every((part) => part.split('.').every(isIdentifier))) return undefined;
  return { numbers: numbers.map(Number), pre };
}

function compareIdentifiers(a: string, b: string): number {
  if (isNumeric(a) && isNumeric(b)) return Number(a) - Number(b);
  if (isNumeric(a) !== isNumeric(b)) return isNumeric(a) ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Below zero where `a` comes before `b`. */
export function compareVersions(a: SemanticVersion, b: SemanticVersion): number {
  const byNumber = a.numbers.map((number, index) => number - (b.numbers[index] as number)).find((difference) => difference !== 0);
  if (byNumber !== undefined) return byNumber;
  if (a.pre.length === 0 || b.pre.length === 0) return b.pre.length - a.pre.length;
  const shared = a.pre.slice(0, b.pre.length).map((part, index) => compareIdentifiers(part, b.pre[index] as string)).find((difference) => difference !== 0);
  return shared ?? a.pre.length - b.pre.length;
}
