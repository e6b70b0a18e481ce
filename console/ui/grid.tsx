// A table of any length of which only the rows in sight are in the document. One Tab stop: arrows move between rows, Enter opens one.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icons.tsx';

/** A column of the grid. */
export interface GridColumn {
  readonly id: number;
  readonly title: string;
  readonly hint: string;
  /** In characters. */
  readonly width: number;
}

/** What a grid shows. */
export interface GridProps<R> {
  readonly label: string;
  readonly columns: readonly GridColumn[];
  readonly rows: readonly R[];
  readonly keyOf: (row: R) => string;
  readonly classOf?: (row: R) => string;
  readonly renderCell: (row: R, column: GridColumn) => ComponentChildren;
  readonly onOpen: (row: R) => void;
  readonly sort: { readonly column: number; readonly isDescending: boolean };
  readonly onSort: (column: number) => void;
}

const ROW_PX = 32;
const OVERSCAN = 8;
const CHARACTER_PX = 7.4;
const PADDING_PX = 22;

function useWindow(count: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [{ top, height }, setView] = useState({ top: 0, height: 800 });
  useLayoutEffect(() => {
    const element = scroller.current as HTMLDivElement;
    const note = (): void => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(note);
    observer.observe(element);
    element.addEventListener('scroll', note, { passive: true });
    note();
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', note);
    };
  }, []);
  const first = Math.max(0, Math.floor(top / ROW_PX) - OVERSCAN);
  return { scroller, first, last: Math.min(count, Math.ceil((top + height) / ROW_PX) + OVERSCAN), page: Math.max(1, Math.floor(height / ROW_PX) - 2) };
}

const steps: Readonly<Record<string, (page: number) => number>> = {
  ArrowDown: () => 1, j: () => 1, ArrowUp: () => -1, k: () => -1, PageDown: (page) => page, PageUp: (page) => -page, Home: () => -Infinity, End: () => Infinity,
};

/** The grid. */
export function Grid<R>({ label, columns, rows, keyOf, classOf, renderCell, onOpen, sort, onSort }: GridProps<R>): JSX.Element {
  const { scroller, first, last, page } = useWindow(rows.length);
  const [active, setActive] = useState<string | undefined>();
  const activeIndex = active === undefined ? -1 : rows.findIndex((row) => keyOf(row) === active);
  useEffect(() => setActive(undefined), [label]);
  const move = (index: number): void => {
    const at = Math.min(rows.length - 1, Math.max(0, index));
    const row = rows[at];
    const element = scroller.current;
    if (row === undefined || element === null) return;
    setActive(keyOf(row));
    const head = ROW_PX;
    const [start, end] = [at * ROW_PX, (at + 1) * ROW_PX];
    if (start < element.scrollTop) element.scrollTop = start;
    else if (end + head > element.scrollTop + element.clientHeight) element.scrollTop = end + head - element.clientHeight;
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[activeIndex];
    if (event.key === 'Enter' && row !== undefined && event.target === scroller.current) return onOpen(row);
    const step = steps[event.key];
    if (step === undefined) return undefined;
    event.preventDefault();
    return move(activeIndex + step(page));
  };
  const template = columns.map(({ width }) => `minmax(${Math.round(width * CHARACTER_PX + PADDING_PX)}px, ${width}fr)`).join(' ');
  return (
    <div class="grid" role="grid" aria-label={label} aria-rowcount={rows.length + 1} aria-colcount={columns.length} tabIndex={0} ref={scroller}
      onKeyDown={onKeyDown} style={{ '--columns': template }} {...(activeIndex >= first && activeIndex < last && { 'aria-activedescendant': `row-${active}` })}>
      <div class="grid-head" role="row" aria-rowindex={1}>
        {columns.map(({ id, title, hint }) => (
          <div key={id} role="columnheader" title={hint} aria-sort={sort.column !== id ? 'none' : sort.isDescending ? 'descending' : 'ascending'}>
            <button type="button" tabIndex={-1} onClick={() => onSort(id)}>
              {title}{sort.column === id && <Icon name={sort.isDescending ? 'down' : 'up'} />}
            </button>
          </div>
        ))}
      </div>
      <div class="grid-body" role="presentation" style={{ height: `${rows.length * ROW_PX}px` }}>
        <div class="grid-window" role="presentation" style={{ transform: `translateY(${first * ROW_PX}px)` }}>
          {rows.slice(first, last).map((row, index) => (
            <div key={keyOf(row)} id={`row-${keyOf(row)}`} role="row" aria-rowindex={first + index + 2} aria-selected={first + index === activeIndex}
              class={`grid-row ${classOf?.(row) ?? ''}`} onClick={(event) => openUnlessSelecting(event, () => onOpen(row))}>
              {columns.map((column) => <div key={column.id} role="gridcell">{renderCell(row, column)}</div>)}
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

/** A click that ends a selection of text opens nothing; links open themselves. */
function openUnlessSelecting(event: MouseEvent, open: () => void): void {
  const isLink = event.target instanceof Element && event.target.closest('a, button') !== null;
  if (!isLink && getSelection()?.isCollapsed !== false) open();
}
