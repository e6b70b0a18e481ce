// The tree of a text that has errors: nodes as far as they were recognized, with the tokens and nodes that have a name in the grammar.
import type { Token } from '../parse/lex.ts';
import type { RuleName } from './grammar.ts';
import type { State } from './network.ts';

/** A node. */
export class Node {
  readonly rule: RuleName;
  /** Which of the alternatives of its rule it is; '' where that was not found out. */
  name = '';
  /** The token that it starts with. */
  readonly start: Token;
  readonly parent: Node | undefined;
  /** The call that it answers. */
  readonly calledFrom: State | undefined;
  readonly #parts = new Map<string, (Node | Token)[]>();

  constructor(rule: RuleName, start: Token, { parent, calledFrom }: Pick<Node, 'parent' | 'calledFrom'>) {
    this.rule = rule;
    this.start = start;
    this.parent = parent;
    this.calledFrom = calledFrom;
  }

  add(label: string, part: Node | Token): void {
    if (label === '') return;
    const known = this.#parts.get(label);
    if (known === undefined) this.#parts.set(label, [part]);
    else known.push(part);
  }

  node(label: string): Node | undefined {
    return this.nodes(label)[0];
  }

  nodes(label: string): readonly Node[] {
    return (this.#parts.get(label) ?? []).filter((part) => part instanceof Node);
  }

  token(label: string): Token | undefined {
    return this.tokens(label)[0];
  }

  tokens(label: string): readonly Token[] {
    return (this.#parts.get(label) ?? []).filter((part): part is Token => !(part instanceof Node));
  }
}
