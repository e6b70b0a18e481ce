// YAML bodies as the reference reads them: go-yaml v2 turned into JSON by sigs.k8s.io/yaml. The syntax is left to the `yaml` package, loaded on
// the first YAML body; what scalars, keys, merges, aliases and duplicates mean, and the texts of the errors, are decided here.
import { type JsonObject, type JsonValue } from '../../apimachinery/index.ts';
import type { Document, Node, Pair, Scalar, YAMLError } from 'yaml';
import { maxJsonDepth, parseJson } from '../json/json.ts';
import { decodeUtf8 } from '../utf8.ts';
import { YamlError, explainSyntax } from './error.ts';
import { resolvePlain } from './scalar.ts';

export { YamlError } from './error.ts';
export { stringifyYaml } from './write.ts';

interface ParsedYaml {
  readonly value: JsonValue;
  /** Keys set twice in one map, as `line 12: key "x" already set in map`; see formatYamlDuplicates. At most 100. */
  readonly duplicates: readonly string[];
}

/** Parses YAML: see parseYaml. */
export type ParseYaml = (bytes: Uint8Array) => Promise<ParsedYaml>;

/** Longer texts take so long that somebody else should parse them. */
const longBytes = 16 * 1024;

/**
 * Parses the first document of a YAML text (JSON is YAML too); throws YamlError. An empty text is null; the last of equal keys wins. What is
 * long and no plain JSON is left to `aside`, where there is one.
 */
export async function parseYaml(bytes: Uint8Array, aside?: ParseYaml): Promise<ParsedYaml> {
  const plain = parsePlainJson(bytes);
  if (plain !== undefined) return plain;
  return aside !== undefined && bytes.length > longBytes ? aside(bytes) : parseWith(await import('yaml'), bytes);
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
  const lines = new yaml.LineCounter();
  const document = readFirstDocument(yaml, text, lines);
  if (document === undefined || document.contents === null) return { value: null, duplicates: [] };
  const error = document.errors[0] as YAMLError | undefined;
  if (error !== undefined) throw explainSyntax(error, text, (offset) => lines.linePos(offset).line);
  const converter = new Converter(yaml, lines);
  const value = converter.convert(document.contents as Node);
  return { value, duplicates: converter.duplicates };
}

/**
 * Most lexical pieces of a text, and deepest flow brackets: the syntax tree takes about a kilobyte a piece, so that without a limit a body of a
 * few megabytes could exhaust the memory. Ordinary texts reach it at more than a megabyte.
 */
const maxLexemes = 300_000;

