// YAML bodies as the reference reads them: go-yaml v2 turned into JSON by sigs.k8s.io/yaml. The syntax is left to the `yaml` package, loaded on
// the first YAML body; what scalars, keys, merges, aliases and duplicates mean, and the texts of the errors, are decided here.
import type { JsonValue } from '../../apimachinery/index.ts';
import type { Document, Node, YAMLError } from 'yaml';
import { MAX_JSON_DEPTH, parseJson } from '../json/json.ts';
import { writeJson } from '../json/write.ts';
import { decodeUtf8, encodeUtf8 } from '../utf8.ts';
import { Converter } from './convert.ts';
import { TAB_INDENT, YamlError, explainSyntax } from './error.ts';
import { indentFlow } from './flow-indent.ts';

export { YamlError } from './error.ts';
export { stringifyYaml } from './write.ts';

interface ParsedYaml {
  readonly value: JsonValue;
  /** Keys set twice in one map, as `line 12: key "x" already set in map`; see formatYamlDuplicates. At most 100. */
  readonly duplicates: readonly string[];
}

/** Parses YAML: see parseYaml. */
export type ParseYaml = (bytes: Uint8Array) => Promise<ParsedYaml>;

/** A parsed text as JSON text, which crosses threads at little cost. */
export interface YamlJson {
  readonly json: string;
  readonly duplicates: readonly string[];
}

/** Longer texts, and those of more pieces, take so long that another thread should parse them: 2,000 pieces take 10 to 20 ms. */
const LONG_BYTES = 16 * 1024;
const MANY_PIECES = 2000;
/** Bytes that begin or end a piece. An ordinary text has one or two of them to thirty bytes. */
const pieceMarks = Uint8Array.from({ length: 256 }, (_, byte) => ('\n,:[]{}?&*!'.includes(String.fromCharCode(byte)) ? 1 : 0));

/**
 * Parses the first document of a YAML text (JSON is YAML too); throws YamlError. An empty text is null; the last of equal keys wins. A long text
 * or one of many pieces that is no plain JSON is left to `parseElsewhere`, where there is one.
 */
export async function parseYaml(bytes: Uint8Array, parseElsewhere?: (bytes: Uint8Array) => Promise<YamlJson>): Promise<ParsedYaml> {
  const plain = parsePlainJson(bytes);
  if (plain !== undefined) return plain;
  if (parseElsewhere === undefined || !isLong(bytes)) return parseWith(await import('yaml'), bytes);
  const { json, duplicates } = await parseElsewhere(bytes);
  return { value: parseJson(encodeUtf8(json)).value, duplicates };
}

function isLong(bytes: Uint8Array): boolean {
  if (bytes.length > LONG_BYTES) return true;
  let pieces = 0;
  for (const byte of bytes) pieces += pieceMarks[byte] as number;
  return pieces > MANY_PIECES;
}

/** What parseYaml reads, as JSON text: for a worker. Throws YamlError. */
export async function parseYamlToJson(bytes: Uint8Array): Promise<YamlJson> {
  const { value, duplicates } = parseWith(await import('yaml'), bytes);
  return { json: writeJson(value), duplicates };
}

/** The one error that the reference makes of all duplicates of a text. */
export function formatYamlDuplicates(duplicates: readonly string[]): string {
  return `yaml: unmarshal errors:\n  ${duplicates.join('\n  ')}`;
}

/** Clients mostly send JSON where YAML is allowed; unless something is special about it, it means the same. */
function parsePlainJson(bytes: Uint8Array): ParsedYaml | undefined {
  if (bytes[0] !== 0x7b) return undefined;
  try {
    const { value, duplicates, oddNumbers } = parseJson(bytes);
    return duplicates.length === 0 && oddNumbers === undefined ? { value, duplicates } : undefined;
  } catch {
    return undefined;
  }
}

