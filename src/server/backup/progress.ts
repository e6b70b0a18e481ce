// How far a long command is: on a terminal one line that is written over itself, elsewhere a plain line now and then.
import type { Clock } from '../../base/index.ts';

/** How much of the work is done. */
export interface Amount {
  readonly done: number;
  readonly total: number;
}

/** Receives amounts and shows some of them. */
export interface Progress {
  show(amount: Amount): void;
  /** Nothing more comes; a line of a terminal is ended. */
  end(): void;
}

interface ProgressOptions {
  /** The name of the work, and the name of the things that are counted, such as `keys`. */
  readonly task: string;
  readonly unit: string;
  readonly clock: Clock;
  readonly output: { readonly isTTY?: boolean; write(text: string): unknown };
}

const BAR_WIDTH = 30;
const DRAW_EVERY_MS = 100;
const LINE_EVERY_MS = 5_000;

/** Shows progress on `output`. */
export function createProgress({ task, unit, clock, output }: ProgressOptions): Progress {
  const isTerminal = output.isTTY === true;
  const startedMs = clock.monotonicMs();
  let shownMs = startedMs;
  let drawn = 0;
  const write = (amount: Amount): void => {
    shownMs = clock.monotonicMs();
    const line = formatProgress({ ...amount, unit, elapsedMs: shownMs - startedMs, hasBar: isTerminal });
    output.write(isTerminal ? `\r${`${task} ${line}`.padEnd(drawn)}` : `${task}: ${line}\n`);
    drawn = task.length + 1 + line.length;
  };
  return {
    show(amount) {
      const isLast = isTerminal && amount.done >= amount.total;
      if (isLast || clock.monotonicMs() - shownMs >= (isTerminal ? DRAW_EVERY_MS : LINE_EVERY_MS)) write(amount);
    },
    end() {
      if (isTerminal && drawn > 0) output.write('\n');
    },
  };
}

/** Share, amount, rate and time left. */
export function formatProgress({ done, total, unit, elapsedMs, hasBar }: Amount & { unit: string; elapsedMs: number; hasBar: boolean }): string {
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const rate = elapsedMs > 0 ? (done * 1000) / elapsedMs : 0;
  const left = done >= total || rate === 0 ? '' : `, ${formatSeconds(Math.ceil((total - done) / rate))} left`;
  const bar = hasBar ? `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}] ` : '';
  return `${bar}${String(Math.floor(share * 100)).padStart(3)} % ${done}/${total} ${unit}, ${Math.round(rate)}/s${left}`;
}

function formatSeconds(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
