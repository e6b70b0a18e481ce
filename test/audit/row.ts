// A line of the audit that requests of its own show.
import type { Request } from '../differential/case.ts';

/** A line, or several with spaces between: what is looked at, and the requests that show it. */
export interface Row {
  readonly line: string;
  readonly what: string;
  readonly requests: readonly Request[];
}
