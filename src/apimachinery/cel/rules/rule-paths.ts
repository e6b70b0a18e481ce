// Paths of fields, `.spec.names['a-b']`: of rules, checked against the schema of their node, and of selectable fields.
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

/** Delimiters, quoted texts, and what stands between: the tokens of a path. */
function splitPath(path: string): string[] {
  const tokens: string[] = [];
  for (let at = 0; at < path.length; at += tokens.at(-1)!.length) tokens.push(readToken(path, at));
  return tokens;
}

function readToken(path: string, at: number): string {
  if (path[at] === "'") {
    for (let end = at + 1; end < path.length; end++) if (path[end] === "'" && path[end - 1] !== '\\') return path.slice(at, end + 1);
    return path.slice(at);
  }
  let end = at;
  while (end < path.length && !'.[]'.includes(path[end]!)) end++;
  return path.slice(at, Math.max(end, at + 1));
}

/** Where a path leads: how errors show it, and the schema that is there. */
interface FoundPath {
  readonly shown: string;
  readonly schema: OpenAPIV3Schema;
}

interface PathOptions {
  /** Brackets around quoted names are no part of a path. */
  readonly withoutBrackets?: boolean;
}

/** Follows a path from a schema; a text says why it leads nowhere. */
export function followPath(path: string, root: OpenAPIV3Schema, { withoutBrackets = false }: PathOptions = {}): FoundPath | string {
  let [schema, shown] = [root, ''];
  const tokens = splitPath(path);
  while (tokens.length > 0) {
    const token = tokens.shift()!;
    const name = readName(token, tokens, withoutBrackets);
    if (typeof name === 'string') return name;
    const { properties, additionalProperties } = schema;
    if (properties !== undefined && Object.keys(properties).length > 0) {
      if (!Object.hasOwn(properties, name.name)) return NO_FIELD;
      schema = properties[name.name]!;
      shown += shown === '' ? name.name : `.${name.name}`;
    } else if (additionalProperties !== undefined && additionalProperties !== null) {
      // Values without a schema are fields all the same, that have none themselves.
      schema = typeof additionalProperties === 'object' ? additionalProperties : {};
      shown += `[${name.name}]`;
    } else return NO_FIELD;
    if (token === '[') {
      const end = tokens.shift();
      if (end !== ']') return end === undefined ? PATH_ENDS : `expected ] but got ${end}`;
    }
  }
  return { shown, schema };
}

const NO_FIELD = 'does not refer to a valid field';
const PATH_ENDS = 'unexpected end of JSON path';

/** The name after a delimiter, or what is wrong. */
function readName(token: string, tokens: string[], withoutBrackets: boolean): { readonly name: string } | string {
  if (token === '[' && withoutBrackets) return 'array notation is not allowed';
  if (token !== '.' && token !== '[') return `expected [ or . but got: ${token}`;
  const text = tokens.shift();
  if (text === undefined) return PATH_ENDS;
  if (token === '.') return { name: text };
  if (text.length < 2 || !text.startsWith("'") || !text.endsWith("'")) return `expected single quoted string but got ${text}`;
  const name = unquote(text.slice(1, -1));
  return name === undefined ? 'invalid string literal: invalid syntax' : { name };
}

/** The path as errors show it; undefined when it does not name a field of the schema. */
export function resolveFieldPath(path: string, root: OpenAPIV3Schema): string | undefined {
  const found = followPath(path, root);
  return typeof found === 'string' ? undefined : found.shown;
}
