// All that is wrong in the syntax of a text, in the words of the reference.
import { type Steps, finishSteps, isResumable, remember } from '../../../base/index.ts';
import type { LexIssue, Token } from '../parse/lex.ts';
import type { ParseOptions } from '../parse/options.ts';
import type { Issue } from '../parse/source.ts';
import { RecoveringParser } from './recovering-parser.ts';
import { TreeReader } from './tree-reader.ts';

/** A step takes half a millisecond, a hundred times as long as a usual part of compiling. */
const STEP_WEIGHT = 100;

/** A text, as it was split into tokens. */
interface SplitText {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly issues: readonly LexIssue[];
}

function* findSteps({ text, tokens, issues }: SplitText, options: ParseOptions): Steps<readonly Issue[]> {
  const parser = new RecoveringParser(text, tokens, issues);
  const tree = yield* parser.parse();
  const found = parser.issues;
  return tree === undefined ? found : [...found, ...yield* new TreeReader(options, found.length > 0).read(tree)];
}

/** The problems of a text that does not parse. */
export function findIssues(split: SplitText, options: ParseOptions): readonly Issue[] {
  const steps = remember(() => findSteps(split, options));
  if (!isResumable()) return finishSteps(steps);
  for (;;) {
    const step = remember(() => steps.next(), STEP_WEIGHT);
    if (step.done === true) return step.value;
  }
}
