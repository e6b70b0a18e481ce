// What the estimator knows of a node of the tree: its type, where its value comes from, and its size.
import type { Expr } from '../parse/ast.ts';
import type { CelType } from '../values/types.ts';
import type { Range } from './ranges.ts';

/** A node as the cost of functions sees it. */
export interface CostNode {
  readonly expr: Expr | undefined;
  readonly type: CelType;
  /** Where the value comes from: a variable, then fields, `@items`, `@keys`, `@values`. */
  readonly path: readonly string[];
  readonly size: Range | undefined;
}

/** Bounds of the size of what stands at a path; undefined when nothing is known. */
export type SizeHints = (path: readonly string[]) => Range | undefined;
