// The terminal of a command: what is typed is its input, and its output is drawn as it wants.
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TerminalView } from '../../terminal/index.ts';
import { resolveColour } from '../../ui/index.ts';

/** How the view of commands meets its terminal. */
export interface TerminalLink {
  write(text: string): void;
}

interface TerminalPaneProps {
  readonly label: string;
  readonly onReady: (link: TerminalLink) => void;
  readonly onInput: (text: string) => void;
  readonly onResize: (columns: number, rows: number) => void;
  readonly onLeave: () => void;
}

/** A terminal for as long as it is drawn; `onReady` is called once it is there, after its size is known. */
export function TerminalPane({ label, ...calls }: TerminalPaneProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const latest = useRef(calls);
  latest.current = calls;
  useEffect(() => {
    let isGone = false;
    let terminal: TerminalView | undefined;
    void import('../../terminal/index.ts').then(({ createTerminal }) => {
      // The component may have left the page while the terminal was loaded.
      const parent = place.current;
      if (isGone || parent === null) return;
      terminal = createTerminal({
        parent, label, colourOf: (name) => resolveColour(parent, name), onInput: (text) => latest.current.onInput(text),
        onResize: (columns, rows) => latest.current.onResize(columns, rows), onLeave: () => latest.current.onLeave(),
      });
      terminal.focus();
      latest.current.onReady(terminal);
    });
    return () => {
      isGone = true;
      terminal?.close();
    };
  }, []);
  return <div ref={place} class="terminal-pane" />;
}
