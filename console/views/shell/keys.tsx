// The keys of the page.
import type { JSX } from 'preact';
import { Dialog } from '../../ui/index.ts';

const keys = [
  ['Ctrl K or ⌘ K', 'Find kinds, namespaces and objects'], ['/', 'Filter the list'], ['↑ ↓ or k j', 'Move in a list'],
  ['Page Up, Page Down, Home, End', 'Move far'], ['Enter', 'Open the object'], ['?', 'Show the keys'], ['Esc', 'Close what is open'],
] as const;

/** Lists them. */
export function Keys({ onClose }: { readonly onClose: () => void }): JSX.Element {
  return (
    <Dialog label="Keys" class="keys" onClose={onClose}>
      <h2>Keys</h2>
      <dl>{keys.map(([key, meaning]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{meaning}</dd></div>)}</dl>
      <button type="button" onClick={onClose}>Close</button>
    </Dialog>
  );
}
