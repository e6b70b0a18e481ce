// The faults that a Store works around, for its owner to show: records that are damaged, and a disk that refuses writes.

/** A stored record that does not match its checksum, or its index. Its key is served as unreadable; all other keys are as they were. */
export interface DamagedRecord {
  readonly key: string;
  readonly revision: number;
  readonly cause: string;
}

/** Damaged records that are named; further ones are reported when they are read after these were repaired. */
const NAMED_LIMIT = 100;

interface HealthReports {
  /** Called once for each damaged record. */
  readonly damaged?: (record: DamagedRecord) => void;
  /** Called when a newer revision has replaced the damaged record of a revision. */
  readonly replaced?: (revision: number) => void;
  /** Called when the disk begins to refuse writes. */
  readonly refused?: (cause: string) => void;
  /** Called when the disk takes writes again. */
  readonly accepted?: () => void;
}

/** The owner of a Store makes one and hands it in; the Store keeps it current. */
export class StorageHealth {
  readonly #reports: HealthReports;
  readonly #damaged = new Map<number, DamagedRecord>();
  #refusal: string | undefined;

  constructor(reports: HealthReports = {}) {
    this.#reports = reports;
  }

  /** The cause for which the disk refuses writes; undefined while it takes them. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** The damaged records that were read and not replaced since. */
  get damaged(): readonly DamagedRecord[] {
    return [...this.#damaged.values()];
  }

  noteDamage(record: DamagedRecord): void {
    if (this.#damaged.has(record.revision) || this.#damaged.size >= NAMED_LIMIT) return;
    this.#damaged.set(record.revision, record);
    this.#reports.damaged?.(record);
  }

  /** A newer revision of the key has replaced the record of `revision`. */
  noteReplaced(revision: number): void {
    if (this.#damaged.delete(revision)) this.#reports.replaced?.(revision);
  }

  noteRefusal(cause: string): void {
    const isNew = this.#refusal === undefined;
    this.#refusal = cause;
    if (isNew) this.#reports.refused?.(cause);
  }

  noteAcceptance(): void {
    if (this.#refusal === undefined) return;
    this.#refusal = undefined;
    this.#reports.accepted?.();
  }
}
