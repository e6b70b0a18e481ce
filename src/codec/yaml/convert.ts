// What the nodes of a YAML document mean to the reference: anchors, merge keys, tags, duplicate keys. The tree comes from the `yaml` package; values
// are the JSON that sigs.k8s.io/yaml makes of them.
import type { JsonObject, JsonValue } from '../../apimachinery/index.ts';
import type { Node, Pair, Scalar } from 'yaml';
import { MAX_JSON_DEPTH } from '../json/json.ts';
import { decodeUtf8 } from '../utf8.ts';
import { YamlError } from './error.ts';
import { resolvePlain } from './scalar.ts';

const EXCESSIVE_ALIASING = 'yaml: document contains excessive aliasing';
/** The bound on bodies holds for what aliases add to one. */
const MAX_ALIASED_BYTES = 3 * 1024 * 1024;
/** About what a value takes besides its text. */
const NODE_BYTES = 4;

/** The length of a scalar's text, which bounds the work that its value takes; 0 for other nodes. */
const textLengthOf = (node: Node | null): number => {
  const value = (node as { value?: unknown } | null)?.value;
  return typeof value === 'string' ? value.length : 0;
};

const standardTags = /^(?:tag:yaml\.org,2002:|!!)(str|int|float|bool|null|binary|map|seq|timestamp|merge)$/;
const MAX_DUPLICATES = 100;

/** Turns nodes into values in document order, which is the order in which anchors come into force. */
export class Converter {
  readonly duplicates: string[] = [];
  private readonly yaml: typeof import('yaml');
  private readonly lines: import('yaml').LineCounter;
  private readonly anchors = new Map<string, Node>();
  private readonly open = new Set<Node>();
  private decoded = 0;
  private aliased = 0;
  private aliasedBytes = 0;
  private aliasDepth = 0;
  private depth = 0;

  constructor(yaml: typeof import('yaml'), lines: import('yaml').LineCounter) {
    this.yaml = yaml;
    this.lines = lines;
  }

  convert(node: Node | null): JsonValue {
    if (node === null) return null;
    this.count(textLengthOf(node));
    if (this.yaml.isAlias(node)) return this.convertAlias(node.source);
    const anchor = (node as { anchor?: string }).anchor;
    if (anchor !== undefined && this.aliasDepth === 0) this.anchors.set(anchor, node);
    if (this.yaml.isScalar(node)) return this.convertScalar(node);
    if (++this.depth > MAX_JSON_DEPTH) throw new YamlError('yaml: exceeded max depth');
    this.open.add(node);
    let value: JsonValue;
    if (this.yaml.isMap(node)) this.fill((value = {}), node.items as Pair[], new Set());
    else value = (node as unknown as { items: Node[] }).items.map((item) => this.convert(item));
    this.open.delete(node);
    this.depth--;
    return value;
  }

  /**
   * The rule of go-yaml against alias bombs: of many decoded nodes only a part may come from aliases, the smaller the more there are. What aliases
   * add is bounded in bytes too, as a body is; the reference counts nodes only and copies a large scalar as often as it is named.
   */
  private count(textLength = 0): void {
    this.decoded++;
    if (this.aliasDepth > 0) {
      this.aliased++;
      this.aliasedBytes += textLength + NODE_BYTES;
      if (this.aliasedBytes > MAX_ALIASED_BYTES) throw new YamlError(EXCESSIVE_ALIASING);
    }
    if (this.aliased <= 100 || this.decoded <= 1000) return;
    const allowed = this.decoded <= 400_000 ? 0.99 : Math.max(0.1, 0.99 - (0.89 * (this.decoded - 400_000)) / 3_600_000);
    if (this.aliased / this.decoded > allowed) throw new YamlError(EXCESSIVE_ALIASING);
  }

  private countAliasedKey(node: Scalar): void {
    this.aliasDepth++;
    this.count(textLengthOf(node));
    this.aliasDepth--;
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
      if (seen.has(name) && this.duplicates.length < MAX_DUPLICATES) this.duplicates.push(`line ${this.lineOf(pair)}: key ${shown} already set in map`);
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
    if (this.depth + 1 > MAX_JSON_DEPTH) throw new YamlError('yaml: exceeded max depth');
    if (alias) this.aliasDepth++;
    this.depth++;
    this.open.add(map);
    this.fill(into, map.items as Pair[], seen);
    this.open.delete(map);
    this.depth--;
    if (alias) this.aliasDepth--;
  }

  private convertKey(key: Node | null): { name: string; shown: string } {
    const isAlias = this.yaml.isAlias(key);
    const node = isAlias ? this.resolveAlias(key.source) : key;
    if (node !== null && !this.yaml.isScalar(node)) throw new YamlError('yaml: invalid map key');
    if (isAlias) this.countAliasedKey(node as Scalar);
    else if (node !== null) this.convert(node);
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
