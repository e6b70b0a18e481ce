// A terminal: xterm.js in the colours and the width of the page. What a program writes is shown and does nothing: no links, no titles, no clipboard.
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useStyleSheets } from './style-sheets.ts';

/** What a terminal begins with. */
export interface TerminalOptions {
  readonly parent: HTMLElement;
  readonly label: string;
  /** A colour of the page by its name, as canvases read it. */
  readonly colourOf: (name: string) => string;
  /** Receives what is typed. */
  readonly onInput: (text: string) => void;
  /** Hears of its size, at first and after each change. */
  readonly onResize: (columns: number, rows: number) => void;
  /** The key that leaves was pressed: everything else is for the program. */
  readonly onLeave: () => void;
}

/** A terminal on the page. */
export interface TerminalView {
  write(text: string): void;
  focus(): void;
  close(): void;
}

const KEPT_LINES = 2000;
/** More than this is not kept waiting until it is drawn. */
const WAITING_LIMIT = 2 * 1024 * 1024;
const LEAVING_KEY = 'F6';

/** Puts a terminal into `parent`. */
export function createTerminal({ parent, label, colourOf, onInput, onResize, onLeave }: TerminalOptions): TerminalView {
  const terminal = new Terminal({
    scrollback: KEPT_LINES, screenReaderMode: true, fontSize: 13, cursorBlink: false, minimumContrastRatio: 4.5,
    fontFamily: getComputedStyle(parent).getPropertyValue('--mono'), linkHandler: { activate: () => {}, hover: () => {} },
    theme: { background: colourOf('--surface'), foreground: colourOf('--text'), cursor: colourOf('--accent'), selectionBackground: colourOf('--selected') },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  const endStyles = useStyleSheets();
  terminal.open(parent);
  terminal.textarea?.setAttribute('aria-label', label);
  terminal.onData(onInput);
  terminal.onResize(({ cols, rows }) => onResize(cols, rows));
  terminal.attachCustomKeyEventHandler(({ key, type }) => {
    if (key !== LEAVING_KEY) return true;
    if (type === 'keydown') onLeave();
    return false;
  });
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(parent);
  fit.fit();
  onResize(terminal.cols, terminal.rows);
  return {
    write: limitWaiting(terminal),
    focus: () => terminal.focus(),
    close() {
      observer.disconnect();
      terminal.dispose();
      endStyles();
    },
  };
}

/** Writes to the terminal; a program that writes faster than it is drawn loses what comes meanwhile. */
function limitWaiting(terminal: Terminal): (text: string) => void {
  let [waiting, isSkipping] = [0, false];
  return (text) => {
    if (waiting > WAITING_LIMIT) {
      isSkipping = true;
      return;
    }
    waiting += text.length;
    terminal.write(text, () => {
      waiting -= text.length;
      if (!isSkipping || waiting > 0) return;
      isSkipping = false;
      terminal.write('\r\n… output that came too fast is left out …\r\n');
    });
  };
}
