// Times in CBOR: the tags 0 (RFC 3339 text) and 1 (seconds since 1970) become RFC 3339 text, as Go prints times.

const timePattern = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.,](\d{1,30}))?(Z|[+-]\d\d:\d\d)$/;

/** A fraction of a second as Go prints it: at most nine digits, without zeros at its end. */
function formatFraction(digits: string): string {
  const kept = digits.slice(0, 9).replace(/0{1,9}$/, '');
  return kept === '' ? '' : `.${kept}`;
}

/** The text of tag 0 as Go prints the time again; undefined when it is no time. */
export function formatTime(text: string): string | undefined {
  const found = timePattern.exec(text);
  if (found === null || Number.isNaN(Date.parse(`${found[1]}T${found[2]}Z`))) return undefined;
  const zone = found[4] === '+00:00' || found[4] === '-00:00' ? 'Z' : found[4];
  return `${found[1]}T${found[2]}${formatFraction(found[3] ?? '')}${zone}`;
}

/** The text of tag 1: seconds since 1970 in UTC; undefined beyond the years that RFC 3339 can write. */
export function formatEpoch(seconds: number): string | undefined {
  const whole = Math.floor(seconds);
  const time = new Date(whole * 1000);
  if (Number.isNaN(time.getTime()) || time.getUTCFullYear() < 0 || time.getUTCFullYear() > 9999) return undefined;
  const digits = seconds === whole ? '' : Math.floor((seconds - whole) * 1e9).toString().padStart(9, '0');
  return `${time.toISOString().slice(0, 19)}${formatFraction(digits)}Z`;
}
