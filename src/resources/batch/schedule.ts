// Schedules of CronJobs: five fields of numbers, ranges, lists and steps, or a name such as @daily. The problems are reported in the words of the
// parser that the reference uses.
import { parseDuration } from '../../base/index.ts';

interface FieldBounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const bounds: readonly FieldBounds[] = [
  { min: 0, max: 59 }, { min: 0, max: 23 }, { min: 1, max: 31 }, { min: 1, max: 12, names: months }, { min: 0, max: 6, names: days },
];
const descriptors = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);

class ScheduleError extends Error {}

function parseNumber(text: string): number {
  if (/^[+-]?\d+$/.test(text)) {
    const number = Number(text);
    if (number < 0) throw new ScheduleError(`negative number (${number}) not allowed: ${text}`);
    return number;
  }
  throw new ScheduleError(`failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function parseEntry(text: string, { min, names }: FieldBounds): number {
  const index = names?.indexOf(text.toLowerCase()) ?? -1;
  return index >= 0 ? index + min : parseNumber(text);
}

function readRange(low: readonly string[], field: FieldBounds): readonly [number, number] {
  const [first = ''] = low;
  if (first === '*' || first === '?') return [field.min, field.max];
  const start = parseEntry(first, field);
  return [start, low[1] === undefined ? start : parseEntry(low[1], field)];
}

function checkRange(text: string, field: FieldBounds): void {
  const [range = '', step, ...tooManySteps] = text.split('/');
  const low = range.split('-');
  const isSingle = low.length === 1;
  if (low.length > 2 && low[0] !== '*' && low[0] !== '?') throw new ScheduleError(`too many hyphens: ${text}`);
  const [start, given] = readRange(low, field);
  if (tooManySteps.length > 0) throw new ScheduleError(`too many slashes: ${text}`);
  const width = step === undefined ? 1 : parseNumber(step);
  const end = step !== undefined && isSingle ? field.max : given;
  if (start < field.min) throw new ScheduleError(`beginning of range (${start}) below minimum (${field.min}): ${text}`);
  if (end > field.max) throw new ScheduleError(`end of range (${end}) above maximum (${field.max}): ${text}`);
  if (start > end) throw new ScheduleError(`beginning of range (${start}) beyond end of range (${end}): ${text}`);
  if (width === 0) throw new ScheduleError(`step of range should be a positive number: ${text}`);
}

const EVERY_PREFIX = '@every ';

function checkDescriptor(text: string): void {
  if (descriptors.has(text)) return;
  if (!text.startsWith(EVERY_PREFIX)) throw new ScheduleError(`unrecognized descriptor: ${text}`);
  const length = text.slice(EVERY_PREFIX.length);
  if (length.length > 64 || !/^[0-9.]/.test(length) || length === '0' || typeof parseDuration(length) === 'string') {
    throw new ScheduleError(`failed to parse duration ${text}: time: invalid duration ${JSON.stringify(length)}`);
  }
}

const zonePrefix = /^(?:CRON_)?TZ=\S* /;

/** The problem of a schedule; undefined when it is valid. */
export function findScheduleProblem(text: string): string | undefined {
  const schedule = text.replace(zonePrefix, '').trim();
  try {
    if (schedule.startsWith('@')) {
      checkDescriptor(schedule);
      return undefined;
    }
    const fields = schedule.split(/\s+/).filter((field) => field !== '');
    if (fields.length !== bounds.length) throw new ScheduleError(`expected exactly 5 fields, found ${fields.length}: [${fields.join(' ')}]`);
    for (const [index, field] of fields.entries()) {
      for (const range of field.split(',').filter((one) => one !== '')) checkRange(range, bounds[index] as FieldBounds);
    }
    return undefined;
  } catch (error) {
    if (error instanceof ScheduleError) return error.message;
    throw error;
  }
}

/** No name of a zone is half as long; looking for a megabyte takes 10 ms. */
const MAX_ZONE_LENGTH = 100;

/** Whether a time zone is known; Go knows `Local`, which cronjobs may not name. */
export function isTimeZone(name: string): boolean {
  if (name.length > MAX_ZONE_LENGTH) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
