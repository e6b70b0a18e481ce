// Types of expressions and values. A type is a value of the language too: `type(x) == int`.

type TypeKind =
  | 'dyn' | 'error' | 'null' | 'bool' | 'int' | 'uint' | 'double' | 'string' | 'bytes' | 'timestamp' | 'duration' | 'any'
  | 'list' | 'map' | 'struct' | 'opaque' | 'param' | 'type' | 'unknown';

/** A type. Wrappers are the kind they wrap, and `nullable`. */
export class CelType {
  readonly kind: TypeKind;
  /** The name at run time: `int`, `list`, `google.protobuf.Timestamp`, `net.IP`. */
  readonly name: string;
  readonly params: readonly CelType[];
  readonly nullable: boolean;

  constructor(kind: TypeKind, name: string, options: { params?: readonly CelType[]; nullable?: boolean } = {}) {
    this.kind = kind;
    this.name = name;
    this.params = options.params ?? [];
    this.nullable = options.nullable ?? false;
  }
}

/** The types of the language without parameters. */
export const dynType = new CelType('dyn', 'dyn');
export const errorType = new CelType('error', 'error');
export const nullType = new CelType('null', 'null_type');
export const boolType = new CelType('bool', 'bool');
export const intType = new CelType('int', 'int');
export const uintType = new CelType('uint', 'uint');
export const doubleType = new CelType('double', 'double');
export const stringType = new CelType('string', 'string');
export const bytesType = new CelType('bytes', 'bytes');
export const timestampType = new CelType('timestamp', 'google.protobuf.Timestamp');
export const durationType = new CelType('duration', 'google.protobuf.Duration');
export const anyType = new CelType('any', 'google.protobuf.Any');

/** Types made of others. */
export const listOf = (element: CelType): CelType => new CelType('list', 'list', { params: [element] });
export const mapOf = (key: CelType, value: CelType): CelType => new CelType('map', 'map', { params: [key, value] });
export const paramType = (name: string): CelType => new CelType('param', name);
export const structType = (name: string): CelType => new CelType('struct', name);
export const opaqueType = (name: string, ...params: CelType[]): CelType => new CelType('opaque', name, { params });
export const optionalOf = (inner: CelType): CelType => opaqueType('optional_type', inner);
export const typeOfType = (inner?: CelType): CelType => new CelType('type', 'type', { params: inner === undefined ? [] : [inner] });
export const wrapperOf = (inner: CelType): CelType => new CelType(inner.kind, inner.name, { params: inner.params, nullable: true });

/** Types that are asked for often. */
export const dynListType = listOf(dynType);
export const dynMapType = mapOf(dynType, dynType);
export const metaType = typeOfType();
export const anyOptionalType = optionalOf(dynType);

/** Type as the checker prints it. */
export function formatType(type: CelType): string {
  const inner = type.params.map(formatType).join(', ');
  switch (type.kind) {
    case 'null': return 'null';
    case 'timestamp': return 'timestamp';
    case 'duration': return 'duration';
    case 'any': return 'any';
    case 'error': return '!error!';
    case 'list': case 'map': case 'opaque': case 'type': return inner === '' ? type.name : `${type.name}(${inner})`;
    default: return type.nullable ? `wrapper(${type.name})` : type.name;
  }
}

/** Type as the compiler prints it: by its names at run time. */
export function describeType(type: CelType): string {
  const name = type.nullable ? `wrapper(${type.name})` : type.name;
  return type.params.length === 0 ? name : `${name}(${type.params.map(describeType).join(', ')})`;
}

/** Whether anything may be of this type. */
export const isDyn = (type: CelType): boolean => type.kind === 'dyn' || type.kind === 'any';
/** Whether nothing can be said against a value of this type. */
export const isDynOrError = (type: CelType): boolean => isDyn(type) || type.kind === 'error';
/** Whether values of this type may be absent. */
export const isOptional = (type: CelType): boolean => type.kind === 'opaque' && type.name === 'optional_type';

/** True for the same type, parameters included. */
export function sameType(a: CelType, b: CelType): boolean {
  return a === b || (a.kind === b.kind && a.name === b.name && a.params.length === b.params.length && a.params.every((param, i) => sameType(param,
    b.params[i]!)));
}

/** The types that expressions can name. */
export const namedTypes: ReadonlyMap<string, CelType> = new Map([
  ['bool', boolType], ['int', intType], ['uint', uintType], ['double', doubleType], ['string', stringType], ['bytes', bytesType],
  ['null_type', nullType], ['list', dynListType], ['map', dynMapType], ['type', metaType], ['dyn', dynType],
  ['google.protobuf.Timestamp', timestampType], ['google.protobuf.Duration', durationType],
]);
