// Files of apiserver.config.k8s.io, read strictly: what is wrong is gathered, each problem with the path of its field and in the words of the
// reference's field errors, and reported together. Nothing in such a file is passed over in silence.
import { quoteValue } from '../../apimachinery/index.ts';
import { parseDuration } from '../../base/index.ts';
import { parseYaml } from '../../codec/index.ts';
import { StartError } from '../options/options.ts';

/** An object of a file. */
export type Fields = Readonly<Record<string, unknown>>;

/** Kinds that a file may hold, each with its apiVersions. */
export type ConfigKinds = Readonly<Record<string, readonly string[]>>;

/** Versions of the group of such files. */
export const configVersions = (...versions: readonly string[]): readonly string[] => versions.map((version) => `apiserver.config.k8s.io/${version}`);
const quote = (value: unknown): string => JSON.stringify(value);

/** Reads values and remembers what is wrong with them; what is wrong reads as empty, so that reading continues. */
export class ConfigReader {
  readonly #flag: string;
  readonly #faults: string[] = [];
  readonly #problems: string[] = [];
  readonly #unknown: string[] = [];

  constructor(flag: string) {
    this.#flag = flag;
  }

  /** Something is wrong with the field at a path. */
  report(path: string, problem: string): void {
    this.#problems.push(path === '' ? problem : `${path}: ${problem}`);
  }

  required(path: string, detail = ''): void {
    this.report(path, detail === '' ? 'Required value' : `Required value: ${detail}`);
  }

  invalid(path: string, value: unknown, detail: string): void {
    this.report(path, `Invalid value: ${quoteValue(value)}: ${detail}`);
  }

  duplicate(path: string, value: unknown): void {
    this.report(path, `Duplicate value: ${quote(value)}`);
  }

  /** A value is of a type that the field cannot have. */
  fault(path: string, value: unknown, problem: string): void {
    this.#faults.push(`${path === '' ? '' : `${path}: `}Invalid value: ${quoteValue(value)}: ${problem}`);
  }

