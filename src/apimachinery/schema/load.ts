// Schemas compiled from data in the notation of notation.ts, each definition on first use. References stay lazy, so that recursion
// (JSONSchemaProps in itself) and definitions that are not used cost nothing.
import { type Description, parseDescriptions } from './descriptions.ts';
import { type DefinitionText, type FieldText, parseDefinition, scanDefinitions, scanKinds } from './notation.ts';
import type { Field, Schema, SchemaFormat, SchemaSet, SchemaType } from './schema.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const scalars: Readonly<Record<string, Schema>> = {
  string: { type: 'string' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bool: { type: 'boolean' },
  bytes: { type: 'string', format: 'byte' },
};
const basicDefinitions: Readonly<Record<string, string>> = {
  Quantity: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
  IntOrString: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
  RawExtension: 'io.k8s.apimachinery.pkg.runtime.RawExtension',
  Time: 'io.k8s.apimachinery.pkg.apis.meta.v1.Time',
  MicroTime: 'io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime',
  FieldsV1: 'io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1',
  JSON: 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON',
};
const formatTypes: Readonly<Record<string, SchemaType>> = { time: 'string', 'micro-time': 'string', quantity: 'string' };
const ruleWords = ['list', 'keys', 'map', 'patch', 'merge', 'go'];
const typeMeta: readonly FieldText[] = ['kind', 'apiVersion'].map((name) => ({ name, number: 0, type: 'string', flags: '?', words: new Map() }));

/** Makes a set of the definitions in `data`; a name that comes twice keeps its first definition. */
export function loadSchemas(data: readonly string[], descriptions: readonly string[] = []): SchemaSet {
  return new LoadedSchemas(data, descriptions);
}

class LoadedSchemas implements SchemaSet {
  readonly #lines = new Map<string, string>();
  readonly #compiled = new Map<string, Schema>();
  readonly #kinds = new Map<string, string>();
  /** `core.v1.PodSpec` to its full name. */
  readonly #shortNames = new Map<string, string>();
  readonly #descriptionTexts: readonly string[];
  #descriptions: ReadonlyMap<string, Description> | undefined;
  #names: readonly string[] | undefined;

