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

/** Bytes that are written together. */
const BUFFER_BYTES = 256 * 1024;
/** Bytes of one UTF-16 unit in UTF-8, at most. */
const MAX_UNIT_BYTES = 3;

class LogBackend implements AuditBackend {
  readonly #options: LogBackendOptions;
  /** One for as long as the server runs: a text of all events would be copied twice on its way to the file. */
  readonly #buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES);
  #length = 0;
  #pendingEvents = 0;
  /** Whether the end of this turn is awaited. */
  #isDue = false;

  constructor(options: LogBackendOptions) {
    this.#options = options;
  }

  process(events: readonly AuditEvent[]): boolean {
    const { format, isStrict } = this.#options;
    if (!this.#isDue && !isStrict) {
      this.#isDue = true;
      setImmediate(() => {
        this.#isDue = false;
        this.#write();
      });
    }
    let isStored = true;
    for (const event of events) isStored = this.#add(`${format === 'json' ? event.json : formatLegacy(event)}\n`) && isStored;
    return isStrict ? this.#write() && isStored : true;
  }

  #add(line: string): boolean {
    const mostBytes = line.length * MAX_UNIT_BYTES;
    const isStored = this.#length + mostBytes <= BUFFER_BYTES || this.#write();
    this.#pendingEvents += 1;
    if (mostBytes > BUFFER_BYTES) return this.#writeBytes(Buffer.from(line)) && isStored;
    this.#length += this.#buffer.write(line, this.#length);
    return isStored;
  }

  flush(): void {
    this.#write();
  }

  async stop(): Promise<void> {
    this.#write();
    await this.#options.file.close();
  }

  #write(): boolean {
    return this.#pendingEvents === 0 || this.#writeBytes(this.#buffer.subarray(0, this.#length));
  }

  #writeBytes(bytes: Uint8Array): boolean {
    const count = this.#pendingEvents;
    this.#length = 0;
    this.#pendingEvents = 0;
    try {
      this.#options.file.write(bytes);
      return true;
    } catch (error) {
      this.#options.metrics.recordErrors('log', count, error);
      return false;
    }
  }
}

/** Makes the backend. */
export function createLogBackend(options: LogBackendOptions): AuditBackend {
  return new LogBackend(options);
}
