// What a schema says anywhere in it, asked once for each schema: walks over objects pass over what their question is not about.
import type { OpenAPIV3Schema } from './structural.ts';

/** Whether something holds for a schema or for that of a part of its values, at any depth. */
export function anywhere(holds: (schema: OpenAPIV3Schema) => boolean): (schema: OpenAPIV3Schema) => boolean {
  const known = new WeakMap<OpenAPIV3Schema, boolean>();
  const ask = (schema: OpenAPIV3Schema): boolean => {
    const { properties, items, additionalProperties } = schema;
    const values = typeof additionalProperties === 'object' ? additionalProperties : undefined;
    // Most of the fields of a wide schema have no parts: to keep their answers takes longer than to ask again.
    if (properties === undefined && items === undefined && values === undefined) return holds(schema);
    let answer = known.get(schema);
    if (answer === undefined) {
      answer = holds(schema) || Object.values(properties ?? {}).some(ask) || (items !== undefined && ask(items)) || (values !== undefined && ask(values));
      known.set(schema, answer);
    }
    return answer;
  };
  return ask;
}
