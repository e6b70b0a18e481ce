// The tokens of a text with their types, and the text between them as messages show it.
import { type LexIssue, type Token, escapeShown } from '../parse/lex.ts';
import { runeCount } from '../values/runes.ts';
import { keywords } from '../parse/grammar.ts';
import { END_TYPE, typeOf } from './grammar.ts';

const typeOfKind: Readonly<Record<Exclude<Token['kind'], 'op'>, number>> = {
  ident: typeOf('IDENTIFIER'), escaped: typeOf('ESC_IDENTIFIER'), int: typeOf('NUM_INT'), uint: typeOf('NUM_UINT'), float: typeOf('NUM_FLOAT'),
  string: typeOf('STRING'), bytes: typeOf('BYTES'), end: END_TYPE,
};

/** Reads the tokens one after another. */
export class TokenReader {
  readonly #runes: readonly string[];
  readonly #tokens: readonly Token[];
  readonly #skipped: readonly LexIssue[];
  #at = 0;
  /** The last token that was looked at. */
  #seen = 0;

  constructor(text: string, tokens: readonly Token[], skipped: readonly LexIssue[]) {
    this.#runes = Array.from(text);
    this.#tokens = tokens;
    this.#skipped = skipped;
  }

  get at(): number {
    return this.#at;
  }

  /** The token so many after the next one; the end follows the end. */
  ahead(distance: number): Token {
    const index = Math.min(this.#at + distance, this.#tokens.length - 1);
    this.#seen = Math.max(this.#seen, index);
    return this.#tokens[index]!;
  }

  typeAt(distance: number): number {
    const { kind, text } = this.ahead(distance);
    return kind === 'op' || (kind === 'ident' && keywords.has(text)) ? typeOf(`'${text}'`) : typeOfKind[kind];
  }

  get next(): Token {
    return this.ahead(0);
  }

  get before(): Token | undefined {
    return this.#tokens[this.#at - 1];
  }

  advance(): void {
    if (this.next.kind !== 'end') this.#at++;
  }

  /** The problems of the characters before the last token that was looked at. */
  get problems(): readonly LexIssue[] {
    const { offset } = this.#tokens[this.#seen]!;
    return this.#skipped.filter((issue) => issue.offset < offset);
  }

  /** The text from the next token to the one so many after it, without what is no token; the end has no text. */
  shown(distance: number): string {
    const first = this.next;
    if (first.kind === 'end') return '<EOF>';
    const last = this.ahead(distance);
    const end = last.kind === 'end' ? last.offset : last.offset + runeCount(last.text);
    let shown = '';
    let from = first.offset;
    for (const { offset, runes } of this.#skipped) {
      if (offset < from || offset >= end) continue;
      shown += this.#runes.slice(from, offset).join('');
      from = offset + runes;
    }
    return escapeShown(shown + this.#runes.slice(from, end).join(''));
  }
}
