// Expression texts and the problems found in them: positions count runes, and a problem is shown under its line with a marker, as cel-go
// prints it. Wide runes get wide dots, tabs become spaces.
import { byteLength } from '../../names.ts';

/** A problem at a rune offset of the text; offset -1 is the text as a whole. */
export interface Issue {
  readonly offset: number;
  readonly message: string;
}

/** Thrown when a text does not parse or does not check; the message is the whole report. */
export class CelSyntaxError extends Error {
  readonly issues: readonly Issue[];

  constructor(issues: readonly Issue[], text: string) {
    super(formatIssues(issues, text));
    this.issues = issues;
  }
}

/** Most problems that are reported; the reference stops at the same number. */
export const MAX_REPORTED_ISSUES = 100;
/** Longest line, in bytes, that is shown with a problem. */
const MAX_SNIPPET_BYTES = 16_384;

/** A line of an expression, measured once for all of its problems. */
interface Line {
  readonly shown: string;
  readonly runes: readonly string[];
  readonly isLong: boolean;
}

/** The report of the first problems that were found, in the order of their positions. */
function formatIssues(issues: readonly Issue[], text: string): string {
  const lines = text.split('\n').map((shown): Line => ({ shown, runes: Array.from(shown), isLong: byteLength(shown) > MAX_SNIPPET_BYTES }));
  const shown = issues.slice(0, MAX_REPORTED_ISSUES).sort((a, b) => a.offset - b.offset).map((issue) => formatIssue(issue, lines));
  if (issues.length > MAX_REPORTED_ISSUES) shown.push(`${issues.length - MAX_REPORTED_ISSUES} more errors were truncated`);
  return shown.join('\n');
}

function formatIssue(issue: Issue, lines: readonly Line[]): string {
  if (issue.offset < 0) return `ERROR: <input>:-1:0: ${issue.message}`;
  // An empty text has no line that could be shown.
  if (lines.length === 1 && lines[0]!.shown === '') return `ERROR: <input>:1:0: ${issue.message}`;
  let line = 0;
  let column = issue.offset;
  while (line < lines.length - 1 && column > lines[line]!.runes.length) column -= lines[line++]!.runes.length + 1;
  const title = `ERROR: <input>:${line + 1}:${column + 1}: ${issue.message}`;
  const { shown, runes, isLong } = lines[line]!;
  if (isLong) return title;
  const dots = runes.slice(0, column).map((rune) => (isWide(rune) ? '．' : '.'));
  while (dots.length < column) dots.push('.');
  const marker = isWide(runes[column] ?? ' ') ? '＾' : '^';
  return `${title}\n | ${shown.replace(/\t/g, ' ')}\n | ${dots.join('')}${marker}`;
}

function isWide(rune: string): boolean {
  return rune.codePointAt(0)! > 127;
}
