// The values that labels of metrics may have, as --allow-metric-labels says: any other is shown as `unexpected`, and its samples are added up, so that
// what scrapes the server has few series.
import { type MetricSpec, renderCounter } from './metric.ts';

/** Allowed values by name of metric and name of label. */
export type AllowedLabels = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const UNEXPECTED = 'unexpected';
const keyPattern = /^([a-zA-Z_:][\w:]*),([a-zA-Z_]\w*)$/;
const count: MetricSpec = {
  name: 'cardinality_enforcement_unexpected_categorizations_total', stability: 'ALPHA',
  help: 'The count of unexpected categorizations during cardinality enforcement.',
};

/** Reads `metric,label` with lists of values, separated by commas. Throws an Error that names what is wrong. */
function readAllowedLabels(pairs: readonly (readonly [key: string, values: string])[]): AllowedLabels {
  const allowed = new Map<string, Map<string, ReadonlySet<string>>>();
  for (const [key, values] of pairs) {
    const [, metric, label] = keyPattern.exec(key) ?? [];
    if (metric === undefined || label === undefined) throw new Error(`${JSON.stringify(key)} is no name of a metric and of a label: metric,label`);
    const labels = allowed.get(metric) ?? new Map<string, ReadonlySet<string>>();
    allowed.set(metric, labels.set(label, new Set(values.split(','))));
  }
  return allowed;
}

/** Reads what the flag and its file say; the flag has the last word about a label. */
export function readLabelTexts(texts: readonly string[], file: Readonly<Record<string, string>>): AllowedLabels {
  return readAllowedLabels([...Object.entries(file), ...texts.flatMap(parseCsvPairs)]);
}

/** Describes the first problem of texts such as `metric,label=value,value`; undefined where there is none. */
export function checkAllowedLabels(texts: readonly string[]): string | undefined {
  try {
    readAllowedLabels(texts.flatMap(parseCsvPairs));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

interface Limited {
  readonly series: string;
  readonly value: number;
  readonly changed: boolean;
}

/** The lines of metrics with the values of labels that are allowed, and the number of observations that had others. */
export function limitLabels(lines: readonly string[], allowed: AllowedLabels): string[] {
  const shown: string[] = [];
  let labels: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  let type = '';
  let [totals, unexpected] = [new Map<string, number>(), 0];
  const end = (): void => {
    for (const [series, value] of totals) shown.push(`${series} ${value}`);
    totals = new Map();
  };
  for (const line of lines) {
    if (line.startsWith('# ')) {
      end();
      const [, , name = '', word = ''] = line.split(' ', 4);
      labels = allowed.get(name);
      if (line.startsWith('# TYPE ')) type = word;
      shown.push(line);
    } else if (labels === undefined) {
      shown.push(line);
    } else {
      const { series, value, changed } = limitSample(line, labels);
      totals.set(series, (totals.get(series) ?? 0) + value);
      if (changed && type === 'gauge') unexpected += 1;
      if (changed && (type === 'counter' || /^\w+_count\{/.test(series))) unexpected += value;
    }
  }
  end();
  return [...shown, ...renderCounter(count, [['', unexpected]])];
}

function limitSample(line: string, allowed: ReadonlyMap<string, ReadonlySet<string>>): Limited {
  const space = line.lastIndexOf(' ');
  const [series, value] = [line.slice(0, space), Number(line.slice(space + 1))];
  let changed = false;
  let limited = '';
  for (let at = 0; at < series.length;) {
    const opening = series.indexOf('="', at);
    const end = opening === -1 ? series.length : findQuote(series, opening + 2);
    const label = series.slice(at, opening).split(/[{,]/).at(-1) ?? '';
    const isKept = opening === -1 || allowed.get(label)?.has(series.slice(opening + 2, end)) !== false;
    limited += isKept ? series.slice(at, end + 1) : `${series.slice(at, opening)}="${UNEXPECTED}"`;
    changed ||= !isKept;
    at = end + 1;
  }
  return { series: limited, value, changed };
}

/** The place of the quote that ends a value. */
function findQuote(series: string, from: number): number {
  let at = from;
  while (at < series.length && series[at] !== '"') at += series[at] === '\\' ? 2 : 1;
  return at;
}

/**
 * The pairs of one text, in their order, as kube-apiserver reads maps in flags: a line of CSV, where quotes keep commas together. Throws an Error for a
 * field that is no pair.
 */
function parseCsvPairs(text: string): [key: string, value: string][] {
  const hasOne = text.split('=').length === 2;
  const isQuoted = text.length > 1 && text.startsWith('"') && text.endsWith('"');
  const fields = hasOne ? [isQuoted ? text.slice(1, -1) : text] : splitCsv(text);
  return fields.map((field) => {
    const at = field.indexOf('=');
    if (at < 1) throw new Error(`${field} must be formatted as key=value`);
    return [field.slice(0, at), field.slice(at + 1)];
  });
}

function splitCsv(text: string): string[] {
  const fields: string[] = [];
  let [field, isQuoted] = ['', false];
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] as string;
    if (character === '"' && isQuoted && text[at + 1] === '"') {
      field += '"';
      at += 1;
    } else if (character === '"') {
      isQuoted = !isQuoted;
    } else if (character === ',' && !isQuoted) {
      fields.push(field);
      field = '';
    } else {
      field += character;
    }
  }
  return [...fields, field];
}