  constructor(data: readonly string[], descriptions: readonly string[]) {
    this.#descriptionTexts = descriptions;
    for (const text of data) {
      scanDefinitions(text, (name, line) => {
        if (this.#lines.has(name)) return;
        this.#lines.set(name, line);
        this.#shortNames.set(name.split('.').slice(-3).join('.'), name);
        for (const kind of scanKinds(line)) if (!this.#kinds.has(kind)) this.#kinds.set(kind, name);
      });
    }
  }

  describe(name: string): Description | undefined {
    this.#descriptions ??= parseDescriptions(this.#descriptionTexts);
    return this.#descriptions.get(name) ?? this.#descriptions.get('*');
  }

  definition(name: string): Schema | undefined {
    const compiled = this.#compiled.get(name);
    if (compiled !== undefined) return compiled;
    const line = this.#lines.get(name);
    if (line === undefined) return undefined;
    const schema = this.#compile(name, parseDefinition(line));
    this.#compiled.set(name, schema);
    return schema;
  }

  forKind(gvk: { group: string; version: string; kind: string }): Schema | undefined {
    const name = this.#kinds.get(`${gvk.group}/${gvk.version}/${gvk.kind}`);
    return name === undefined ? undefined : this.definition(name);
  }

  names(): readonly string[] {
    return (this.#names ??= Object.freeze([...this.#lines.keys()].sort()));
  }

  #compile(name: string, text: DefinitionText): Schema {
    const packageName = name.slice(0, name.lastIndexOf('.'));
    const format = text.words.get('format') as SchemaFormat | undefined;
    const schema: Mutable<Schema> = { type: format === undefined ? 'object' : (formatTypes[format] ?? 'any'), name };
    setRules(schema, text.words);
    const kinds = text.words.get('kinds')?.split(',').map((kind) => kind.split('/'));
    if (kinds) schema.kinds = kinds.map(([group, version, kind]) => ({ group: group!, version: version!, kind: kind! }));
    if (text.words.has('unions')) schema.unions = JSON.parse(text.words.get('unions')!);
    if (format !== undefined) {
      schema.format = format;
      if (format.startsWith('schema-or-')) defineLazy(schema, 'items', () => this.#resolve(`${packageName}.JSONSchemaProps`));
      return schema;
    }
    const fields = text.words.has('typed') ? [...typeMeta, ...text.fields] : text.fields;
    schema.fields = new Map(fields.map((field) => [field.name, this.#compileField(packageName, field)]));
    return schema;
  }

  #compileField(packageName: string, text: FieldText): Field {
    const pointer = text.flags.includes('*');
    const omitEmpty = text.flags.includes('?');
    const published = readDefault(text, pointer || omitEmpty);
    const around = text.words.get('in')?.split('.');
    return new LazyField({
      name: text.name,
      default: isZero(published) ? undefined : published,
      publishedDefault: published,
      publishedEnum: text.words.get('enum')?.split('|').map((value) => value.replaceAll('_', ' ')),
      required: text.flags.includes('!'),
      omitEmpty,
      pointer,
      number: text.number,
      inlined: around?.map((part) => Number.parseInt(part, 10)),
      embeddedIn: around?.map((part) => part.slice(part.indexOf(':') + 1)),
      bareReference: text.words.has('bare'),
      keepsEmpty: text.words.has('kept'),
    }, () => this.#typeOf(packageName, text.type, text.words));
  }

  #typeOf(packageName: string, type: string, words: ReadonlyMap<string, string>): Schema {
    const prefix = type.slice(0, 2);
    if (prefix === '[]' || prefix === '()' || prefix === '{}') return this.#collectionOf(packageName, type, words);
    const base = scalars[type] ?? this.#resolve(nameOf(packageName, type, this.#shortNames));
    if (!ruleWords.some((word) => words.has(word))) return base;
    const schema: Mutable<Schema> = { ...base };
    setRules(schema, words);
    if (words.has('map')) schema.ownMapType = true;
    return schema;
  }

  #collectionOf(packageName: string, type: string, words: ReadonlyMap<string, string>): Schema {
    const goType = words.get('go');
    const itemGoType = goType?.startsWith('[]') ? new Map([['go', goType.slice(2)]]) : new Map<string, string>();
    const schema: Mutable<Schema> = { type: type.startsWith('{}') ? 'map' : 'array' };
    if (type.startsWith('()')) schema.format = 'wrapped';
    setRules(schema, words);
    const itemType = type.slice(2);
    const isScalar = itemType in scalars;
    defineLazy(schema, 'items', () => this.#typeOf(packageName, itemType, isScalar ? itemGoType : new Map()));
    return schema;
  }

  #resolve(name: string): Schema {
    const schema = this.definition(name);
    if (schema === undefined) throw new Error(`no schema of the name ${name}`);
    return schema;
  }
}

/**
 * A field whose schema is compiled when it is first asked for. All fields have one shape: an own getter that becomes a value puts an object into the
 * engine's slow mode, where a member takes 25 times as long to read, and each walk over an object reads a hundred of them.
 */
class LazyField implements Field {
  readonly name: string;
  readonly default: unknown;
  readonly publishedDefault: unknown;
  readonly publishedEnum: readonly string[] | undefined;
  readonly required: boolean;
  readonly omitEmpty: boolean;
  readonly pointer: boolean;
  readonly number: number;
  readonly inlined: readonly number[] | undefined;
  readonly embeddedIn: readonly string[] | undefined;
  readonly bareReference: boolean | undefined;
  readonly keepsEmpty: boolean | undefined;
  readonly #compile: () => Schema;
  #schema: Schema | undefined;

  constructor(said: Omit<Field, 'schema'>, compile: () => Schema) {
    this.name = said.name;
    this.default = said.default;
    this.publishedDefault = said.publishedDefault;
    this.publishedEnum = said.publishedEnum;
    this.required = said.required;
    this.omitEmpty = said.omitEmpty;
    this.pointer = said.pointer;
    this.number = said.number;
    this.inlined = said.inlined;
    this.embeddedIn = said.embeddedIn;
    this.bareReference = said.bareReference;
    this.keepsEmpty = said.keepsEmpty;
    this.#compile = compile;
  }

  get schema(): Schema {
    return (this.#schema ??= this.#compile());
  }
}

function nameOf(packageName: string, type: string, shortNames: ReadonlyMap<string, string>): string {
  const basic = basicDefinitions[type];
  if (basic !== undefined) return basic;
  return type.includes('.') ? (shortNames.get(type) ?? type) : `${packageName}.${type}`;
}

function setRules(schema: Mutable<Schema>, words: ReadonlyMap<string, string>): void {
  for (const [word, value] of words) {
    if (word === 'list') schema.listType = value as NonNullable<Schema['listType']>;
    else if (word === 'keys') schema.listMapKeys = value.split(',');
    else if (word === 'map') schema.mapType = value as NonNullable<Schema['mapType']>;
    else if (word === 'patch') schema.patchStrategy = value;
    else if (word === 'merge') schema.patchMergeKey = value;
    else if (word === 'go') schema.goType = value;
  }
}

function readDefault(text: FieldText, hasNoZero: boolean): unknown {
  const word = text.words.get('');
  if (word !== undefined) return word === '-' ? undefined : JSON.parse(word);
  if (hasNoZero || text.type === 'bytes' || /^[[{(]/.test(text.type)) return undefined;
  if (text.type === 'string') return '';
  if (text.type === 'bool') return false;
  if (text.type in scalars) return 0;
  return text.type in basicDefinitions ? undefined : empty;
}

const empty: unknown = Object.freeze({});

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false || value === empty || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}

/** Defines a property that is computed when first read and plain afterwards. */
function defineLazy<T extends object, K extends keyof T>(target: T, key: K, compute: () => T[K]): void {
  Object.defineProperty(target, key, {
    configurable: true,
    enumerable: true,
    get() {
      const value = compute();
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: false });
      return value;
    },
  });
}
