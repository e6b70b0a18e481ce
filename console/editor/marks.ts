// Marks that editors show beside the text: the owners of a line, what changes against another text.
import { unifiedMergeView } from '@codemirror/merge';
import { type Extension, RangeSet, RangeSetBuilder } from '@codemirror/state';
import { Decoration, EditorView, GutterMarker, gutter } from '@codemirror/view';

const COLOURS = 6;

class OwnerMarker extends GutterMarker {
  readonly #numbers: readonly number[];
  readonly #title: string;

  constructor(numbers: readonly number[], title: string) {
    super();
    this.#numbers = numbers;
    this.#title = title;
  }

  override eq(other: OwnerMarker): boolean {
    return other.#title === this.#title;
  }

  override toDOM(): Node {
    const element = document.createElement('span');
    element.title = this.#title;
    for (const number of this.#numbers) {
      const mark = document.createElement('span');
      mark.className = `owner-mark owner-${number % COLOURS}`;
      mark.textContent = String(number + 1);
      element.append(mark);
    }
    return element;
  }
}

const ownerTheme = EditorView.theme({
  '.owner-gutter': { padding: '0 2px 0 6px', minWidth: '34px' },
  '.owner-mark': {
    display: 'inline-block', minWidth: '15px', margin: '0 1px', borderRadius: '3px', textAlign: 'center', fontSize: '10.5px', color: 'var(--on-owner)',
  },
  ...Object.fromEntries(Array.from({ length: COLOURS }, (_, index) => [`.owner-mark.owner-${index}`, { backgroundColor: `var(--owner-${index})` }])),
  ...Object.fromEntries(Array.from({ length: COLOURS }, (_, index) =>
    [`.cm-line.owner-${index}`, { backgroundColor: `color-mix(in srgb, var(--owner-${index}) 11%, transparent)` }])),
});

/** Marks the lines of each owner with its number and colour; `names` are those of the owners. */
export function showOwners(owners: ReadonlyMap<number, ReadonlySet<number>>, names: readonly string[]): Extension {
  return [
    ownerTheme,
    gutter({
      class: 'owner-gutter',
      lineMarker(view, block) {
        const numbers = [...owners.get(view.state.doc.lineAt(block.from).number) ?? []];
        return numbers.length === 0 ? null : new OwnerMarker(numbers, numbers.map((number) => names[number]).join(', '));
      },
    }),
    EditorView.decorations.of((view) => {
      const builder = new RangeSetBuilder<Decoration>();
      for (let number = 1; number <= view.state.doc.lines; number += 1) {
        const [first] = owners.get(number) ?? [];
        const { from } = view.state.doc.line(number);
        if (first !== undefined) builder.add(from, from, Decoration.line({ class: `owner-${first % COLOURS}` }));
      }
      return builder.finish() as RangeSet<Decoration>;
    }),
  ];
}

/** Shows the text as changes of `original`. */
export const showChanges = (original: string): Extension => [
  unifiedMergeView({ original, mergeControls: false, highlightChanges: true, gutter: true, collapseUnchanged: { margin: 3, minSize: 6 } }),
  EditorView.theme({
    '.cm-deletedChunk': { backgroundColor: 'color-mix(in srgb, var(--bad) 12%, transparent)' },
    '&.cm-merge-b .cm-changedLine, .cm-changedLine, .cm-inlineChangedLine': { backgroundColor: 'color-mix(in srgb, var(--good) 13%, transparent)' },
    '&.cm-merge-b .cm-deletedText, & .cm-deletedChunk .cm-deletedText': {
      background: 'linear-gradient(var(--bad), var(--bad)) bottom/100% 2px no-repeat',
    },
    '.cm-collapsedLines': { backgroundColor: 'var(--ground)', backgroundImage: 'none', color: 'var(--muted)' },
  }),
];
