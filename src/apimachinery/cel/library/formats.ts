// Named formats: format.dns1123Label().validate(text) gives the problems of a text, or nothing.
import { checkLabelValue, checkQualifiedName, validateName } from '../../names.ts';
import { type Library, declare, method, overload } from '../check/environment.ts';
import { parseDate, parseTimestamp } from '../values/time.ts';
import { listOf, optionalOf, stringType, structType } from '../values/types.ts';
import { ArrayList, CelOpaque, CelOptional, noneOptional } from '../values/values.ts';
import { describeUri } from './urls.ts';

const formatType = structType('kubernetes.NamedFormat');

type Validate = (text: string) => readonly string[];

class CelFormat extends CelOpaque {
  readonly type = formatType;
  readonly name: string;
  readonly validate: Validate;
  /** Length of the pattern that checking it is taken to cost. */
  readonly patternSize: number;

  constructor(name: string, validate: Validate, patternSize: number) {
    super();
    this.name = name;
    this.validate = validate;
    this.patternSize = patternSize;
  }

  equals(other: CelOpaque): boolean {
    return other instanceof CelFormat && other.name === this.name;
  }
}

const uuidPattern = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
const check = (holds: (text: string) => boolean, problem: string): Validate => (text) => (holds(text) ? [] : [problem]);

const rows: readonly (readonly [name: string, validate: Validate, patternSize: number])[] = [
  ['dns1123Label', (text) => validateName('dns-label', text), 30],
  ['dns1123Subdomain', (text) => validateName('dns-subdomain', text), 60],
  ['dns1035Label', (text) => validateName('dns-1035-label', text), 30],
  ['qualifiedName', checkQualifiedName, 60],
  ['dns1123LabelPrefix', (text) => validateName('dns-label', text, true), 30],
  ['dns1123SubdomainPrefix', (text) => validateName('dns-subdomain', text, true), 60],
  ['dns1035LabelPrefix', (text) => validateName('dns-1035-label', text, true), 30],
  ['labelValue', checkLabelValue, 40],
  ['uri', describeUri, 1103],
  ['uuid', check((text) => uuidPattern.test(text), 'does not match the UUID format'), 70],
  ['byte', check(isBase64, 'invalid base64'), 84],
  ['date', check((text) => parseDate(text) !== undefined, 'invalid date'), 71],
  ['datetime', check((text) => parseTimestamp(text) !== undefined, 'invalid datetime'), 71],
];
const formats = new Map(rows.map(([name, validate, size]) => [name, new CelFormat(name, validate, size)]));

function validate(format: CelFormat, text: string): CelOptional {
  const problems = format.validate(text);
  return problems.length === 0 ? noneOptional : new CelOptional(new ArrayList([...problems]));
}

function named(name: string): CelOptional {
  const found = formats.get(name);
  return found === undefined ? noneOptional : new CelOptional(found);
}

/** Kubernetes' named formats. */
export const formatsLibrary: Library = {
  types: new Map([[formatType.name, formatType]]),
  functions: [
    declare('validate', method('format-validate', [formatType, stringType], [optionalOf(listOf(stringType)), validate])),
    declare('format.named', overload('format-named', [stringType], [optionalOf(formatType), named])),
    ...Array.from(formats, ([name, format]) => declare(`format.${name}`, overload(`format.${name}`, [], [formatType, () => format]))),
  ],
};
