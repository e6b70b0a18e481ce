// Templates of 'text %s'.format([values]): where their clauses are, and what is wrong with them. The checker reads constant ones as the function does.
import { fitsInt } from './numbers.ts';

/** What a clause asks for. */
export interface Clause {
  readonly verb: string;
  readonly precision: number | undefined;
}

/** What a template does with its arguments. */
export interface TemplateReader {
  /** The number of arguments. */
  readonly size: number;
  /** Called for each clause, before it is read. */
  enter(index: number): void;
  /** The text of an argument. */
  format(index: number, clause: Clause): string;
}

/** A template that cannot be filled; `place` is what of the expression is to blame. */
export class TemplateError extends Error {
  readonly place: { readonly id: number } | undefined;

  constructor(message: string, place?: { readonly id: number }) {
    super(message);
    this.place = place;
  }
}

const verbs = new Set('sdfebxXo');

/** Fills the clauses of a template; throws TemplateError. */
export function fillTemplate(template: string, reader: TemplateReader): string {
  let index = 0;
  return template.replace(/%(%|(?:(\.)(\d*))?(.?))/gsu, (...[, whole, dot, digits, verb]: readonly string[]) => {
    if (whole === '%') return '%';
    reader.enter(index);
    if (whole === '') throw new TemplateError('unexpected end of string');
    if (index >= reader.size) throw new TemplateError(`index ${index} out of range`);
    return reader.format(index++, readClause({ dot, digits: digits ?? '', verb: verb ?? '' }));
  });
}

function readClause({ dot, digits, verb }: { dot: string | undefined; digits: string; verb: string }): Clause {
  if (dot !== undefined && verb === '') throw notParsed('error while parsing precision: could not find end of precision specifier');
  if (dot !== undefined && (digits === '' || !fitsInt(digits))) {
    const problem = digits === '' ? 'invalid syntax' : 'value out of range';
    throw notParsed(`error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${digits}": ${problem}`);
  }
  // The reference reads bytes.
  if (!verbs.has(verb)) throw notParsed(`unrecognized formatting clause "${String.fromCharCode(new TextEncoder().encode(verb)[0]!)}"`);
  return { verb, precision: dot === undefined ? undefined : Number(digits) };
}

const notParsed = (problem: string): TemplateError => new TemplateError(`could not parse formatting clause: ${problem}`);

const described: Readonly<Record<string, string>> = {
  s: 'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps',
  d: 'decimal clause can only be used on integers', f: 'fixed-point clause can only be used on doubles', e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary', o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
};

/** A clause that does not take an argument of a type. */
export function wrongArgument(verb: string, type: string, place?: { readonly id: number }): TemplateError {
  return new TemplateError(`error during formatting: ${described[verb.toLowerCase()]}, was given ${type}`, place);
}