const forbidden = /[^\t\n\r\x20-\x7e\x85\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

function parseWith(yaml: typeof import('yaml'), bytes: Uint8Array): ParsedYaml {
  const text = decodeUtf8(bytes);
  if (text.includes('\uFFFD') && !Buffer.from(text).equals(bytes)) throw new YamlError('yaml: invalid leading UTF-8 octet');
  if (forbidden.test(text)) throw new YamlError('yaml: control characters are not allowed');
  const { document, lines } = readLeniently(yaml, text);
  if (document === undefined || document.contents === null) return { value: null, duplicates: [] };
  const converter = new Converter(yaml, lines);
  const value = converter.convert(document.contents as Node);
  return { value, duplicates: converter.duplicates };
}

type Yaml = typeof import('yaml');

interface ReadDocument {
  readonly document: Document | undefined;
  readonly lines: import('yaml').LineCounter;
}

function readDocument(yaml: Yaml, text: string): ReadDocument {
  const lines = new yaml.LineCounter();
  return { document: readFirstDocument(yaml, text, lines), lines };
}

/** The first document; where it cannot be read, that of the text with the lines inside brackets and quotes indented. */
function readLeniently(yaml: Yaml, text: string): ReadDocument {
  const first = readDocument(yaml, text);
  const error = first.document?.errors[0] as YAMLError | undefined;
  if (error === undefined) return first;
  const { text: indented, tabAt } = indentFlow(text);
  if (tabAt !== undefined) throw new YamlError(`yaml: line ${text.slice(0, tabAt).split('\n').length}: ${TAB_INDENT}`);
  const second = indented === undefined ? undefined : readDocument(yaml, indented);
  if (second?.document?.errors.length === 0) return second;
  throw explainSyntax(error, text, (offset) => first.lines.linePos(offset).line);
}

/**
 * Most lexical pieces of a text, and deepest flow brackets: the syntax tree takes about a kilobyte a piece, so that without a limit a body of a
 * few megabytes could exhaust the memory. Ordinary texts reach it at more than a megabyte.
 */
const MAX_LEXEMES = 300_000;

/** Lexemes before the root: space, comments, directives, the start of the document, an anchor or a tag; \x02 is the mark of the lexer for a document. */
const comesBefore = /^(?:[\s#%&!\x02\ufeff]|---|$)/;

/**
 * Whether a document ends where the brackets of its root are closed, though there is more: the reference reads the first document, and of what
 * follows only one token, which must be one. A colon behind the brackets makes a key of them.
 */
function endsDocument(text: string, end: number): boolean {
  let at = end;
  let lineStart = -1;
  for (let inComment = false; at < text.length; at++) {
    const char = text[at] as string;
    inComment = char !== '\n' && (inComment || char === '#');
    if (char === '\n') lineStart = at + 1;
    else if (!inComment && char !== ' ' && char !== '\r' && (char !== '\t' || lineStart >= 0)) break;
  }
  const token = text.slice(at, at + 3);
  if (token === '' || (at === lineStart && (token === '---' || token === '...'))) return false;
  if (/^[@`\t]/.test(token) || (token.startsWith('%') && at !== lineStart)) return false;
  if (token.startsWith('"') || token.startsWith("'")) return text.includes(token[0] as string, at + 1);
  return lineStart >= 0 || !/^[-?:](?:\s|$)/.test(token);
}

function* readTokens(yaml: typeof import('yaml'), text: string, lines: import('yaml').LineCounter): Generator<import('yaml').CST.Token, void> {
  const parser = new yaml.Parser(lines.addNewLine);
  let left = MAX_LEXEMES;
  let depth = 0;
  /** Whether the root is in flow brackets; undefined before it. */
  let isFlow: boolean | undefined;
  lines.addNewLine(0);
  for (const lexeme of new yaml.Lexer().lex(text)) {
    const opens = lexeme === '[' || lexeme === '{';
    if (!comesBefore.test(lexeme)) isFlow ??= opens;
    if (opens) depth++;
    else if (lexeme === ']' || lexeme === '}') depth--;
    if (depth > MAX_JSON_DEPTH) throw new YamlError('yaml: exceeded max depth');
    if (--left < 0) throw new YamlError('yaml: document is too complex');
    yield* parser.next(lexeme);
    if (isFlow !== true || depth > 0) continue;
    if (endsDocument(text, parser.offset)) break;
    isFlow = false;
  }
  yield* parser.end();
}

function readFirstDocument(yaml: typeof import('yaml'), text: string, lines: import('yaml').LineCounter): Document | undefined {
  const composer = new yaml.Composer({ version: '1.1', schema: 'failsafe', merge: false, uniqueKeys: false, lineCounter: lines, logLevel: 'silent' });
  try {
    for (const document of composer.compose(readTokens(yaml, text, lines))) return document as Document;
    for (const document of composer.end()) return document as Document;
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) throw new YamlError('yaml: exceeded max depth');
    throw error;
  }
}
