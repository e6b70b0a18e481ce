// A list that follows the server. Changes are gathered and applied once per frame; the order is worked out a few times a second at most, so that a
// thousand changes a second leave time for everything else.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ApiError, type ListRequest, type ListSink, followList } from '../../api/index.ts';
import { type Arrangement, type RowChange, TableModel } from '../../model/index.ts';
import { useRedraw } from '../../ui/index.ts';

/** How a list is doing. */
export interface ListState {
  readonly model: TableModel;
  readonly phase: 'loading' | 'live' | 'waiting' | 'refused';
  readonly remaining: number;
  readonly error: ApiError | undefined;
}

const ORDER_MS = 250;
/** Ordering takes a fifth of the time at most. */
const ORDER_SHARE = 4;
const HIDDEN_MS = 1000;

/** Follows one list after the other. */
class Follower {
  readonly #redraw: () => void;
  readonly #model = new TableModel();
  #state: Omit<ListState, 'model'> = { phase: 'loading', remaining: 0, error: undefined };
  #controller = new AbortController();
  #pending: RowChange[] = [];
  #cancel: (() => void) | undefined;
  #nextOrderMs = 0;

  constructor(redraw: () => void) {
    this.#redraw = redraw;
  }

  get state(): ListState {
    return { ...this.#state, model: this.#model };
  }

  start(request: ListRequest): void {
    this.#controller.abort();
    this.#controller = new AbortController();
    this.#pending = [];
    this.#model.clear();
    this.#set({ phase: 'loading', remaining: 0, error: undefined });
    void followList(request, this.#makeSink(), this.#controller.signal);
  }

  arrange(arrangement: Arrangement): void {
    this.#model.arrange(arrangement);
    this.#model.refresh();
    this.#redraw();
  }

  stop(): void {
    this.#controller.abort();
    this.#cancel?.();
  }

  #makeSink(): ListSink {
    let listed = new Set<string>();
    return {
      columns: (columns) => this.#model.setColumns(columns),
      begin: () => {
        listed = new Set();
        // Changes of before would put back what the new list no longer has.
        this.#pending = [];
        this.#set({ phase: 'loading', error: undefined });
      },
      rows: (rows, remaining) => {
        for (const row of rows) listed.add(this.#model.add(row));
        this.#set({ remaining });
      },
      synced: () => {
        this.#model.retain(listed);
        this.#nextOrderMs = 0;
        this.#set({ phase: 'live', remaining: 0, error: undefined });
      },
      following: () => this.#set({ phase: 'live', error: undefined }),
      change: (change) => {
        this.#pending.push(change);
        this.#schedule();
      },
      failed: (error, willTryAgain) => this.#set({ phase: willTryAgain ? 'waiting' : 'refused', error }),
    };
  }

  #set(next: Partial<Omit<ListState, 'model'>>): void {
    this.#state = { ...this.#state, ...next };
    this.#schedule();
  }

  /** A page that is not seen has no frames: it takes changes in once a second. */
  #schedule(delayMs = 0): void {
    if (this.#cancel !== undefined) return;
    const flush = (): void => this.#flush();
    if (document.hidden || delayMs > 0) {
      const timer = setTimeout(flush, document.hidden ? HIDDEN_MS : delayMs);
      this.#cancel = () => clearTimeout(timer);
    } else {
      const frame = requestAnimationFrame(flush);
      this.#cancel = () => cancelAnimationFrame(frame);
    }
  }

  #flush(): void {
    this.#cancel = undefined;
    const changes = this.#pending;
    this.#pending = [];
    for (const change of changes) this.#model.apply(change);
    const beganMs = performance.now();
    if (this.#model.isStale && beganMs >= this.#nextOrderMs) {
      this.#model.refresh();
      const endedMs = performance.now();
      this.#nextOrderMs = endedMs + Math.max(ORDER_MS, (endedMs - beganMs) * ORDER_SHARE);
    } else if (this.#model.isStale) {
      this.#schedule(ORDER_MS);
    }
    this.#redraw();
  }
}

/** Follows the list of `request`, shown as `arrangement` says. */
export function useList(request: ListRequest, arrangement: Arrangement): ListState {
  const redraw = useRedraw();
  const follower = useRef<Follower | undefined>(undefined);
  const current = (follower.current ??= new Follower(redraw));
  const { kind, namespace, labels, fields, at } = request;
  useMemo(() => current.arrange(arrangement), [arrangement.column, arrangement.isDescending, arrangement.text]);
  useEffect(() => current.start(request), [kind.group, kind.plural, kind.version, namespace, labels, fields, at]);
  useEffect(() => () => current.stop(), []);
  return current.state;
}
