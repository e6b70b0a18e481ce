// Where two answers to one expression differ: one difference each, the first of report, type, estimate, value and cost.
import type { Answer } from './engine.ts';

/** The kinds of differences, in the order in which they are looked for. */
export const KINDS = ['problem', 'type', 'estimate', 'value', 'cost'] as const;

/** A difference of two answers. */
export interface Difference {
  readonly kind: typeof KINDS[number];
  readonly theirs: string;
  readonly ours: string;
}

/** Estimates are compared as doubles, as Kubernetes prints them: none that comes near its limits has more digits. */
const estimateOf = ({ least, most }: Answer): string => (least === undefined ? '' : `${Number(least)}..${Number(most)}`);
const costOf = ({ cost, error }: Answer): string => `${cost}${error === undefined ? '' : ' of an error'}`;
const valueOf = ({ value, error }: Answer): string => (error === undefined ? value ?? '' : `error: ${error}`);

/** Whether the reference panics where this engine has the error of the expression, as docs/differences.md says. */
export const isDocumented = (theirs: Answer, ours: Answer): boolean =>
  ours.error !== undefined && /interface conversion: (?:\*types\.Err is not traits\.Lister|ref\.Val is \*types\.Err, not types\.Int)/.test(theirs.error ?? '');

/** The first difference; undefined where the answers agree. */
export function compareAnswers(theirs: Answer, ours: Answer): Difference | undefined {
  const differ = (kind: Difference['kind'], [one, other]: readonly [string, string]): Difference | undefined =>
    (one === other ? undefined : { kind, theirs: one, ours: other });
  const steady = (kind: 'value' | 'cost'): boolean => theirs.unsteady?.includes(kind) !== true;
  return differ('problem', [theirs.problem ?? '', ours.problem ?? '']) ?? differ('type', [theirs.type ?? '', ours.type ?? ''])
    ?? differ('estimate', [estimateOf(theirs), estimateOf(ours)]) ?? (steady('value') ? differ('value', [valueOf(theirs), valueOf(ours)]) : undefined)
    ?? (steady('cost') ? differ('cost', [costOf(theirs), costOf(ours)]) : undefined);
}

const plain = (text: string): string => text.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, '…').replace(/\d+/g, '#');
const title = (report: string): string => plain(/^ERROR: <input>:[-\d]+:\d+: (.*)/m.exec(report)?.[1] ?? report);

/** What differences of one cause have in common, more or less. */
export function shapeOf({ kind, theirs, ours }: Difference): string {
  if (kind === 'problem') {
    const [one, other] = [theirs.split('\n'), ours.split('\n')];
    const at = one.findIndex((line, index) => line !== other[index]);
    return `problem: ${title(one[at] ?? '(end)')} | ${title(other[at < 0 ? one.length : at] ?? '(end)')}`.slice(0, 200);
  }
  if (kind === 'value') return `value: ${plain(theirs).slice(0, 80)} | ${plain(ours).slice(0, 80)}`;
  return kind === 'type' ? `type: ${theirs} | ${ours}` : plain(`${kind} ${theirs}`);
}
