// The door of terminal, which is loaded with the first one.
export { type TerminalOptions, type TerminalView, createTerminal } from './terminal.ts';
