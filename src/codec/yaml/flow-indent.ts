// Lines inside brackets and quotes, which go-yaml lets begin anywhere, also with tabs, and the `yaml` package wants to be indented below their key. A text
// that the package refuses is read once more with such lines indented; white space at their beginning means nothing.
//
//   a: {            a: {
//   b: "c      →        b: "c
//   d"}                 d"}
//
// The scan follows brackets, quotes, comments and block scalars, no more: where it loses its way the text stays refused.

/** Brackets and quotes further to the right are not followed: every line in them would become as long. */
const MAX_COLUMN = 200;

/** Spaces that are put into a text at most. */
const MAX_ADDED = 2 ** 22;

/** What a scan finds. */
interface Indented {
  /** The text with the lines inside brackets and quotes indented; absent where there are none, or the scan loses its way. */
  readonly text?: string;
  /** The place of a tab before the second line of a plain text, which go-yaml refuses. */
  readonly tabAt?: number;
}

/** Indents the lines inside brackets and quotes. */
export function indentFlow(text: string): Indented {
  return new FlowScan(text).run();
}

const FLOW_SIGNS = ',[]{}';
const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t' || char === '\r';
const isSpace = (char: string | undefined): boolean => char === undefined || char === '\n' || isBlank(char);

class FlowScan {
  readonly #text: string;
  readonly #pieces: string[] = [];
  #copied = 0;
  #at = 0;
  /** How far lines inside the bracket or the quote are indented that is read. */
  #indent = 0;
  /** The column of the key or the dash that the value belongs to, and of what may become a key. */
  #keyColumn = 0;
  #tokenColumn = 0;
  #added = 0;
  #tabAt: number | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  run(): Indented {
    while (this.#at < this.#text.length) if (!this.#readLine()) return this.#tabAt === undefined ? {} : { tabAt: this.#tabAt };
    return this.#pieces.length === 0 ? {} : { text: this.#pieces.join('') + this.#text.slice(this.#copied) };
  }

  /** Reads a line of a block, and those that continue it; false where the scan loses its way. */
  #readLine(): boolean {
    const start = this.#at;
    this.#skipBlanks();
    const width = this.#at - start;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined || char === '\n') {
        this.#at += 1;
        return true;
      }
      const column = this.#at - start;
      this.#indent = column + 1;
      if (char === ':') this.#keyColumn = this.#tokenColumn;
      else if (char === '-' && isSpace(this.#text[this.#at + 1])) this.#keyColumn = column;
      else if (!isBlank(char)) this.#tokenColumn = column;
      if ('|>'.includes(char)) return this.#skipBlock(width);
      if (!this.#readToken(char)) return false;
    }
  }

  /** Reads what a token of a block begins with, or a plain text. */
  #readToken(char: string): boolean {
    const next = this.#text[this.#at + 1];
    if (isBlank(char) || ('-?:'.includes(char) && isSpace(next))) this.#at += 1;
    else if (char === '#') this.#at = this.#lineEnd();
    else if ('&!*'.includes(char)) this.#skipWord();
    else if ('"\'[{'.includes(char)) return this.#indent <= MAX_COLUMN && ('[{'.includes(char) ? this.#readBrackets() : this.#readQuotes(char));
    else this.#skipPlain();
    return true;
  }

  #skipBlanks(): void {
    while (isBlank(this.#text[this.#at])) this.#at += 1;
  }

  #lineEnd(): number {
    const end = this.#text.indexOf('\n', this.#at);
    return end < 0 ? this.#text.length : end;
  }

  /** A plain text ends with its line, at a comment, or where it turns out to be a key. */
  #skipPlain(): void {
    for (this.#at += 1; ; this.#at += 1) {
      const [char, next] = [this.#text[this.#at], this.#text[this.#at + 1]];
      if (char === undefined || char === '\n' || (char === ':' && isSpace(next)) || (isBlank(char) && next === '#')) return;
    }
  }

  /** A block scalar ends at the first line with less indentation than its own first line. */
  #skipBlock(width: number): boolean {
    const header = this.#text.slice(this.#at, this.#lineEnd());
    // The indentation is stated where the first line has more.
    if (/\d/.test(header)) return false;
    this.#at = this.#lineEnd() + 1;
    for (let own = 0; this.#at < this.#text.length; this.#at = this.#lineEnd() + 1) {
      const start = this.#at;
      while (this.#text[this.#at] === ' ') this.#at += 1;
      const indent = this.#at - start;
      if (isSpace(this.#text[this.#at])) continue;
      if (indent <= width || indent < own) {
        this.#at = start;
        return true;
      }
      own ||= indent;
    }
    return true;
  }

  #readQuotes(quote: string): boolean {
    for (this.#at += 1; this.#at < this.#text.length;) {
      const [char, next] = [this.#text[this.#at], this.#text[this.#at + 1]];
      if (char === '\n') {
        if (!this.#indentLine()) return false;
      } else if ((char === '\\' && quote === '"' && next !== '\n') || (char === quote && next === quote && quote === "'")) this.#at += 2;
      else {
        this.#at += 1;
        if (char === quote) return true;
      }
    }
    return false;
  }

  #readBrackets(): boolean {
    let depth = 0;
    let isPlain = false;
    while (this.#at < this.#text.length) {
      const [before, char = '', next] = [this.#text[this.#at - 1], this.#text[this.#at], this.#text[this.#at + 1]];
      if (char === '\n') {
        if (!this.#indentLine(isPlain)) return false;
      } else if (char === '#' && isSpace(before)) {
        this.#at = this.#lineEnd();
        isPlain = false;
      } else if (!isPlain && '"\''.includes(char)) {
        if (!this.#readQuotes(char)) return false;
      } else if (!isPlain && '&!'.includes(char)) this.#skipWord();
      else {
        this.#at += 1;
        depth += '[{'.includes(char) ? 1 : ']}'.includes(char) ? -1 : 0;
        if (depth === 0) return true;
        const isKey = char === ':' && (!isPlain || isSpace(next) || FLOW_SIGNS.includes(next as string));
        if (FLOW_SIGNS.includes(char) || isKey) isPlain = false;
        else if (!isBlank(char) && (char !== '?' || !isSpace(next))) isPlain = true;
      }
    }
    return false;
  }

  /** An anchor, a tag or an alias. */
  #skipWord(): void {
    for (this.#at += 1; !isSpace(this.#text[this.#at]) && !FLOW_SIGNS.includes(this.#text[this.#at] as string);) this.#at += 1;
  }

  /** Passes the end of a line inside brackets or quotes; false where a document ends there, or a plain text continues behind a tab. */
  #indentLine(isPlain = false): boolean {
    const start = this.#at += 1;
    if (/^(?:---|\.\.\.)/.test(this.#text.slice(start, start + 3))) return false;
    this.#skipBlanks();
    const isEmpty = isSpace(this.#text[this.#at]);
    const blanks = this.#text.slice(start, this.#at);
    const tab = blanks.indexOf('\t');
    if (isPlain && tab >= 0 && tab <= this.#keyColumn) {
      this.#tabAt = start;
      return false;
    }
    if (tab < 0 && (isEmpty || blanks.length >= this.#indent)) return true;
    this.#pieces.push(this.#text.slice(this.#copied, start), isEmpty ? '' : ' '.repeat(this.#indent));
    this.#copied = this.#at;
    this.#added += this.#indent;
    return this.#added <= MAX_ADDED;
  }
}
