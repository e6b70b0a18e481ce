// How many nodes expressions have. Macros may repeat their target, so that the number can grow exponentially.
import { type Expr, childrenOf } from './ast.ts';

/** The weights of the expressions of one parse. */
export class Weights {
  readonly #known = new Map<number, number>();

  /** Number of nodes of an expression, itself among them. */
  of(expr: Expr): number {
    let weight = this.#known.get(expr.id);
    if (weight === undefined) {
      weight = childrenOf(expr).reduce((sum, child) => sum + this.of(child), 1);
      this.#known.set(expr.id, weight);
    }
    return weight;
  }
}
