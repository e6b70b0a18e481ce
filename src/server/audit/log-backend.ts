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
const MAX_WAITING_LENGTH = 64 * 1024;
/** Room for that many events without bodies; longer texts get a buffer of their own. */
const BUFFER_BYTES = 256 * 1024;
/** Bytes of one UTF-16 unit in UTF-8, at most. */
const MAX_UNIT_BYTES = 3;

class LogBackend implements AuditBackend {
  readonly #options: LogBackendOptions;
  /** One for as long as the server runs. */
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  /** They become one text when they are written: that takes half the time of a text for each in the middle of its request. */
  readonly #waiting: AuditEvent[] = [];
  #waitingLength = 0;
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
    const { requestUri, caller } = event.fields.request;
    const length = event.hasBodies && this.#options.format === 'json' ? event.json.length : requestUri.length + caller.text.length;
    const isStored = length < MAX_WAITING_LENGTH || this.#write();
    this.#waitingLength += length;
    const count = this.#waiting.push(event);
    return count < MAX_WAITING && this.#waitingLength < MAX_WAITING_LENGTH ? isStored : this.#write() && isStored;
  }

  flush(): void {
    this.#write();
  }

  async stop(): Promise<void> {
    this.#write();
    await this.#options.file.close();
  }

  #write(): boolean {
    const count = this.#waiting.length;
    if (count === 0) return true;
    const { file, format, metrics } = this.#options;
    let text = '';
    for (const event of this.#waiting) text += `${format === 'json' ? event.json : formatLegacy(event)}\n`;
    this.#waiting.length = 0;
    this.#waitingLength = 0;
    try {
      file.write(text.length * MAX_UNIT_BYTES > BUFFER_BYTES ? Buffer.from(text) : this.#buffer.subarray(0, this.#buffer.write(text)));
      return true;
    } catch (error) {
      metrics.recordErrors('log', count, error);
      return false;
    }
  }
}

/** Makes the backend. */
export function createLogBackend(options: LogBackendOptions): AuditBackend {
  return new LogBackend(options);
}
