// How property names are written in expressions: keywords and signs that identifiers cannot have are spelled out.

const keywords: ReadonlySet<string> = new Set(['true', 'false', 'null', 'in', 'as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import',
  'let', 'loop', 'package', 'namespace', 'return', 'var', 'void', 'while']);

/** Whether a name is a word of the language. */
export const isKeyword = (name: string): boolean => keywords.has(name);

/** The identifier for a property name; undefined for names that expressions cannot reach. */
export function escapeName(name: string): string | undefined {
  if (keywords.has(name)) return `__${name}__`;
  if (!/^[A-Za-z_.\-/][A-Za-z0-9_.\-/]*$/.test(name)) return undefined;
  return name.replace(/__|\.|-|\//g, (sign) => (sign === '__' ? '__underscores__' : sign === '.' ? '__dot__' : sign === '-' ? '__dash__' : '__slash__'));
}
