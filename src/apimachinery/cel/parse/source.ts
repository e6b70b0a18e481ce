// Expression texts and the problems found in them: positions count runes, and a problem is shown under its line with a marker, as cel-go
// prints it. Wide runes get wide dots, tabs become spaces.

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

/** Line (from 1) and column (from 0) of a rune offset. */
function locate(runes: readonly string[], offset: number): { line: number; column: number; start: number } {
  let line = 1;
  let start = 0;
  for (let i = 0; i < offset && i < runes.length; i++) {
    if (runes[i] !== '\n') continue;
    line++;
    start = i + 1;
  }
  return { line, column: offset - start, start };
}

/** The report of all problems, in the order of their positions. */
function formatIssues(issues: readonly Issue[], text: string): string {
  const runes = Array.from(text);
  return [...issues].sort((a, b) => a.offset - b.offset).map((issue) => formatIssue(issue, runes)).join('\n');
}

function formatIssue(issue: Issue, runes: readonly string[]): string {
  if (issue.offset < 0) return `ERROR: <input>:-1:0: ${issue.message}`;
  const { line, column, start } = locate(runes, issue.offset);
  let end = start;
  while (end < runes.length && runes[end] !== '\n') end++;
  const snippet = runes.slice(start, end);
  const dots = snippet.slice(0, column).map((rune) => (isWide(rune) ? '．' : '.'));
  while (dots.length < column) dots.push('.');
  const marker = isWide(snippet[column] ?? ' ') ? '＾' : '^';
  return `ERROR: <input>:${line}:${column + 1}: ${issue.message}\n | ${snippet.join('').replace(/\t/g, ' ')}\n | ${dots.join('')}${marker}`;
}

function isWide(rune: string): boolean {
  return rune.codePointAt(0)! > 127;
}
