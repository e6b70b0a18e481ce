// The ledger of the oracle: which steps are known to differ from the reference, and why. A surprise in either direction fails.
import { readFileSync, writeFileSync } from 'node:fs';

/** Steps of one scenario that differ, with the reason. */
interface LedgerEntry {
  readonly steps: readonly number[];
  readonly reason: string;
}

/** Entries by area and scenario. */
type Ledger = Record<string, Record<string, LedgerEntry>>;

/** One replayed step. */
export interface StepResult {
  readonly area: string;
  readonly scenario: string;
  readonly step: number;
  readonly ok: boolean;
  readonly what: string;
  readonly differences: readonly string[];
}

export const readLedger = (file: string): Ledger => JSON.parse(readFileSync(file, 'utf8')) as Ledger;

/** Steps that turned out other than the ledger says. */
export function findSurprises(ledger: Ledger, results: readonly StepResult[]): { broken: StepResult[]; mended: StepResult[] } {
  const expected = (r: StepResult): boolean => ledger[r.area]?.[r.scenario]?.steps.includes(r.step) === true;
  return { broken: results.filter((r) => !r.ok && !expected(r)), mended: results.filter((r) => r.ok && expected(r)) };
}

/** The ledger that says what was seen; known reasons are kept, new entries wait for theirs. */
export function acceptResults(ledger: Ledger, results: readonly StepResult[]): Ledger {
  const areas = new Set(results.map((r) => r.area));
  const next: Ledger = Object.fromEntries(Object.entries(ledger).filter(([area]) => !areas.has(area)));
  for (const { area, scenario, step, ok } of results) {
    if (ok) continue;
    const entries = (next[area] ??= {});
    const reason = ledger[area]?.[scenario]?.reason ?? 'not looked at';
    const known = entries[scenario];
    entries[scenario] = { steps: [...(known?.steps ?? []), step], reason };
  }
  return next;
}

/** One line per scenario, so that a diff shows what changed. */
export function writeLedger(file: string, ledger: Ledger): void {
  const areas = Object.keys(ledger).sort().map((area) => {
    const entries = ledger[area] as Record<string, LedgerEntry>;
    const lines = Object.keys(entries).sort().map((name) => `    ${JSON.stringify(name)}: ${JSON.stringify(entries[name])}`);
    return `  ${JSON.stringify(area)}: {\n${lines.join(',\n')}\n  }`;
  });
  writeFileSync(file, `{\n${areas.join(',\n')}\n}\n`);
}
