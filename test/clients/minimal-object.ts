// The smallest objects that a schema takes, where it takes such: required fields, first alternatives, texts that fit common patterns.
import type { Json } from './modules.ts';

const texts = ['a', 'example', 'a.example.com', 'example.com/a', 'https://a.example.com', '1s', '1h', '1m', '10', '1', 'v1', 'V1', '1Gi', '/a', 'A',
  '0 0 * * *', 'a:1', '2026-01-01T00:00:00Z', '10.0.0.1', '10.0.0.0/8', 'xpkg.io/a/a:v1', 'resource-controller', 'k8s.io/a'];

function textFor(schema: Json): string {
  if (Array.isArray(schema['enum'])) return String(schema['enum'][0]);
  if (schema['format'] === 'date-time') return '2026-01-01T00:00:00Z';
  if (schema['format'] === 'byte') return 'YQ==';
  const fits = (text: string): boolean => (schema['minLength'] ?? 0) <= text.length && text.length <= (schema['maxLength'] ?? Infinity)
    && (schema['pattern'] === undefined || matches(schema['pattern'], text));
  return texts.find(fits) ?? 'a'.repeat(schema['minLength'] ?? 1);
}

function matches(pattern: string, text: string): boolean {
  try {
    return new RegExp(pattern.replace(/^\(\?i\)/, ''), 'u').test(text);
  } catch {
    return false;
  }
}

/** Merges what alternatives ask for into their node: the first that asks for a field, or the first. */
function withAlternatives(schema: Json): Json {
  let { properties, required = [] } = schema as { properties?: Json; required?: string[] };
  for (const key of ['oneOf', 'anyOf', 'allOf']) {
    const branches = (schema[key] ?? []) as Json[];
    const chosen = key === 'allOf' ? branches : branches.filter((branch) => branch['required'] !== undefined).slice(0, 1);
    for (const branch of chosen) {
      const asked = withAlternatives(branch);
      required = [...required, ...(asked['required'] ?? [])];
      for (const [name, child] of Object.entries((asked['properties'] ?? {}) as Json)) {
        properties = { ...properties, [name]: { ...child, ...properties?.[name] } };
      }
    }
  }
  return { ...schema, properties, required };
}

/** A value that a schema takes. */
export function makeMinimal(given: Json): unknown {
  const schema = withAlternatives(given);
  if (schema['x-kubernetes-int-or-string'] === true) return 1;
  switch (schema['type']) {
    case 'string': return textFor(schema);
    case 'integer': case 'number': return Math.max(1, schema['minimum'] ?? 1);
    case 'boolean': return true;
    case 'array': return Array.from({ length: schema['minItems'] ?? 0 }, () => makeMinimal(schema['items'] ?? {}));
    default: return makeFields(schema);
  }
}

function makeFields(schema: Json): Json {
  const properties = (schema['properties'] ?? {}) as Json;
  const names = new Set<string>(schema['required']);
  for (const name of Object.keys(properties)) if (names.size < (schema['minProperties'] ?? 0)) names.add(name);
  const fields: Json = {};
  for (const name of names) fields[name] = makeMinimal(properties[name] ?? {});
  if (typeof schema['additionalProperties'] === 'object' && schema['minProperties'] > 0) fields['a'] = makeMinimal(schema['additionalProperties']);
  return fields;
}

/** The path of some field whose type can be got wrong, with a value that does; undefined where the schema takes anything. */
export function makeInvalid(schema: Json, object: Json): Json | undefined {
  for (const [name, child] of Object.entries((schema['properties'] ?? {}) as Json)) {
    if (['apiVersion', 'kind', 'metadata', 'status'].includes(name) || child.type === undefined) continue;
    return { ...object, [name]: child.type === 'string' ? 7 : 'wrong' };
  }
  return undefined;
}
