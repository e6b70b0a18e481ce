// What a parse is asked for, and its bounds.
import type { Macro } from './macros.ts';

/** Longest text, in runes. */
export const MAX_EXPRESSION_RUNES = 100_000;
/** Deepest nesting of a text, and of its tree. */
export const MAX_DEPTH = 250;

/** Runes that are split into tokens while a usual part of the work is done. */
export const RUNES_PER_PART = 100;

/** Most nodes that macros may expand to. */
export const MAX_NODES = 100_000;

/** The syntax that a text may have. */
export interface ParseOptions {
  /** Macros by `macroKey`. */
  readonly macros: ReadonlyMap<string, Macro>;
  /** `.?`, `[?` and `?` in literals. */
  readonly optionalSyntax?: boolean;
  /** Field names between back-quotes. */
  readonly escapedNames?: boolean;
}
