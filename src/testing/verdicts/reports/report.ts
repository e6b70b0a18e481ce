// What all reports are made of: verdicts, each finding with its place, and the sums.
import type { DocumentPlace } from '../../manifests/documents.ts';
import { type Position, locateField } from '../../manifests/locate-field.ts';
import type { Action, Finding, Pruned, Verdict } from '../verdict.ts';

/** Everything that a run has found out. */
export interface Report {
  readonly kind: 'check' | 'plan';
  readonly verdicts: readonly Verdict[];
  readonly pruned: readonly Pruned[];
  /** What the verdicts leave aside. */
  readonly notes: readonly string[];
}

/** A finding and where it stands. */
export interface PlacedFinding extends Finding {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The findings of a verdict with their places. */
export function placeFindings({ document: { place }, findings }: Verdict): PlacedFinding[] {
  return findings.map((finding) => ({ ...finding, file: place.file, ...locate(place, finding) }));
}

function locate(place: DocumentPlace, { line, field }: Finding): Position {
  if (line !== undefined) return { line, column: 1 };
  const found = field === '' && place.inside === '' ? undefined : locateField(place, field);
  return found ?? { line: place.line, column: 1 };
}

/** `Deployment shop/web`; '' for what is no object. */
export function nameOf({ document: { object }, namespace }: Verdict): string {
  const { kind = '', metadata } = object;
  const name = metadata?.name ?? (metadata?.generateName === undefined ? '' : `${metadata.generateName}…`);
  return kind === '' ? '' : `${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`.trim();
}

/** How many objects there are of each sort, and how many findings. */
export interface Sums {
  readonly objects: number;
  readonly actions: Readonly<Record<Action, number>>;
  readonly pruned: number;
  readonly errors: number;
  readonly warnings: number;
}

/** Counts. */
export function sumUp({ verdicts, pruned }: Report): Sums {
  const actions: Record<Action, number> = { create: 0, change: 0, unchanged: 0, conflict: 0, refused: 0, skipped: 0 };
  for (const { action } of verdicts) actions[action]++;
  const findings = [...verdicts, ...pruned].flatMap((one) => one.findings);
  const errors = findings.filter(({ level }) => level === 'error').length;
  return { objects: verdicts.length, actions, pruned: pruned.length, errors, warnings: findings.length - errors };
}
