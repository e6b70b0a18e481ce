// Conflicts before they happen: fields of other managers to which the text gives another value than the object has. To apply such a text is a conflict.
import { type Diagnostic, linter } from '@codemirror/lint';
import type { Extension } from '@codemirror/state';
import { type Node, parseDocument } from 'yaml';
import { type FieldOwner, type OwnedField, visitOwned } from './owners.ts';

/** A manager besides the one that applies. */
export interface OtherManager extends FieldOwner {
  readonly manager?: string;
}

/** A field of another manager that the text changes. */
export interface FoundConflict {
  readonly from: number;
  readonly to: number;
  readonly managers: readonly string[];
}

/** Longer texts are not compared as they are typed: the review does that. */
const LONGEST = 400_000;
const DELAY_MS = 300;

/** The whole values that a manager owns, by their paths. */
function readOwned(text: string, manager: OtherManager): Map<string, OwnedField> {
  const found = new Map<string, OwnedField>();
  visitOwned(parseDocument(text).contents, manager, (field) => {
    if (field.isWhole) found.set(field.path, field);
  });
  return found;
}

const valueOf = ({ node }: OwnedField): string => JSON.stringify((node as Node | null)?.toJSON() ?? null);

/** The fields of `managers` whose values in `text` are others than in `original`. What the text leaves out stays as it is. */
export function findConflicts(original: string, text: string, managers: readonly OtherManager[]): FoundConflict[] {
  const found = new Map<string, { readonly field: OwnedField; readonly managers: Set<string> }>();
  for (const manager of managers) {
    const before = readOwned(original, manager);
    for (const [path, field] of readOwned(text, manager)) {
      const old = before.get(path);
      if (old === undefined || valueOf(old) === valueOf(field)) continue;
      const known = found.get(path) ?? { field, managers: new Set<string>() };
      found.set(path, { field, managers: known.managers.add(manager.manager ?? 'unknown') });
    }
  }
  return [...found.values()].map(({ field: { range: [from, to] }, managers: names }) => ({ from, to, managers: [...names] }));
}

/** Marks them while the text is typed. */
export const showConflicts = (original: string, managers: readonly OtherManager[]): Extension => linter((view): Diagnostic[] => {
  const text = view.state.doc.toString();
  if (text.length > LONGEST) return [];
  return findConflicts(original, text, managers).map(({ from, to, managers: names }) => ({
    from, to: Math.min(to, text.length), severity: 'info', message: `${names.join(' and ')} set this: to apply another value is a conflict`,
  }));
}, { delay: DELAY_MS });
