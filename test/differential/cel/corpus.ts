// The recorded corpus: expressions, the value that each was evaluated on, and the answer of Kubernetes' packages, written as one line each.
import type { Answer, Question } from './engine.ts';

/** A question with its answer. */
export interface Recorded {
  readonly question: Question;
  readonly answer: Answer;
}

/** Reports without the lines that repeat the expression. */
export const briefly = (report: string): string => report.split('\n').filter((line) => !line.startsWith(' | ')).map((line) => line.replace('ERROR: <input>:',
  ''))
  .join('\n');

/** An answer as it is recorded and compared. */
export const brief = (answer: Answer): Answer => (answer.problem === undefined ? answer : { problem: briefly(answer.problem) });

/** The file of a corpus. */
export function packCorpus(entries: readonly Recorded[]): string {
  const lines = entries.map(({ question, answer }) => {
    const { problem, type, least, most, value, error, cost, unsteady } = brief(answer);
    if (problem !== undefined) return [question.text, problem];
    const outcome = error === undefined ? [value] : [null, error];
    return [question.text, question.value, type, `${least} ${most} ${cost}`, unsteady?.join(' ') ?? '', ...outcome];
  });
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/** The entries of a file. */
export function readCorpus(text: string): readonly Recorded[] {
  return text.trim().split('\n').map((line) => {
    const [expression, second, type, numbers, unsteady, value, error] = JSON.parse(line) as [string, number | string, string, string, string, string | null,
    string?];
    if (typeof second === 'string') return { question: { text: expression, value: 0 }, answer: { problem: second } };
    const [least, most, cost] = numbers.split(' ') as [string, string, string];
    const outcome = error === undefined ? { value: value! } : { error };
    return { question: { text: expression, value: second }, answer: { type, least, most, cost, unsteady: unsteady.split(' '), ...outcome } };
  });
}
