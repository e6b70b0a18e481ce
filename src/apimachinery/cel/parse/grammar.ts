// Sets of tokens that the parser decides by, and the lists of expected tokens that messages of the reference show.

/** Names that are kept for later versions of the language. */
export const reserved: ReadonlySet<string> = new Set(['as', 'break', 'const', 'continue', 'else', 'for', 'function', 'if', 'import', 'let', 'loop', 'package',
  'namespace', 'return', 'var', 'void', 'while']);
/** Identifiers of the lexer that are signs of the grammar. */
export const keywords: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null']);
/** What an expression may start with, as messages list it. */
export const PRIMARY_STARTS = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/** What the first entry of a map may start with, as messages list it. */
export const MAP_STARTS = "{'[', '{', '}', '(', '.', ',', '-', '!', '?', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
/** What the first field of a message may start with, as messages list it. */
export const FIELD_STARTS = "{'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}";
/** Signs that may stand where the first entry of a map or message does. */
export const mapSigns: ReadonlySet<string> = new Set(['}', ',', '?']);
/** Signs that an expression may start with. */
export const starters: ReadonlySet<string> = new Set(['[', '{', '(', '.', '-', '!']);
/** Operators and signs that may follow an expression: parsing continues at them after an error. */
export const followers: ReadonlySet<string> = new Set([
  '==', '!=', '<=', '>=', '&&', '||', '<', '>', 'in', '+', '-', '*', '/', '%', '?', ':', ',', ')', ']', '}', '.', '[',
]);
/** Operators that compare. */
export const relations: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
