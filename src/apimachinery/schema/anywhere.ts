// What a schema says anywhere in it, asked once for each schema: walks over objects pass over what their question is not about.
import type { OpenAPIV3Schema } from './structural.ts';

/** The schemas of the parts of a value. */
function partsOf({ properties, items, additionalProperties }: OpenAPIV3Schema): OpenAPIV3Schema[] {
  const values = typeof additionalProperties === 'object' ? [additionalProperties] : [];
  return [...Object.values(properties ?? {}), ...(items === undefined ? [] : [items]), ...values];
}

/** Whether something holds for a schema or for that of a part of its values, at any depth. */
export function anywhere(holds: (schema: OpenAPIV3Schema) => boolean): (schema: OpenAPIV3Schema) => boolean {
  const known = new WeakMap<OpenAPIV3Schema, boolean>();
  const ask = (schema: OpenAPIV3Schema): boolean => {
    let answer = known.get(schema);
    if (answer === undefined) known.set(schema, (answer = holds(schema) || partsOf(schema).some(ask)));
    return answer;
  };
  return ask;
}
