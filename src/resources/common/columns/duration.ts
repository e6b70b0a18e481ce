// Durations for people, as k8s.io/apimachinery's util/duration prints them: two units while the figures are small, one when they are large.

const SECOND_MS = 1000;
const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;
const YEAR_DAYS = 365;

/** `large` with its unit, followed by `small` unless that is zero. */
function formatPair(large: string, small: number, unit: string): string {
  return small === 0 ? large : `${large}${small}${unit}`;
}

/** `45s`, `5m30s`, `3h20m`, `2d4h`, `3y40d`; `<invalid>` for times more than a second ahead. */
export function formatHumanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / SECOND_MS);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * MINUTE_S) return `${seconds}s`;
  const minutes = Math.trunc(seconds / MINUTE_S);
  if (minutes < 10) return formatPair(`${minutes}m`, seconds % MINUTE_S, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(seconds / HOUR_S);
  if (hours < 8) return formatPair(`${hours}h`, minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  return formatDays(Math.trunc(seconds / DAY_S), hours);
}

function formatDays(days: number, hours: number): string {
  if (hours < 8 * 24) return formatPair(`${days}d`, hours % 24, 'h');
  if (days < 2 * YEAR_DAYS) return `${days}d`;
  const years = Math.trunc(days / YEAR_DAYS);
  return days < 8 * YEAR_DAYS ? formatPair(`${years}y`, days % YEAR_DAYS, 'd') : `${years}y`;
}

/** Time since a timestamp; `<unknown>` when there is none. */
export function formatAge(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? '<unknown>' : formatHumanDuration(nowMs - at);
}
