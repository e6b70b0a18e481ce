// The YAML editor: CodeMirror in a shadow root, which takes its styles as objects of the page and needs none inline.
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, bracketMatching, foldGutter, foldKeymap, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';

/** What an editor begins with. */
export interface EditorOptions {
  readonly parent: HTMLElement;
  readonly text: string;
  readonly label: string;
  readonly isReadOnly: boolean;
  readonly isDark: boolean;
  readonly onChange?: (text: string) => void;
  /** More of CodeMirror: gutters, decorations, completion. */
  readonly extensions?: readonly Extension[];
}

/** An editor on the page. */
export interface Editor {
  readonly view: EditorView;
  text(): string;
  /** Replaces the text, as one step that can be undone. */
  setText(text: string): void;
  close(): void;
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--code-key)' }, { tag: [tags.string, tags.content], color: 'var(--code-text)' },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: 'var(--code-value)' }, { tag: tags.comment, color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.meta, tags.separator, tags.punctuation], color: 'var(--muted)' },
]);

const theme = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '12.5px' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--accent)', padding: '8px 0' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--text)' },
  '.cm-cursor': { borderLeftColor: 'var(--accent)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 24%, transparent) !important',
  },
  '.cm-panels, .cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-tooltip': { borderRadius: '6px', overflow: 'hidden', boxShadow: 'var(--shadow)' },
  '.field-help, .cm-completionInfo': { padding: '6px 10px', maxWidth: 'min(420px, 80vw)', maxHeight: '300px', overflowY: 'auto', overflowWrap: 'anywhere' },
  '.cm-completionInfo .field-help': { padding: 0 },
  '.field-help p': { margin: '4px 0 0' },
  '.cm-completionDetail': { color: 'var(--muted)', fontStyle: 'normal' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-diagnostic': { borderLeft: '4px solid var(--busy)' }, '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-info': { borderLeftColor: 'var(--accent)' },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', color: 'var(--muted)' },
});

/** Puts an editor into `parent`. */
export function createEditor({ parent, text, label, isReadOnly, isDark, onChange, extensions = [] }: EditorOptions): Editor {
  const root = parent.shadowRoot ?? parent.attachShadow({ mode: 'open' });
  const view = new EditorView({
    root, parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), foldGutter(), history(), drawSelection(), bracketMatching(), highlightActiveLine(), highlightSelectionMatches(), yaml(),
        indentUnit.of('  '), syntaxHighlighting(colours), theme, EditorView.darkTheme.of(isDark), EditorView.lineWrapping,
        EditorState.readOnly.of(isReadOnly), EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false' }),
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap, ...foldKeymap]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) onChange?.(update.state.doc.toString());
        }),
        ...extensions,
      ],
    }),
  });
  return {
    view,
    text: () => view.state.doc.toString(),
    setText: (next) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } }),
    close: () => view.destroy(),
  };
}
