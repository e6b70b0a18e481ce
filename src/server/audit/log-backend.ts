// The log backend: one line per event. In `blocking` mode events are written before the first answer of their turn of the event loop leaves, those of
// one turn together: each is in the file before the client can know the answer. Events without an answer are written at the end of the turn.
import type { AuditMetrics } from './audit-metrics.ts';
import type { AuditBackend } from './backend.ts';
import { type AuditEvent, formatLegacy } from './event.ts';
import type { LogFile } from './log-file.ts';

/** Formats that `--audit-log-format` names. */
export const logFormats = ['legacy', 'json'] as const;
/** One of them. */
export type LogFormat = (typeof logFormats)[number];

interface LogBackendOptions {
  readonly file: LogFile;
  readonly format: LogFormat;
  /** Whether a request fails with the write of its event: then every event is a write of its own. */
  readonly isStrict: boolean;
  readonly metrics: AuditMetrics;
}

/** Events that are written together, and characters of what clients have a part in: bodies, paths, and what is said of callers. */
const MAX_WAITING = 64;
const MAX_WAITING_WEIGHT = 64 * 1024;
/** Room for that many events without bodies; longer texts get a buffer of their own. */
const BUFFER_BYTES = 256 * 1024;
/** Bytes of one UTF-16 unit in UTF-8, at most. */
const MAX_UNIT_BYTES = 3;

class LogBackend implements AuditBackend {
  readonly #options: LogBackendOptions;
  /** One for as long as the server runs; lines are in it while they are written. */
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #end = 0;
  /** Lines in the buffer. */
  #count = 0;
  /** Whether all lines of the write in progress have been written. */
  #isStored = true;
  /** They become lines when they are written: that takes half the time of a line for each in the middle of its request. */
  readonly #waiting: AuditEvent[] = [];
  #waitingWeight = 0;
  /** Whether the end of this turn is awaited. */
  #isDue = false;

  constructor(options: LogBackendOptions) {
    this.#options = options;
  }

  process(events: readonly AuditEvent[]): boolean {
    if (!this.#isDue && !this.#options.isStrict) {
      this.#isDue = true;
      setImmediate(() => {
        this.#isDue = false;
        this.#write();
      });
    }
    let isStored = true;
    for (const event of events) if (!this.#add(event)) isStored = false;
    return this.#options.isStrict ? this.#write() && isStored : true;
  }

  /** A long event is written by itself: the file may refuse it, which is no reason to lose others. */
  #add(event: AuditEvent): boolean {
    const { weight } = event;
    const isStored = weight < MAX_WAITING_WEIGHT || this.#write();
    this.#waitingWeight += weight;
    const count = this.#waiting.push(event);
    return count < MAX_WAITING && this.#waitingWeight < MAX_WAITING_WEIGHT ? isStored : this.#write() && isStored;
  }

  flush(): void {
    this.#write();
  }

  async stop(): Promise<void> {
    this.#write();
    await this.#options.file.close();
  }

  #write(): boolean {
    this.#isStored = true;
    for (const event of this.#waiting) this.#put(event);
    this.#waiting.length = 0;
    this.#waitingWeight = 0;
    this.#writeBuffer();
    return this.#isStored;
  }

  /** Puts the line of an event behind those in the buffer. One that is longer than the buffer is written from memory of its own. */
  #put(event: AuditEvent): void {
    const isJson = this.#options.format === 'json';
    const filled = isJson ? event.fill(this.#buffer, this.#end) : this.#end;
    if (filled > this.#end) {
      this.#end = filled;
    } else {
      const line = `${isJson ? event.json : formatLegacy(event)}\n`;
      const bytes = line.length * MAX_UNIT_BYTES;
      if (bytes > BUFFER_BYTES - this.#end) this.#writeBuffer();
      if (bytes > BUFFER_BYTES) return this.#writeLines(Buffer.from(line), 1);
      this.#end += this.#buffer.write(line, this.#end);
    }
    this.#count += 1;
  }

  #writeBuffer(): void {
    const [end, count] = [this.#end, this.#count];
    this.#end = 0;
    this.#count = 0;
    if (count > 0) this.#writeLines(this.#buffer.subarray(0, end), count);
  }

  #writeLines(lines: Uint8Array, count: number): void {
    try {
      this.#options.file.write(lines);
    } catch (error) {
      this.#isStored = false;
      this.#options.metrics.recordErrors('log', count, error);
    }
  }
}

/** Makes the backend. */
export function createLogBackend(options: LogBackendOptions): AuditBackend {
  return new LogBackend(options);
}
