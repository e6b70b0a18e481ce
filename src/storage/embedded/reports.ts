// The outcomes of a check and of a repair. They are apart from what makes them, so that the types of the package lead to no database library.

/** What a check found. */
export interface CheckReport {
  readonly ok: boolean;
  /** One sentence for each problem; at most a hundred. */
  readonly problems: readonly string[];
  /** Keys that exist. */
  readonly keys: number;
  readonly revision: number;
}

/** A record as the file of a repair holds it, one JSON object a line. */
export interface MovedRecord {
  /** Empty where the record was the only place that knew it. */
  readonly key: string;
  readonly modRevision: number;
  readonly cause: string;
  /** The value as far as it can be read, in base64. */
  readonly value: string;
  /** The whole record, in base64. */
  readonly record: string;
}

/** What a repair did. */
export interface RepairReport {
  /** The state after it. */
  readonly check: CheckReport;
  readonly moved: readonly MovedRecord[];
  /** The file that holds the moved records; undefined when there were none. */
  readonly file: string | undefined;
}
