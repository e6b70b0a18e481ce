// YAML as the reference writes it (go-yaml v2): keys in natural order, two spaces per level, sequences not indented under their key, lines folded
// at the first space after column 80, literal blocks for texts with line breaks. The styles follow libyaml's choice.
import { type JsonObject, type JsonValue } from '../../apimachinery/index.ts';
import { formatFloat, needsQuotes } from './scalar.ts';
import { compareKeys } from './key-order.ts';

const BEST_WIDTH = 80;
/** Longer keys are written in the explicit form, `? key`. */
const MAX_SIMPLE_KEY = 128;

/** The YAML text of a JSON value, with a newline at its end. */
export function stringifyYaml(value: unknown): string {
  const writer = new Writer();
  writer.writeNode(value as JsonValue, { indent: -1, inMapping: false, isKey: false });
  return writer.finish();
}

interface YamlPosition {
  /** Indentation of the parent collection, -1 at the root. */
  readonly indent: number;
  /** The parent is a mapping whose key stands on the same line. */
  readonly inMapping: boolean;
  readonly isKey: boolean;
}

class Writer {
  private readonly out: string[] = [];
  private column = 0;

  finish(): string {
    this.out.push('\n');
    return this.out.join('');
  }

  writeNode(value: JsonValue | undefined, place: YamlPosition): void {
    if (Array.isArray(value)) this.writeSequence(value, place);
    else if (typeof value === 'object' && value !== null) this.writeMapping(value, place);
    else this.writeScalar(value, place);
  }

  private put(text: string): void {
    this.out.push(text);
    this.column += text.length;
  }

  private newLine(indent: number): void {
    this.out.push('\n', ' '.repeat(indent));
    this.column = indent;
  }

  private writeSequence(items: readonly JsonValue[], place: YamlPosition): void {
    if (items.length === 0) return this.put(place.inMapping ? ' []' : '[]');
    const indent = place.inMapping ? Math.max(place.indent, 0) : place.indent + (place.indent < 0 ? 1 : 2);
    items.forEach((item, i) => {
      if (i > 0 || place.inMapping) this.newLine(indent);
      this.put('- ');
      this.writeNode(item, { indent, inMapping: false, isKey: false });
    });
  }

  private writeMapping(object: JsonObject, place: YamlPosition): void {
    const keys = Object.keys(object).filter((key) => object[key] !== undefined).sort(compareKeys);
    if (keys.length === 0) return this.put(place.inMapping ? ' {}' : '{}');
    const indent = place.indent < 0 ? 0 : place.indent + 2;
    keys.forEach((key, i) => {
      if (i > 0 || place.inMapping) this.newLine(indent);
      this.writeEntry(key, object[key], indent);
    });
  }

  private writeEntry(key: string, value: JsonValue | undefined, indent: number): void {
    if (key.includes('\n') || new TextEncoder().encode(key).length > MAX_SIMPLE_KEY) {
      this.put('? ');
      this.writeScalar(key, { indent, inMapping: false, isKey: false });
      this.newLine(indent);
      this.put(': ');
      return this.writeNode(value, { indent, inMapping: false, isKey: false });
    }
    this.writeScalar(key, { indent, inMapping: false, isKey: true });
    this.put(':');
    this.writeNode(value, { indent, inMapping: true, isKey: false });
  }

  private writeScalar(value: JsonValue | undefined, place: YamlPosition): void {
    if (place.inMapping) this.put(' ');
    if (typeof value === 'string') return this.writeString(value, place);
    if (typeof value === 'number') return this.put(formatNumber(value));
    this.put(value === undefined ? 'null' : String(value));
  }

  private writeString(text: string, place: YamlPosition): void {
    const indent = place.indent < 0 ? 2 : place.indent + 2;
    const style = chooseStyle(text, place.isKey);
    if (style === 'literal') return this.writeLiteral(text, indent);
    if (style === 'double') return this.writeDouble(text, { indent, fold: !place.isKey });
    const quote = style === 'single' ? "'" : '';
    this.put(quote);
    this.writeFolded(style === 'single' ? text.replaceAll("'", "''") : text, { indent, fold: !place.isKey, quoted: style === 'single' });
    this.put(quote);
  }

  /** Breaks the line at a single space once it has passed the best width. */
  private writeFolded(text: string, options: { indent: number; fold: boolean; quoted: boolean }): void {
    if (!options.fold || this.column + text.length <= BEST_WIDTH) return this.put(text);
    let start = 0;
    const lineStart = (): number => this.column - start;
    let base = lineStart();
    for (let i = text.indexOf(' '); i >= 0; i = text.indexOf(' ', i + 1)) {
      const inside = !options.quoted || (i > 0 && i < text.length - 1);
      if (!inside || base + i <= BEST_WIDTH || text[i - 1] === ' ' || text[i + 1] === ' ') continue;
      this.put(text.slice(start, i));
      this.newLine(options.indent);
      start = i + 1;
      base = lineStart();
    }
    this.put(text.slice(start));
  }

  private writeLiteral(text: string, indent: number): void {
    const hint = text.startsWith(' ') || text.startsWith('\n') ? '2' : '';
    const chomp = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : '';
    this.put(`|${hint}${chomp}`);
    const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
    for (const line of lines) {
      if (line === '') this.out.push('\n');
      else {
        this.newLine(indent);
        this.put(line);
      }
    }
  }

  private writeDouble(text: string, options: { indent: number; fold: boolean }): void {
    let line = '"';
    let index = 0;
    for (const c of text) {
      const isInside = index > 0 && index < text.length - 1;
      if (c === ' ' && options.fold && isInside && this.column + line.length > BEST_WIDTH && text[index - 1] !== ' ') {
        this.put(line);
        this.newLine(options.indent);
        line = text[index + 1] === ' ' ? '\\' : '';
      } else line += escapeDouble(c);
      index += c.length;
    }
    this.put(`${line}"`);
  }
}

/** Integers up to uint64 are written in digits. */
function formatNumber(value: number): string {
  return Number.isInteger(value) && value > -(2 ** 63) && value < 2 ** 64 ? BigInt(value).toString() : formatFloat(value);
}

type Style = 'plain' | 'single' | 'double' | 'literal';

/** Characters that only double quotes can show: controls, tab included, and what YAML takes for a line break. */
const unprintable = /[^\n\x20-\x7e\u00a0-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]|[\u2028\u2029]/u;
const blockIndicator = /^[#,[\]{}&*!|>'"%@`]|^[-?:](?:[\s]|$)|^(?:---|\.\.\.)|:(?:\s|$)|\s#/;

function chooseStyle(text: string, isKey: boolean): Style {
  if (unprintable.test(text) || / \n/.test(text)) return 'double';
  if (text.includes('\n')) return isKey || text.endsWith(' ') ? 'double' : 'literal';
  if (needsQuotes(text)) return 'double';
  return text.startsWith(' ') || text.endsWith(' ') || blockIndicator.test(text) ? 'single' : 'plain';
}

const named: Record<string, string> = {
  '\0': '\\0', '\x07': '\\a', '\b': '\\b', '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r', '\x1b': '\\e', '"': '\\"', '\\': '\\\\',
  '\x85': '\\N', '\u2028': '\\L', '\u2029': '\\P',
};

function escapeDouble(c: string): string {
  const short = named[c];
  if (short !== undefined) return short;
  if (!unprintable.test(c)) return c;
  const hex = (c.codePointAt(0) as number).toString(16).toUpperCase();
  return hex.length <= 2 ? `\\x${hex.padStart(2, '0')}` : hex.length <= 4 ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`;
}
