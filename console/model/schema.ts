// Schemas of kinds: what their fields allow, the rules that they hold, and an object that they accept.

/** A schema, as far as it is shown. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly nullable?: boolean;
  readonly oneOf?: readonly { readonly type?: string }[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message?: string; readonly messageExpression?: string }[];
}

/** A rule and where it holds. */
export interface SchemaRule {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

/** Schemas may refer to themselves in depth; a page does not. */
const DEEPEST = 20;

/** The types that a value may have; none where any will do. */
export function typesOf({ type, oneOf = [], ...schema }: Schema): string[] {
  if (type !== undefined) return [type];
  if (schema['x-kubernetes-int-or-string'] === true) return ['integer', 'string'];
  return oneOf.flatMap((one) => one.type ?? []);
}

/** The type of a field as people write it. */
export function describeType(schema: Schema): string {
  const { type, format, items, additionalProperties } = schema;
  const types = typesOf(schema);
  if (types.length > 1) return types.join(' or ');
  if (type === 'array') return `list of ${items === undefined ? 'anything' : describeType(items)}`;
  if (type === 'object' && typeof additionalProperties === 'object') return `map of ${describeType(additionalProperties)}`;
  return `${type ?? 'anything'}${format === undefined ? '' : ` (${format})`}`;
}

const bounds = [
  ['minimum', 'at least'], ['maximum', 'at most'], ['minLength', 'length at least'], ['maxLength', 'length at most'], ['minItems', 'items at least'],
  ['maxItems', 'items at most'], ['pattern', 'matches'],
] as const;

/** Fields of built-in kinds that hold objects have this default. */
const isEmptyObject = (value: unknown): boolean => value instanceof Object && Object.keys(value).length === 0;

/** What a field allows, one phrase each. */
export function describeBounds(schema: Schema): string[] {
  const known = bounds.flatMap(([field, text]) => (schema[field] === undefined ? [] : [`${text} ${schema[field]}`]));
  return [
    ...(schema.enum === undefined ? [] : [`one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`]), ...known,
    ...(schema.default === undefined || isEmptyObject(schema.default) ? [] : [`default ${JSON.stringify(schema.default)}`]),
    ...(schema.nullable === true ? ['may be null'] : []),
    ...(schema['x-kubernetes-preserve-unknown-fields'] === true ? ['keeps unknown fields'] : []),
  ];
}

/** The schemas directly below one, with the steps that lead there. */
export function childrenOf({ properties = {}, items, additionalProperties }: Schema): [step: string, schema: Schema][] {
  const below: [string, Schema][] = Object.entries(properties).map(([name, schema]) => [`.${name}`, schema]);
  if (items !== undefined) below.push(['[]', items]);
  if (typeof additionalProperties === 'object') below.push(['[*]', additionalProperties]);
  return below;
}

/** The schema at the end of steps: names of fields, and [] for a member of a list; undefined where there is none. */
export function findField(schema: Schema | undefined, steps: readonly string[]): Schema | undefined {
  return steps.reduce<Schema | undefined>((at, step) => {
    if (step === '[]') return at?.items;
    const named = at?.properties;
    if (named !== undefined && Object.hasOwn(named, step)) return named[step];
    return typeof at?.additionalProperties === 'object' ? at.additionalProperties : undefined;
  }, schema);
}

/** Every rule of a schema. */
export function listRules(schema: Schema, path = 'self', depth = 0): SchemaRule[] {
  if (depth > DEEPEST) return [];
  const own = (schema['x-kubernetes-validations'] ?? [])
    .map(({ rule, message, messageExpression = '' }) => ({ path, rule, message: message ?? messageExpression }));
  return [...own, ...childrenOf(schema).flatMap(([step, below]) => listRules(below, `${path}${step}`, depth + 1))];
}

/** A part of a schema: its path as rules have it, and the steps that lead there. */
interface SchemaPlace {
  readonly path: string;
  readonly steps: readonly string[];
}

const MOST_PLACES = 300;

/** The parts of a schema that can be `self`, from the root on: those with fields, members or rules of their own. */
export function listPlaces(schema: Schema): SchemaPlace[] {
  const places: SchemaPlace[] = [{ path: 'self', steps: [] }];
  const waiting: [Schema, SchemaPlace][] = [[schema, places[0] as SchemaPlace]];
  for (let next = waiting.shift(); next !== undefined && places.length < MOST_PLACES; next = waiting.shift()) {
    const [at, { path, steps }] = next;
    for (const [step, below] of childrenOf(at)) {
      const place = { path: `${path}${step}`, steps: [...steps, step.replace(/^\./, '')] };
      const isPart = childrenOf(below).length > 0 || (below['x-kubernetes-validations'] ?? []).length > 0;
      if (isPart) places.push(place);
      if (steps.length < DEEPEST) waiting.push([below, place]);
    }
  }
  return places;
}

/** A value that the types of a schema accept: defaults, first choices, required fields; patterns and rules are for people to fill. */
export function sampleOf(schema: Schema, depth = 0): unknown {
  if (schema.default !== undefined && !isEmptyObject(schema.default)) return schema.default;
  if (schema.enum !== undefined && schema.enum.length > 0) return schema.enum[0];
  if (depth > DEEPEST) return {};
  switch (schema.type) {
    case 'object': {
      const wanted = depth === 0 ? ['spec'] : [];
      const names = Object.keys(schema.properties ?? {}).filter((name) => schema.required?.includes(name) === true || wanted.includes(name) || depth === 1);
      return Object.fromEntries(names.map((name) => [name, sampleOf(schema.properties?.[name] ?? {}, depth + 1)]));
    }
    case 'array': return (schema.minItems ?? 0) > 0 ? [sampleOf(schema.items ?? {}, depth + 1)] : [];
    case 'integer': case 'number': return schema.minimum ?? 0;
    case 'boolean': return false;
    default: return schema.type === 'string' ? '' : schema['x-kubernetes-int-or-string'] === true ? 0 : {};
  }
}
