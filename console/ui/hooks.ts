// Hooks that several views use: the place, the time, the width of the window, work that ends with its component.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Route, parseRoute } from '../model/index.ts';

/** The place that the address names. */
export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const note = (): void => setHash(location.hash);
    addEventListener('hashchange', note);
    return () => removeEventListener('hashchange', note);
  }, []);
  return useMemo(() => parseRoute(hash), [hash]);
}

/** Opens a place; `replace` leaves no step in the history of the browser. */
export function openRoute(hash: string, { replace = false } = {}): void {
  if (hash === location.hash) return;
  if (!replace) {
    location.hash = hash;
    return;
  }
  history.replaceState(null, '', hash);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

const AGE_STEP_MS = 5000;

/** The time, as often as ages need it. */
export function useNow(stepMs = AGE_STEP_MS): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), stepMs);
    return () => clearInterval(timer);
  }, [stepMs]);
  return now;
}

/** Whether a media query holds. */
export function useMedia(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query]);
  const [holds, setHolds] = useState(media.matches);
  useEffect(() => {
    const note = (): void => setHolds(media.matches);
    note();
    media.addEventListener('change', note);
    return () => media.removeEventListener('change', note);
  }, [media]);
  return holds;
}

/** Counts up, so that a component is drawn again. */
export function useRedraw(): () => void {
  const [, setCount] = useState(0);
  return useMemo(() => () => setCount((count) => count + 1), []);
}

/** An answer that is waited for. */
export type Loaded<T> =
  | { readonly type: 'waiting' }
  | { readonly type: 'there'; readonly value: T }
  | { readonly type: 'failed'; readonly error: Error };

/** Loads a value, again whenever `keys` change; what is outdated is aborted and never shown. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, keys: readonly unknown[]): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ type: 'waiting' });
  useEffect(() => {
    const controller = new AbortController();
    setState({ type: 'waiting' });
    load(controller.signal).then((value) => {
      if (!controller.signal.aborted) setState({ type: 'there', value });
    }, (error: unknown) => {
      if (!controller.signal.aborted) setState({ type: 'failed', error: error as Error });
    });
    return () => controller.abort();
  }, keys);
  return state;
}

/** Calls back for a key that no field takes; `key` as KeyboardEvent names it. */
export function useKey(key: string, callback: (event: KeyboardEvent) => void): void {
  useEffect(() => {
    const note = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof Element && event.target.closest('input, textarea, select, [contenteditable]') !== null;
      if (event.key === key && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) callback(event);
    };
    addEventListener('keydown', note);
    return () => removeEventListener('keydown', note);
  });
}
