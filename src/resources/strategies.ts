// What makes kinds special, by group and kind. A kind that is not here is data and nothing else.
import type { Strategy } from '../registry/index.ts';

/** Strategies by `group/Kind`. */
export const strategiesByKind: Readonly<Record<string, Strategy>> = {};
