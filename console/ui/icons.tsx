// The few icons of the page, drawn with strokes of the text's colour.
import type { JSX } from 'preact';

const shapes = {
  search: 'M11 11l4 4M7.2 12.4a5.2 5.2 0 1 1 0-10.4 5.2 5.2 0 0 1 0 10.4z',
  menu: 'M2.5 4.5h12M2.5 8.5h12M2.5 12.5h12',
  close: 'M4 4l9 9M13 4l-9 9',
  sun: 'M8.5 5.5a3 3 0 1 1 0 6 3 3 0 0 1 0-6zM8.5 1.5v1.4M8.5 14.1v1.4M1.5 8.5h1.4M14.1 8.5h1.4M3.6 3.6l1 1M12.4 12.4l1 1M3.6 13.4l1-1M12.4 4.6l1-1',
  moon: 'M13.8 10.4A5.8 5.8 0 0 1 6.6 3.2a5.8 5.8 0 1 0 7.2 7.2z',
  user: 'M8.5 8.2a2.9 2.9 0 1 1 0-5.8 2.9 2.9 0 0 1 0 5.8zM3 14.6c.5-2.8 2.7-4.3 5.5-4.3s5 1.5 5.5 4.3',
  up: 'M8.5 13.5v-10M4.5 7.5l4-4 4 4',
  down: 'M8.5 3.5v10M4.5 9.5l4 4 4-4',
  right: 'M6.5 4l4.5 4.5L6.5 13',
  plus: 'M8.5 3.5v10M3.5 8.5h10',
  trash: 'M3 4.5h11M6.5 4.5v-2h4v2M4.5 4.5l.6 10h6.8l.6-10',
  edit: 'M3 14l.7-3L11 3.7a1.4 1.4 0 0 1 2 0l.3.3a1.4 1.4 0 0 1 0 2L6 13.3 3 14z',
  clock: 'M8.5 2a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM8.5 5v3.8l2.4 1.4',
  key: 'M10.8 9.2a3.4 3.4 0 1 1 0-6.8 3.4 3.4 0 0 1 0 6.8zM8.4 8.2L2.6 14v1h2.6v-1.8h1.8v-1.8',
  chart: 'M2.5 2.5v12h12M5 11l3-3.5 2.2 2L14 5',
  cube: 'M8.5 1.8l6 3.3v6.8l-6 3.3-6-3.3V5.1zM2.5 5.1l6 3.4 6-3.4M8.5 8.5v6.7',
  warn: 'M8.5 2.2l6.6 12H1.9zM8.5 6.6v3.6M8.5 12.2v.1',
} as const;

/** Which icons there are. */
export type IconName = keyof typeof shapes;

/** An icon; the text beside it, or the name of its button, says what it means. */
export function Icon({ name }: { readonly name: IconName }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 17 17" aria-hidden="true">
      <path d={shapes[name]} fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
