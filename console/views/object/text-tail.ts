// Text that comes in pieces, of which the end is shown: drawn at most ten times a second, without the colours of terminals.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { RefObject } from 'preact';

const KEPT = 256 * 1024;
const STEP_MS = 100;
const NEAR_PX = 40;

/** Escape sequences of terminals, and control characters but for tabs and ends of lines. */
const controls = /\u001b\[[0-9;?]{0,16}[A-Za-z]|[\u0000-\u0008\u000b-\u001f\u007f]/g;

/** One piece. */
interface Piece {
  readonly text: string;
  readonly isError: boolean;
}

/** The end of a text in an element. */
export class TextTail {
  readonly place: RefObject<HTMLPreElement | null>;
  #pieces: Piece[] = [];
  #length = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #filter = '';

  constructor(place: RefObject<HTMLPreElement | null>) {
    this.place = place;
  }

  add(text: string, isError = false): void {
    if (text === '') return;
    this.#pieces.push({ text: text.replace(controls, ''), isError });
    this.#length += text.length;
    while (this.#length > KEPT && this.#pieces.length > 1) this.#length -= this.#pieces.shift()?.text.length ?? 0;
    this.#timer ??= setTimeout(() => this.#draw(), STEP_MS);
  }

  /** Shows only lines that hold a text. */
  filter(text: string): void {
    this.#filter = text.toLowerCase();
    this.#draw();
  }

  clear(): void {
    [this.#pieces, this.#length] = [[], 0];
    this.#draw();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #draw(): void {
    this.#timer = undefined;
    const element = this.place.current;
    if (element === null) return;
    const follows = element.scrollTop + element.clientHeight >= element.scrollHeight - NEAR_PX;
    element.replaceChildren(...this.#nodes());
    if (follows) element.scrollTop = element.scrollHeight;
  }

  #nodes(): Node[] {
    if (this.#filter !== '') {
      const lines = this.#pieces.map(({ text }) => text).join('').split('\n');
      return [document.createTextNode(lines.filter((line) => line.toLowerCase().includes(this.#filter)).join('\n'))];
    }
    return joinPieces(this.#pieces).map(({ text, isError }) => {
      const node = document.createElement('span');
      node.textContent = text.slice(-KEPT);
      if (isError) node.className = 'wrong';
      return node;
    });
  }
}

/** Neighbours of the same sort as one. */
function joinPieces(pieces: readonly Piece[]): Piece[] {
  const joined: { texts: string[]; isError: boolean }[] = [];
  for (const { text, isError } of pieces) {
    const last = joined.at(-1);
    if (last?.isError === isError) last.texts.push(text);
    else joined.push({ texts: [text], isError });
  }
  return joined.map(({ texts, isError }) => ({ text: texts.join(''), isError }));
}

/** One for as long as the component is drawn. */
export function useTextTail(): TextTail {
  const place = useRef<HTMLPreElement>(null);
  const tail = useMemo(() => new TextTail(place), []);
  useEffect(() => () => tail.stop(), []);
  return tail;
}
