// Tokens of the expression language. Positions count runes; strings keep their raw text, which literals.ts interprets.
import { lengthAt, runeCount } from '../values/runes.ts';
import { type Issue, MAX_REPORTED_ISSUES } from './source.ts';

type TokenKind = 'ident' | 'escaped' | 'int' | 'uint' | 'float' | 'string' | 'bytes' | 'op' | 'end';

/** One word of an expression, and where it stands. */
export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly offset: number;
}

const operators = ['==', '!=', '<=', '>=', '&&', '||', '<', '>', '[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?', ':', '+', '*', '/', '%'];
const numberPattern = /0x[0-9a-fA-F]+[uU]?|(?:[0-9]+\.[0-9]+|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|[0-9]+[uU]?/y;
const identPattern = /[A-Za-z_][A-Za-z0-9_]*/y;
const spacePattern = /(?:[ \t\r\n\f]|\/\/[^\n]*)+/y;
const escapedPattern = /`[A-Za-z0-9_.\-/ ]+`/y;
const failedPattern = /[|&=]|`[A-Za-z0-9_.\-/ ]*/y;
const stringStart = /([rR][bB]|[bB][rR]|[bB]|[rR])?("""|'''|"|')/y;
const plainString = /(?:[^\\"'\n\r]|\\(?:[abfnrtv"'`?\\]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})|["'])/uy;

/** Characters that are no token, and how many there are. */
export interface LexIssue extends Issue {
  readonly runes: number;
}

/** The tokens of a text, `end` last. Characters that start no token are reported and skipped, until there are too many. */
export function lex(text: string, issues: LexIssue[]): Token[] {
  return new Lexer(text, issues).run();
}

class Lexer {
  readonly #text: string;
  readonly #issues: LexIssue[];
  readonly #tokens: Token[] = [];
  #at = 0;
  /** Rune offset of `#at`. */
  #offset = 0;

  constructor(text: string, issues: LexIssue[]) {
    this.#text = text;
    this.#issues = issues;
  }

  run(): Token[] {
    while (this.#skip(), this.#at < this.#text.length && this.#issues.length <= MAX_REPORTED_ISSUES) this.#next();
    this.#tokens.push({ kind: 'end', text: '<EOF>', offset: this.#offset });
    return this.#tokens;
  }

  #skip(): void {
    const space = this.#match(spacePattern);
    if (space !== undefined) this.#advance(space.length);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text)?.[0];
  }

  #advance(length: number): void {
    const end = this.#at + length;
    for (let i = this.#at; i < end; i++) {
      const code = this.#text.charCodeAt(i);
      if (code < 0xd800 || code > 0xdbff || i + 1 >= end) this.#offset++;
    }
    this.#at = end;
  }

  #next(): void {
    if (this.#readString()) return;
    const ident = this.#match(identPattern);
    if (ident !== undefined) return this.#push('ident', ident);
    const number = this.#match(numberPattern);
    if (number !== undefined) return this.#push(kindOfNumber(number), number);
    const escaped = this.#match(escapedPattern);
    if (escaped !== undefined) return this.#push('escaped', escaped);
    const operator = operators.find((op) => this.#text.startsWith(op, this.#at));
    if (operator !== undefined) return this.#push('op', operator);
    this.#reject(this.#failedLength());
  }

  /** The length of text that is no token: a lone `|`, `&` or `=`, or the start of a name in back-quotes, includes the next character, as in the reference. */
  #failedLength(): number {
    const begun = this.#match(failedPattern)?.length ?? 0;
    return begun + lengthAt(this.#text, this.#at + begun);
  }

  #push(kind: TokenKind, text: string): void {
    this.#tokens.push({ kind, text, offset: this.#offset });
    this.#advance(text.length);
  }

  #reject(length: number): void {
    const shown = this.#text.slice(this.#at, this.#at + length);
    this.#issues.push({ offset: this.#offset, message: `Syntax error: token recognition error at: '${shown}'`, runes: runeCount(shown) });
    this.#advance(shown.length);
  }

  #readString(): boolean {
    stringStart.lastIndex = this.#at;
    const start = stringStart.exec(this.#text);
    if (start === null) return false;
    const prefix = (start[1] ?? '').toLowerCase();
    const scan = scanString(this.#text, { from: this.#at + start[0].length, quote: start[2]!, raw: prefix.includes('r') });
    if (!scan.closed) return this.#rejectString({ prefix: start[1] ?? '', quote: start[2]!, failedAt: scan.end });
    this.#push(prefix.includes('b') ? 'bytes' : 'string', this.#text.slice(this.#at, scan.end));
    return true;
  }

  /** The longest token that a string without an end begins with: its prefix is a name, three quotes begin with an empty string. */
  #rejectString(start: { prefix: string; quote: string; failedAt: number }): boolean {
    const { prefix, quote, failedAt } = start;
    if (quote.length === 3) {
      this.#push(prefix.toLowerCase().includes('b') ? 'bytes' : 'string', this.#text.slice(this.#at, this.#at + prefix.length + 2));
      return true;
    }
    if (prefix !== '') return false;
    this.#reject(failedAt + lengthAt(this.#text, failedAt) - this.#at);
    return true;
  }
}

function kindOfNumber(text: string): TokenKind {
  if (/[uU]$/.test(text)) return 'uint';
  return !text.startsWith('0x') && /[.eE]/.test(text) ? 'float' : 'int';
}

/** A text as messages quote it. */
export function escapeShown(text: string): string {
  return text.replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');
}

/** Where a string ends, or the first character that it cannot hold. */
function scanString(text: string, options: { from: number; quote: string; raw: boolean }): { closed: boolean; end: number } {
  const { quote, raw } = options;
  const long = quote.length === 3;
  let at = options.from;
  while (at < text.length) {
    if (text.startsWith(quote, at)) return { closed: true, end: at + quote.length };
    const char = text[at]!;
    if (!long && (char === '\n' || char === '\r')) return { closed: false, end: at };
    if (raw || (long && (char === '\n' || char === '\r'))) {
      at++;
      continue;
    }
    plainString.lastIndex = at;
    const length = plainString.exec(text)?.[0].length;
    if (length === undefined) return { closed: false, end: endOfEscape(text, at) };
    at += length;
  }
  return { closed: false, end: text.length };
}

/** The character at which an escape sequence that is none fails. */
function endOfEscape(text: string, from: number): number {
  const digits = /\\(?:[xX][0-9a-fA-F]{0,1}|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/y;
  digits.lastIndex = from;
  return from + (digits.exec(text)?.[0].length ?? 0);
}
