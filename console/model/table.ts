// The rows of a list that changes: what the server's Table holds, in the order and selection in which it is shown. Thousands of changes a second cost
// little each: a change that keeps a row's place replaces its cells, and only others make the order be worked out again.

/** A column of the server's Table. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  /** 0 is always shown; others on wide screens. */
  readonly priority: number;
}

/** Metadata that a row comes with. */
export interface RowObject {
  readonly metadata?: {
    readonly uid?: string; readonly name?: string; readonly namespace?: string; readonly creationTimestamp?: string;
    readonly resourceVersion?: string; readonly deletionTimestamp?: string;
  };
}

/** A row as the Table has it. */
export interface TableRow {
  readonly cells: readonly unknown[];
  readonly object?: RowObject;
}

/** A change of one row. */
export interface RowChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly row: TableRow;
}

/** A row as it is shown; the same object for as long as it is listed. */
export interface Row {
  readonly key: string;
  readonly name: string;
  readonly namespace: string;
  readonly created: string;
  cells: readonly unknown[];
  isEnding: boolean;
  /** Grows with each change. */
  version: number;
}

/** How rows are shown. `column` -1 is the order of namespaces and names; -2 is that of namespaces. */
export interface Arrangement {
  readonly column: number;
  readonly isDescending: boolean;
  /** Text that some cell must hold. */
  readonly text: string;
}

/** The natural order. */
export const byName: Arrangement = { column: -1, isDescending: false, text: '' };

const keyOf = ({ object }: TableRow): string => object?.metadata?.uid ?? `${object?.metadata?.namespace ?? ''}/${object?.metadata?.name ?? ''}`;

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Cells compare as numbers where both begin with one, such as 2/3 or 12Mi. */
export function compareCells(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  const [left, right] = [String(a ?? ''), String(b ?? '')];
  const [one, other] = [Number.parseFloat(left), Number.parseFloat(right)];
  if (!Number.isNaN(one) && !Number.isNaN(other) && one !== other) return one - other;
  return compareText(left, right);
}

/** The rows of one list. */
export class TableModel {
  columns: readonly Column[] = [];
  readonly #rows = new Map<string, Row>();
  #arrangement = byName;
  #shown: Row[] = [];
  #isStale = false;
  /** Of the column that holds the age of an object, which the server writes once. */
  ageColumn = -1;

  /** Number of rows, shown or not. */
  get size(): number {
    return this.#rows.size;
  }

  /** Whether rows came, went or moved since the last refresh. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** The columns of the answer that came. */
  setColumns(columns: readonly Column[]): void {
    this.columns = columns;
    this.ageColumn = columns.findIndex(({ name }) => name === 'Age');
  }

  /** Shows the rows otherwise. */
  arrange(arrangement: Arrangement): void {
    this.#arrangement = arrangement;
    this.#isStale = true;
  }

  /** Forgets all rows. */
  clear(): void {
    this.#rows.clear();
    this.#isStale = true;
  }

  /** Rows that are not in a new list are gone. */
  retain(keys: ReadonlySet<string>): void {
    for (const key of [...this.#rows.keys()]) if (!keys.has(key)) this.#remove(key);
  }

  /** Takes a row of a list; returns its key. */
  add(row: TableRow): string {
    const key = keyOf(row);
    this.apply({ type: 'MODIFIED', row });
    return key;
  }

  /** Takes one change. */
  apply({ type, row }: RowChange): void {
    const key = keyOf(row);
    if (type === 'DELETED') return this.#remove(key);
    const known = this.#rows.get(key);
    const metadata = row.object?.metadata;
    if (known === undefined) {
      this.#rows.set(key, {
        key, name: metadata?.name ?? '', namespace: metadata?.namespace ?? '', created: metadata?.creationTimestamp ?? '', cells: row.cells,
        isEnding: metadata?.deletionTimestamp !== undefined, version: 0,
      });
      this.#isStale = true;
      return undefined;
    }
    const { column, text } = this.#arrangement;
    if (!this.#isStale) {
      const hasMoved = column >= 0 && column !== this.ageColumn && known.cells[column] !== row.cells[column];
      this.#isStale = hasMoved || (text !== '' && matches(known, text) !== matches({ ...known, cells: row.cells }, text));
    }
    known.cells = row.cells;
    known.isEnding = metadata?.deletionTimestamp !== undefined;
    known.version += 1;
    return undefined;
  }

  /** The rows that are shown, in the order of the last refresh. */
  get rows(): readonly Row[] {
    return this.#shown;
  }

  /** Works out which rows are shown, and in which order. */
  refresh(): void {
    if (!this.#isStale) return;
    const { text } = this.#arrangement;
    const all = [...this.#rows.values()];
    this.#shown = (text === '' ? all : all.filter((row) => matches(row, text))).sort(this.#compare());
    this.#isStale = false;
  }

  #remove(key: string): void {
    if (this.#rows.delete(key)) this.#isStale = true;
  }

  #compare(): (a: Row, b: Row) => number {
    const { column, isDescending } = this.#arrangement;
    const names = (a: Row, b: Row): number => compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
    if (column === -1) return names;
    const sign = isDescending ? -1 : 1;
    if (column === -2) return (a, b) => sign * compareText(a.namespace, b.namespace) || compareText(a.name, b.name);
    // The youngest has the smallest age.
    if (column === this.ageColumn) return (a, b) => sign * compareText(b.created, a.created) || names(a, b);
    return (a, b) => sign * compareCells(a.cells[column], b.cells[column]) || names(a, b);
  }
}

function matches({ name, namespace, cells }: Pick<Row, 'name' | 'namespace' | 'cells'>, text: string): boolean {
  return name.includes(text) || namespace.includes(text) || cells.some((cell) => typeof cell === 'string' && cell.toLowerCase().includes(text));
}

const WIDEST = 46;

/** A width for each column in characters, by what its first rows hold. */
export function measureColumns(columns: readonly Column[], rows: readonly Row[]): number[] {
  const sample = rows.slice(0, 60);
  return columns.map(({ name }, index) => {
    const longest = sample.reduce((most, { cells }) => Math.max(most, String(cells[index] ?? '').length), 0);
    return Math.min(WIDEST, Math.max(name.length + 2, longest, index === 0 ? 14 : 4));
  });
}