  /**
   * Throws StartError when anything was wrong. A file that cannot be decoded is not validated: the first value of a wrong type is all that is reported,
   * and unknown fields where there is none.
   */
  finish(): void {
    const [fault] = this.#faults;
    if (fault !== undefined) throw new StartError(`${this.#flag}: ${fault}`);
    if (this.#unknown.length > 0) {
      throw new StartError(`${this.#flag}: strict decoding error: ${this.#unknown.map((name) => `unknown field ${quote(name)}`).join(', ')}`);
    }
    const [only, ...more] = this.#problems;
    if (only === undefined) return;
    throw new StartError(`${this.#flag}: ${more.length === 0 ? only : `[${this.#problems.join(', ')}]`}`);
  }

  /** An object with no other fields than these. */
  fields(value: unknown, path: string, known: readonly string[]): Fields {
    if (value === undefined || value === null) return {};
    if (typeof value !== 'object' || Array.isArray(value)) {
      this.fault(path, value, 'must be an object');
      return {};
    }
    for (const name of Object.keys(value)) {
      if (!known.includes(name)) this.#unknown.push(path === '' ? name : `${path}.${name}`);
    }
    return value as Fields;
  }

  list(value: unknown, path: string): readonly unknown[] {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.fault(path, value, 'must be a list');
    return [];
  }

  /** A text; '' when there is none. */
  text(value: unknown, path: string): string {
    if (value === undefined || value === null) return '';
    if (typeof value === 'string') return value;
    this.fault(path, value, 'must be a string');
    return '';
  }

  /** A text that must be there. */
  requiredText(value: unknown, path: string): string {
    const text = this.text(value, path);
    if (value === undefined || value === null || value === '') this.required(path);
    return text;
  }

  /** Whether a switch is on. */
  boolean(value: unknown, path: string, otherwise: boolean): boolean {
    if (value === undefined || value === null) return otherwise;
    if (typeof value !== 'boolean') this.fault(path, value, 'must be true or false');
    return value === true;
  }

  /** One of these words. */
  choice<T extends string>(value: unknown, path: string, choices: readonly T[]): T | undefined {
    if (value === undefined || value === null || value === '') {
      this.required(path);
      return undefined;
    }
    if (this.text(value, path) === '') return undefined;
    const found = choices.find((one) => one === value);
    if (found === undefined) this.report(path, `Unsupported value: ${quote(value)}: supported values: ${choices.map(quote).join(', ')}`);
    return found;
  }

  /** Milliseconds; 0 when there is no such field. */
  duration(value: unknown, path: string): number {
    if (value === undefined || value === null) return 0;
    const text = this.text(value, path);
    const parsed = parseDuration(text);
    if (typeof parsed === 'number') return parsed;
    if (text === value) this.fault(path, text, parsed);
    return 0;
  }

  /** What `compile` makes of an expression; what it throws is reported. */
  compile<T>(expression: string, path: string, compile: (text: string) => T): T | undefined {
    try {
      return compile(expression);
    } catch (error) {
      const { message } = error as Error;
      this.invalid(path, expression, message.startsWith('must ') ? message : `compilation failed: ${message}`);
      return undefined;
    }
  }
}

/** The object of a file. Throws StartError for what is of none of these kinds. */
export async function parseConfigFile(flag: string, content: string, kinds: ConfigKinds): Promise<Fields> {
  const { value, duplicates } = await parseYaml(new TextEncoder().encode(content)).catch((error: unknown) => {
    throw new StartError(`${flag}: ${(error as Error).message}`, { cause: error });
  });
  if (duplicates.length > 0) throw new StartError(`${flag}: strict decoding error: yaml: unmarshal errors: ${duplicates.join(', ')}`);
  return checkConfigKind(flag, value, kinds);
}

const HEADER_TYPE = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value;
}

/** Why a value does not say which kind it is, in the reference's words; undefined where it does. */
function findHeaderFault(value: unknown): string | undefined {
  const parseError = "couldn't get version/kind; json parse error: json: cannot unmarshal";
  if (value !== null && value !== undefined && (typeof value !== 'object' || Array.isArray(value))) {
    return `${parseError} ${typeOf(value)} into Go value of type ${HEADER_TYPE}`;
  }
  const { kind, apiVersion } = (value ?? {}) as Fields;
  const members = [['kind', 'Kind', kind], ['apiVersion', 'apiVersion', apiVersion]] as const;
  const wrong = members.find(([, , given]) => given !== undefined && given !== null && typeof given !== 'string');
  if (wrong !== undefined) return `${parseError} ${typeOf(wrong[2])} into Go struct field .${wrong[0]} of type string`;
  if (String(apiVersion).split('/').length > 2) return `unexpected GroupVersion string: ${String(apiVersion)}`;
  const missing = members.find(([, , given]) => given === undefined || given === null || given === '');
  return missing && `Object '${missing[1]}' is missing in the configuration`;
}

/** An object that says which kind it is. Throws StartError for what is of none of these kinds. */
export function checkConfigKind(flag: string, value: unknown, kinds: ConfigKinds): Fields {
  const fault = findHeaderFault(value);
  if (fault !== undefined) throw new StartError(`${flag}: ${fault}`);
  const fields = value as Fields;
  const { kind, apiVersion } = fields;
  if (kinds[String(kind)]?.includes(String(apiVersion)) === true) return fields;
  const wanted = Object.entries(kinds).map(([name, versions]) => `${name} of ${versions.join(', ')}`).join('; ');
  throw new StartError(`${flag}: no kind ${quote(kind)} is registered for version ${quote(apiVersion)}: expected ${wanted}`);
}

/** Why an abstract socket is refused. */
export const ABSTRACT_REFUSED = 'abstract sockets cannot be reached by this release of Node.js: name the path of a file, or use Node.js 22 or newer';

/** The oldest libuv that is known to send the names of abstract sockets as they are: those before fill them up with zeros, and meet another socket. */
const abstractSince = [1, 51] as const;

/** Whether abstract Unix sockets can be reached: with Node.js 22 and newer. */
export function reachesAbstractSockets(libuv: string = process.versions.uv): boolean {
  const [major = 0, minor = 0] = libuv.split('.').map(Number);
  return major > abstractSince[0] || (major === abstractSince[0] && minor >= abstractSince[1]);
}
