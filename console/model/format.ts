// Values as people read them: durations in the form of kubectl, numbers and bytes in short.

const SECOND_MS = 1000;
const units: readonly (readonly [unit: string, seconds: number])[] = [['y', 31_536_000], ['d', 86_400], ['h', 3600], ['m', 60], ['s', 1]];

/** A duration with one or two units: 45s, 3m20s, 5h, 12d. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / SECOND_MS));
  const at = units.findIndex(([, size]) => seconds >= size);
  if (at === -1) return '0s';
  const [unit, size] = units[at] as (typeof units)[number];
  const count = Math.floor(seconds / size);
  const [smaller, smallerSize] = units[at + 1] ?? ['', 1];
  const rest = Math.floor((seconds % size) / smallerSize);
  return count < 10 && smaller !== '' && rest > 0 ? `${count}${unit}${rest}${smaller}` : `${count}${unit}`;
}

/** The time since a timestamp of the API; '' for none. */
export function formatAge(timestamp: string, nowMs: number): string {
  const ms = Date.parse(timestamp);
  return Number.isNaN(ms) ? '' : formatDuration(nowMs - ms);
}

/** A whole number with thin gaps between its thousands. */
export const formatCount = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, '\u202f');

const byteUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Bytes with a unit. */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(byteUnits.length - 1, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${value >= 100 || power === 0 ? Math.round(value) : value.toFixed(1)} ${byteUnits[power]}`;
}

/** The tone in which a cell or a condition is shown. */
export type Tone = 'good' | 'busy' | 'bad' | '';

const good = new Set(['running', 'active', 'ready', 'bound', 'succeeded', 'complete', 'completed', 'true', 'established', 'approved', 'available', 'healthy']);
const busy = new Set(['pending', 'terminating', 'containercreating', 'unknown', 'progressing', 'released', 'notready', 'suspended', 'warning']);
const bad = new Set(['failed', 'error', 'crashloopbackoff', 'lost', 'evicted', 'denied', 'imagepullbackoff', 'errimagepull', 'oomkilled']);

/** The tone of a word of a status; '' for words that say nothing about health. */
export function findTone(text: string): Tone {
  const word = text.toLowerCase();
  if (good.has(word)) return 'good';
  if (busy.has(word)) return 'busy';
  return bad.has(word) ? 'bad' : '';
}
