// Durations for people, as k8s.io/apimachinery's util/duration prints them: two units while the figures are small, one when they are large.

const secondMs = 1000;
const minuteS = 60;
const hourS = 3600;
const dayS = 86_400;
const yearDays = 365;

/** `large` with its unit, followed by `small` unless that is zero. */
function formatPair(large: string, small: number, unit: string): string {
  return small === 0 ? large : `${large}${small}${unit}`;
}

/** `45s`, `5m30s`, `3h20m`, `2d4h`, `3y40d`; `<invalid>` for times more than a second ahead. */
export function formatHumanDuration(durationMs: number): string {
  const seconds = Math.trunc(durationMs / secondMs);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 2 * minuteS) return `${seconds}s`;
  const minutes = Math.trunc(seconds / minuteS);
  if (minutes < 10) return formatPair(`${minutes}m`, seconds % minuteS, 's');
  if (minutes < 3 * 60) return `${minutes}m`;
  const hours = Math.trunc(seconds / hourS);
  if (hours < 8) return formatPair(`${hours}h`, minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  return formatDays(Math.trunc(seconds / dayS), hours);
}

function formatDays(days: number, hours: number): string {
  if (hours < 8 * 24) return formatPair(`${days}d`, hours % 24, 'h');
  if (days < 2 * yearDays) return `${days}d`;
  const years = Math.trunc(days / yearDays);
  return days < 8 * yearDays ? formatPair(`${years}y`, days % yearDays, 'd') : `${years}y`;
}

/** Time since a timestamp; `<unknown>` when there is none. */
export function formatAge(timestamp: unknown, nowMs: number): string {
  if (typeof timestamp !== 'string' || timestamp === '') return '<unknown>';
  const at = Date.parse(timestamp);
  return Number.isNaN(at) ? '<unknown>' : formatHumanDuration(nowMs - at);
}
