// What mutations build: objects (`Object{spec: Object.spec{replicas: 3}}`) of any fields, and JSON patches (`JSONPatch{op: "add", path: …}`).
// Types of objects are named for the path of their field; that is validated when an object is used, as the reference does.
import { type StructProvider, declare, overload } from '../check/environment.ts';
import { type CelType, dynType, stringType, structType } from '../values/types.ts';
import { CelList, CelMap, type Value } from '../values/values.ts';

/** The type of the object that a mutation applies. */
export const objectType = structType('Object');
/** The type of one JSON patch operation. */
export const jsonPatchType = structType('JSONPatch');

/** A value with the fields that an expression gave it. */
class BuiltObject extends CelMap {
  readonly #type: CelType;
  readonly #fields: ReadonlyMap<string, Value>;

  constructor(type: string, fields: ReadonlyMap<string, Value>) {
    super();
    this.#type = structType(type);
    this.#fields = fields;
  }

  override get type(): CelType {
    return this.#type;
  }

  get size(): number {
    return this.#fields.size;
  }

  find(key: Value): Value | undefined {
    return typeof key === 'string' ? this.#fields.get(key) : undefined;
  }

  keys(): readonly Value[] {
    return [...this.#fields.keys()];
  }
}

const isObjectType = (type: string): boolean => type === objectType.name || type.startsWith(`${objectType.name}.`);
const patchFields: ReadonlyMap<string, CelType> = new Map([['op', stringType], ['path', stringType], ['from', stringType], ['value', dynType]]);
/** The reference has a type without a name for fields that patches do not have. */
const noType = structType('');

/** The types that mutations build. */
export const patchStructs: StructProvider = {
  has: (type) => isObjectType(type) || type === jsonPatchType.name,
  fieldType: (type, field) => (isObjectType(type) ? dynType : patchFields.get(field) ?? noType),
  build: (type, fields) => new BuiltObject(type, fields),
};

const escapeKey = (key: string): string => key.replace(/[~/]/g, (char) => (char === '~' ? '~0' : '~1'));

/** jsonpatch.escapeKey: a key as a step of a JSON pointer. */
export const patchFunctions = [declare('jsonpatch.escapeKey', overload('string_jsonpatch_escapeKey_string', [stringType], [stringType, escapeKey]))];

/** Objects in a value whose type is not named for the path of their field, in the reference's words; a value of another type starts at its own name. */
export function findMisnamedTypes(value: Value): string[] {
  return value instanceof CelMap && isObjectType(value.type.name) ? findMisnamed(value, value.type.name) : [];
}

function findMisnamed(value: Value, expected: string): string[] {
  if (value instanceof CelList) return value.toArray().flatMap((item) => findMisnamed(item, expected));
  if (!(value instanceof CelMap)) return [];
  const isBuilt = value instanceof BuiltObject;
  const problems = !isBuilt || value.type.name === expected ? []
    : [`unexpected type name ${JSON.stringify(value.type.name)}, expected ${JSON.stringify(expected)}, which matches field name path from root Object type`];
  for (const key of value.keys()) problems.push(...findMisnamed(value.find(key)!, isBuilt ? `${expected}.${String(key)}` : expected));
  return problems;
}
