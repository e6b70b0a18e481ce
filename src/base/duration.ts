// Go's duration texts: `300ms`, `1m30s`, `1.5h`, `0`. With Go's words for what is wrong with one.
const unitMs: Readonly<Record<string, number>> = { ns: 1e-6, us: 1e-3, 'µs': 1e-3, 'μs': 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds, or the text of Go's error. */
export function parseDuration(text: string): number | string {
  const sign = text.startsWith('-') ? -1 : 1;
  let rest = /^[-+]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return 0;
  const invalid = `time: invalid duration ${JSON.stringify(text)}`;
  if (rest === '') return invalid;
  let total = 0;
  while (rest !== '') {
    const number = /^(?:\d+\.?\d*|\.\d+)/.exec(rest)?.[0];
    if (number === undefined) return invalid;
    rest = rest.slice(number.length);
    const unit = /^[^\d.]+/.exec(rest)?.[0];
    if (unit === undefined) return `time: missing unit in duration ${JSON.stringify(text)}`;
    const factor = Object.hasOwn(unitMs, unit) ? unitMs[unit] : undefined;
    if (factor === undefined) return `time: unknown unit ${JSON.stringify(unit)} in duration ${JSON.stringify(text)}`;
    total += Number(number) * factor;
    rest = rest.slice(unit.length);
  }
  return total * sign;
}
