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

/** Text that is written before the turn ends. */
const MAX_PENDING_LENGTH = 1024 * 1024;

class LogBackend implements AuditBackend {
  readonly #options: LogBackendOptions;
  #pending = '';
  #pendingEvents = 0;

  constructor(options: LogBackendOptions) {
    this.#options = options;
  }

  process(events: readonly AuditEvent[]): boolean {
    const { format, isStrict } = this.#options;
    if (this.#pendingEvents === 0 && !isStrict) setImmediate(() => this.#write());
    for (const event of events) this.#pending += `${format === 'json' ? event.json : formatLegacy(event)}\n`;
    this.#pendingEvents += events.length;
    return isStrict || this.#pending.length > MAX_PENDING_LENGTH ? this.#write() : true;
  }

  flush(): void {
    this.#write();
  }

  async stop(): Promise<void> {
    this.#write();
    await this.#options.file.close();
  }

  #write(): boolean {
    const [text, count] = [this.#pending, this.#pendingEvents];
    if (count === 0) return true;
    this.#pending = '';
    this.#pendingEvents = 0;
    try {
      this.#options.file.write(text);
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
