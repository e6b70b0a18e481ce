// The fieldPath of a rule: `.spec.names['a-b']`, checked against the schema of the rule's node.
import type { OpenAPIV3Schema } from '../../schema/structural.ts';

const escapes: ReadonlyMap<string, string> = new Map([
  ['a', '\x07'], ['b', '\b'], ['f', '\f'], ['n', '\n'], ['r', '\r'], ['t', '\t'], ['v', '\v'], ["'", "'"], ['\\', '\\'],
]);

function unquote(token: string): string | undefined {
  let valid = true;
  const text = token.replace(/\\(.)/gs, (_, char: string) => {
    const found = escapes.get(char);
    if (found === undefined) valid = false;
    return found ?? '';
  });
  return valid ? text : undefined;
}

/** The path as errors show it; undefined when it does not name a field of the schema. */
export function resolveFieldPath(path: string, root: OpenAPIV3Schema): string | undefined {
  const pattern = /\.([^.[\]']+)|\['((?:[^'\\]|\\.)*)'\]/gsy;
  let schema: OpenAPIV3Schema | undefined = root;
  let shown = '';
  for (let at = 0; at < path.length; at = pattern.lastIndex) {
    pattern.lastIndex = at;
    const match = pattern.exec(path);
    const name = match === null ? undefined : match[1] ?? unquote(match[2]!);
    if (name === undefined || schema === undefined) return undefined;
    if (schema.properties !== undefined) {
      schema = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (schema === undefined) return undefined;
      shown += shown === '' ? name : `.${name}`;
    } else if (typeof schema.additionalProperties === 'object') {
      schema = schema.additionalProperties;
      shown += `[${name}]`;
    } else return undefined;
  }
  return shown;
}
