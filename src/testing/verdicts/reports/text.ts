// The report for people: findings as compilers print them, and what would change.
import { colour } from '../../../server/index.ts';
import type { Change, Pruned, Verdict } from '../verdict.ts';
import { type PlacedFinding, type Report, nameOf, placeFindings, sumUp } from './report.ts';

type Output = Parameters<typeof colour>[0];
type Colour = Parameters<typeof colour>[1];

const signs: Readonly<Record<string, readonly [sign: string, colour: Colour | undefined]>> = {
  create: ['+', 'green'], change: ['~', 'yellow'], unchanged: ['=', undefined], conflict: ['!', 'red'], refused: ['!', 'red'], skipped: ['?', 'yellow'],
  prune: ['-', 'red'],
};
const LONGEST_VALUE = 300;

/** The lines of a report; colours are for terminals only. */
export function formatText(report: Report, output: Output): string {
  const paint = (name: Colour | undefined, text: string): string => (name === undefined ? text : colour(output, name, text));
  const lines = report.verdicts.flatMap((verdict) =>
    (report.kind === 'plan' ? planLines(verdict, paint) : placeFindings(verdict).map((finding) => findingLine(finding, verdict, paint))));
  const notes = report.notes.map((note) => `note: ${note}`);
  return [...lines, ...report.pruned.flatMap((one) => pruneLines(one, paint)), ...notes, sumLine(report, paint), ''].join('\n');
}

type Paint = (name: Colour | undefined, text: string) => string;

function findingLine({ file, line, column, level, field, message, rule }: PlacedFinding, verdict: Verdict, paint: Paint): string {
  const { template } = verdict.document.place;
  const what = [nameOf(verdict), field, message].filter((part) => part !== '').join(': ');
  const source = template === '' ? '' : ` (from ${template})`;
  return `${file}:${line}:${column}: ${paint(level === 'error' ? 'red' : 'yellow', `${level}:`)} ${what} [${rule}]${source}`;
}

function planLines(verdict: Verdict, paint: Paint): string[] {
  const { action, changes, document: { place }, isOffline } = verdict;
  const findings = placeFindings(verdict);
  if (action === 'unchanged' && findings.length === 0) return [];
  const [sign, tone] = signs[action] as [string, Colour | undefined];
  const where = place.template === '' ? `${place.file}:${place.line}` : `${place.file}:${place.line}, from ${place.template}`;
  return [
    `${paint(tone, `${sign} ${action}`)} ${nameOf(verdict) || '(no object)'} (${where}${isOffline ? ', evaluated in memory' : ''})`,
    ...changes.map((change) => changeLine(change, paint)),
    ...findings.map((finding) => `    ${findingLine(finding, verdict, paint)}`),
  ];
}

function changeLine(change: Change, paint: Paint): string {
  const { path, before, after, owners } = change;
  const held = owners.length === 0 ? '' : ` (held by ${owners.join(', ')})`;
  if (!('before' in change)) return paint('green', `    + ${path}: ${show(after)}`);
  if (!('after' in change)) return `${paint('red', `    - ${path}: ${show(before)}`)}${held}`;
  return `${paint('yellow', `    ~ ${path}:`)} ${paint('red', show(before))} → ${paint('green', show(after))}${held}`;
}

function show(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

const pruneLines = ({ kind, namespace, name, findings }: Pruned, paint: Paint): string[] => [
  `${paint('red', '- prune')} ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`,
  ...findings.map(({ level, message }) => `    ${paint('red', `${level}:`)} ${message}`),
];

function sumLine(report: Report, paint: Paint): string {
  const { objects, actions: { create, change, unchanged, conflict, refused, skipped }, pruned, errors, warnings } = sumUp(report);
  const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
  const found = paint(errors > 0 ? 'red' : warnings > 0 ? 'yellow' : 'green', `${count(errors, 'error')}, ${count(warnings, 'warning')}`);
  const parts = report.kind === 'check' ? [`${count(objects, 'object')}: ${create + change + unchanged} fine`, `${conflict + refused} refused`]
    : [`${create} to create`, `${change} to change`, `${unchanged} unchanged`, `${pruned} to prune`, `${conflict} in conflict`, `${refused} refused`];
  return `${[...parts, `${skipped} skipped`].join(', ')}; ${found}`;
}
