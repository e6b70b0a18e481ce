// The state of upstream's tests: which of them kube-apiserver itself fails in this harness, and which fail here, each with its cause.
import { readFileSync } from 'node:fs';

/** The tests of one package that do not pass. */
interface PackageLedger {
  /** Tests that kube-apiserver 1.36.3 fails or skips when it is the server under test: nothing is expected of them. */
  readonly reference: readonly string[];
  /** Tests that fail here and pass there, and why. */
  readonly fails: Readonly<Record<string, string>>;
}

/** Packages by name. */
export type Ledger = Readonly<Record<string, PackageLedger>>;

/** How a test ended; `missing` when its process ended before it. */
export type Outcome = 'PASS' | 'FAIL' | 'SKIP' | 'missing';

/** What a run of a package comes to. */
export interface Verdict {
  /** Tests that pass here, of those that pass on the reference. */
  readonly passed: number;
  readonly expected: number;
  readonly surprises: readonly string[];
}

/** A package in the file: there are also tests that fail with releases of Node before a major version. */
interface StoredPackage extends PackageLedger {
  readonly before?: Readonly<Record<string, PackageLedger['fails']>>;
}

/** Reads the ledger of the repository, as it is for a release of Node. */
export function readLedger(file: string, node = process.versions.node): Ledger {
  const packages = JSON.parse(readFileSync(file, 'utf8')) as Record<string, StoredPackage>;
  const isOlder = ([major]: [string, unknown]): boolean => Number.parseInt(node, 10) < Number(major);
  return Object.fromEntries(Object.entries(packages).map(([name, { reference, fails, before = {} }]) =>
    [name, { reference, fails: Object.assign({}, fails, ...Object.entries(before).filter(isOlder).map(([, causes]) => causes)) }]));
}

/** Compares the outcomes of a package with what is known of it. */
export function compare(outcomes: ReadonlyMap<string, Outcome>, { reference, fails }: PackageLedger = { reference: [], fails: {} }): Verdict {
  const counted = [...outcomes].filter(([name, outcome]) => !reference.includes(name) && outcome !== 'SKIP');
  const surprises = counted.flatMap(([name, outcome]) => {
    const cause = fails[name];
    if (outcome === 'PASS') return cause === undefined ? [] : [`${name} passes, and the ledger has: ${cause}`];
    return cause === undefined ? [`${name} ${outcome === 'missing' ? 'did not run to its end' : 'fails'}`] : [];
  });
  return { passed: counted.filter(([, outcome]) => outcome === 'PASS').length, expected: counted.length, surprises };
}

/** The outcomes in the output of `go test -v`, for the tests that were asked for. */
export function readOutcomes(output: string, tests: readonly string[]): Map<string, Outcome> {
  const outcomes = new Map<string, Outcome>(tests.map((name) => [name, 'missing']));
  for (const [, outcome, name] of output.matchAll(/^--- (PASS|FAIL|SKIP): (\w+) \(/gm)) outcomes.set(name as string, outcome as Outcome);
  return outcomes;
}
