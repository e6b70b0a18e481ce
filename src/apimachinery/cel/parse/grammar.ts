// Sets of tokens that the parser decides by.

/** Names that are kept for later versions of the language. */
export const reserved: ReadonlySet<string> = new Set(['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package',
  'namespace', 'return', 'var', 'void', 'while']);
/** Identifiers of the lexer that are signs of the grammar. */
export const keywords: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);
/** Operators that compare. */
export const relations: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
