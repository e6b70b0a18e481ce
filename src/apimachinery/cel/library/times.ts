// The parts of instants, in UTC or in a named zone, and of durations.
import { type FunctionDeclaration, declare, method, metered } from '../check/environment.ts';
import { type Meter, unmetered } from '../values/meter.ts';
import { isNamedZone, localDate } from '../values/time.ts';
import { durationType, intType, stringType, timestampType } from '../values/types.ts';
import { type CelDuration, CelError, type CelTimestamp, type Value, narrowInt } from '../values/values.ts';

/** Measured: opening a zone takes 100 µs, reading a date in it 5 µs. */
const OPEN_ZONE_WORK = 500;
const NAMED_ZONE_WORK = 25;

type Part = (date: Date, time: CelTimestamp) => number;

function dayOfYear(date: Date): number {
  const start = new Date(0);
  start.setUTCFullYear(date.getUTCFullYear(), 0, 1);
  start.setUTCHours(0, 0, 0, 0);
  return Math.floor((date.getTime() - start.getTime()) / 86_400_000);
}

function datePart(name: string, id: string, part: Part): FunctionDeclaration {
  return declare(name, ...dateOverloads(id, part));
}

function dateOverloads(id: string, part: Part): ReturnType<typeof method>[] {
  const inZone = (meter: Meter, time: CelTimestamp, zone: string): Value => {
    if (isNamedZone(zone)) {
      meter.workOnce(`zone ${zone}`, OPEN_ZONE_WORK);
      meter.work(NAMED_ZONE_WORK);
    }
    const date = localDate(time, zone);
    return date === undefined ? new CelError(`unknown time zone ${zone}`) : part(date, time);
  };
  return [
    method(`timestamp_to_${id}`, [timestampType], [intType, (time: CelTimestamp) => inZone(unmetered, time, 'UTC')]),
    method(`timestamp_to_${id}_with_tz`, [timestampType, stringType], [intType, metered(inZone)]),
  ];
}

/** A part that durations have too, there as the whole span in that unit. */
function sharedPart(name: string, ids: { date: string; span: string }, parts: { date: Part; nanos: bigint }): FunctionDeclaration {
  const span = (value: CelDuration): Value => narrowInt(value.nanos / parts.nanos);
  return declare(name, ...dateOverloads(ids.date, parts.date), method(`duration_to_${ids.span}`, [durationType], [intType, span]));
}

/** getFullYear and its kin. */
export const timeFunctions: readonly FunctionDeclaration[] = [
  datePart('getFullYear', 'year', (date) => date.getUTCFullYear()),
  datePart('getMonth', 'month', (date) => date.getUTCMonth()),
  datePart('getDayOfYear', 'day_of_year', dayOfYear),
  datePart('getDayOfMonth', 'day_of_month', (date) => date.getUTCDate() - 1),
  datePart('getDate', 'day_of_month_1_based', (date) => date.getUTCDate()),
  datePart('getDayOfWeek', 'day_of_week', (date) => date.getUTCDay()),
  sharedPart('getHours', { date: 'hours', span: 'hours' }, { date: (date) => date.getUTCHours(), nanos: 3_600_000_000_000n }),
  sharedPart('getMinutes', { date: 'minutes', span: 'minutes' }, { date: (date) => date.getUTCMinutes(), nanos: 60_000_000_000n }),
  sharedPart('getSeconds', { date: 'seconds', span: 'seconds' }, { date: (date) => date.getUTCSeconds(), nanos: 1_000_000_000n }),
  sharedPart('getMilliseconds', { date: 'milliseconds', span: 'milliseconds' },
    { date: (_, time) => Math.floor(time.nanos / 1e6), nanos: 1_000_000n }),
];