function* readTokens(yaml: typeof import('yaml'), text: string, lines: import('yaml').LineCounter): Generator<import('yaml').CST.Token, void> {
  const parser = new yaml.Parser(lines.addNewLine);
  let left = maxLexemes;
  let depth = 0;
  lines.addNewLine(0);
  for (const lexeme of new yaml.Lexer().lex(text)) {
    if (lexeme === '[' || lexeme === '{') depth++;
    else if (lexeme === ']' || lexeme === '}') depth--;
    if (depth > maxJsonDepth) throw new YamlError('yaml: exceeded max depth');
    if (--left < 0) throw new YamlError('yaml: document is too complex');
    yield* parser.next(lexeme);
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

const standardTags = /^(?:tag:yaml\.org,2002:|!!)(str|int|float|bool|null|binary|map|seq|timestamp|merge)$/;
const maxDuplicates = 100;

/** Turns nodes into values in document order, which is the order in which anchors come into force. */
class Converter {
  readonly duplicates: string[] = [];
  private readonly yaml: typeof import('yaml');
  private readonly lines: import('yaml').LineCounter;
  private readonly anchors = new Map<string, Node>();
  private readonly open = new Set<Node>();
  private decoded = 0;
  private aliased = 0;
  private aliasDepth = 0;
  private depth = 0;

  constructor(yaml: typeof import('yaml'), lines: import('yaml').LineCounter) {
    this.yaml = yaml;
    this.lines = lines;
  }

  convert(node: Node | null): JsonValue {
    if (node === null) return null;
    this.count();
    if (this.yaml.isAlias(node)) return this.convertAlias(node.source);
    const anchor = (node as { anchor?: string }).anchor;
    if (anchor !== undefined && this.aliasDepth === 0) this.anchors.set(anchor, node);
    if (this.yaml.isScalar(node)) return this.convertScalar(node);
    if (++this.depth > maxJsonDepth) throw new YamlError('yaml: exceeded max depth');
    this.open.add(node);
    let value: JsonValue;
    if (this.yaml.isMap(node)) this.fill((value = {}), node.items as Pair[], new Set());
    else value = (node as unknown as { items: Node[] }).items.map((item) => this.convert(item));
    this.open.delete(node);
    this.depth--;
    return value;
  }

  /** The rule of go-yaml against alias bombs: of many decoded nodes only a part may come from aliases, the smaller the more there are. */
  private count(): void {
    this.decoded++;
    if (this.aliasDepth > 0) this.aliased++;
    if (this.aliased <= 100 || this.decoded <= 1000) return;
    const allowed = this.decoded <= 400_000 ? 0.99 : Math.max(0.1, 0.99 - (0.89 * (this.decoded - 400_000)) / 3_600_000);
    if (this.aliased / this.decoded > allowed) throw new YamlError('yaml: document contains excessive aliasing');
  }

  private resolveAlias(name: string): Node {
    const target = this.anchors.get(name);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${name}' referenced`);
    if (this.open.has(target)) throw new YamlError(`yaml: anchor '${name}' value contains itself`);
    return target;
  }

  private convertAlias(name: string): JsonValue {
    const target = this.resolveAlias(name);
    this.aliasDepth++;
    const value = this.convert(target);
    this.aliasDepth--;
    return value;
  }

  private convertScalar(node: Scalar): JsonValue {
    const value = this.resolve(node);
    if (typeof value === 'number' && !Number.isFinite(value)) {
      throw new YamlError(`json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`);
    }
    return value;
  }

  private resolve(node: Scalar): null | boolean | number | bigint | string {
    const text = node.value === null ? '' : String(node.value);
    const tag = node.tag === undefined ? undefined : standardTags.exec(node.tag)?.[1];
    if (node.tag === '!' || (node.tag !== undefined && tag === undefined) || tag === 'str' || tag === 'timestamp') return text;
    if (tag === 'binary') return decodeBinary(text);
    if (tag === undefined) return node.type === 'PLAIN' || node.type === undefined ? resolvePlain(text) : text;
    const value = resolvePlain(text);
    if (tag === 'float' && typeof value === 'number') return value;
    if (tagOf(value) !== tag) throw new YamlError(`yaml: cannot decode !!${tagOf(value)} \`${text}\` as a !!${tag}`);
    return value;
  }

  private fill(into: JsonObject, pairs: readonly Pair[], seen: Set<string>): void {
    for (const pair of pairs) {
      const key = pair.key as Node | null;
      if (this.isMerge(key)) {
        this.merge(into, pair.value as Node | null, seen);
        continue;
      }
      const { name, shown } = this.convertKey(key);
      const value = this.convert(pair.value as Node | null);
      if (seen.has(name) && this.duplicates.length < maxDuplicates) this.duplicates.push(`line ${this.lineOf(pair)}: key ${shown} already set in map`);
      seen.add(name);
      if (name === '__proto__') Object.defineProperty(into, name, { value, writable: true, enumerable: true, configurable: true });
      else into[name] = value;
    }
  }

  /** The line where the value stands, or the key when the value is empty. */
  private lineOf(pair: Pair): number {
    const at = (node: unknown): number | undefined => (node as Node | null)?.range?.[0];
    return this.lines.linePos(at(pair.value) ?? at(pair.key) ?? 0).line;
  }

  private isMerge(key: Node | null): boolean {
    return this.yaml.isScalar(key) && key.value === '<<' && key.type === 'PLAIN' && key.tag === undefined;
  }

  /** Values of a merged map win over what stands before the merge; of several maps the first wins. */
  private merge(into: JsonObject, source: Node | null, seen: Set<string>): void {
    if (this.yaml.isSeq(source)) {
      for (const item of [...source.items].reverse()) this.mergeMap(into, item as Node, seen);
    } else this.mergeMap(into, source, seen);
  }

  private mergeMap(into: JsonObject, source: Node | null, seen: Set<string>): void {
    const alias = this.yaml.isAlias(source);
    const map = alias ? this.resolveAlias(source.source) : source;
    if (!this.yaml.isMap(map)) throw new YamlError('yaml: map merge requires map or sequence of maps as the value');
    this.count();
    if (this.depth + 1 > maxJsonDepth) throw new YamlError('yaml: exceeded max depth');
    if (alias) this.aliasDepth++;
    this.depth++;
    this.open.add(map);
    this.fill(into, map.items as Pair[], seen);
    this.open.delete(map);
    this.depth--;
    if (alias) this.aliasDepth--;
  }

  private convertKey(key: Node | null): { name: string; shown: string } {
    const node = this.yaml.isAlias(key) ? this.resolveAlias(key.source) : key;
    if (node !== null && !this.yaml.isScalar(node)) throw new YamlError('yaml: invalid map key');
    if (node !== null && !this.yaml.isAlias(key)) this.convert(node);
    const value = node === null ? null : this.resolve(node);
    if (value === null) throw new YamlError('unsupported map key of type: invalid, key: <nil>');
    if (typeof value === 'string') return { name: value, shown: JSON.stringify(value) };
    const name = value === Number.POSITIVE_INFINITY ? '+Inf' : value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
    return { name, shown: name };
  }
}

function tagOf(value: null | boolean | number | bigint | string): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'str';
  return typeof value === 'bigint' || Number.isInteger(value) ? 'int' : 'float';
}

function decodeBinary(text: string): string {
  const compact = text.replace(/[\r\n]/g, '');
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(compact) || compact.length % 4 !== 0) throw new YamlError('yaml: !!binary value contains invalid base64 data');
  return decodeUtf8(Uint8Array.from(atob(compact), (c) => c.charCodeAt(0)));
}
