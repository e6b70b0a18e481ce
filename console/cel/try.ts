// Expressions and rules of a definition on an object, by the engine and within the limits of the server. Nothing is sent: it works for any cluster.
import {
  type OpenAPIV3Schema, CelError, CelSyntaxError, Failure, PER_CALL_LIMIT, compileExpression, compileRules, declareScope, loadPatternEngine, toJson,
} from '../../src/apimachinery/index.ts';

/** The object that is tried, and what it was before an update; undefined for a new one. */
export interface Trial {
  readonly schema: object;
  readonly object: unknown;
  readonly old: unknown;
}

/** What an expression is on the value of one place. */
export interface PlaceResult {
  /** Where `self` is. */
  readonly place: string;
  /** The value as JSON; or why there is none. */
  readonly text: string;
  readonly isProblem: boolean;
  /** In units of the server. */
  readonly cost: number;
}

/** A value and where it is. */
interface Place {
  readonly place: string;
  readonly value: unknown;
  readonly old: unknown;
}

/** An expression is tried on so many members of lists and maps. */
const MOST_PLACES = 50;
const LONGEST_TEXT = 2000;

const text: OpenAPIV3Schema = { type: 'string' };
/** What rules see of every object. */
const identity: Readonly<Record<string, OpenAPIV3Schema>> = {
  apiVersion: text, kind: text, metadata: { type: 'object', properties: { name: text, generateName: text } },
};

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (value: unknown, name: string): unknown => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined);
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const namesOf = (value: unknown): readonly string[] => (isRecord(value) ? Object.keys(value) : []);

/** The values at the end of a path of a schema: names of fields, [] for members of a list, [*] for those of a map. Members have no old values. */
function findPlaces({ object, old }: Trial, steps: readonly string[]): Place[] {
  let found: Place[] = [{ place: 'self', value: object, old }];
  for (const step of steps) {
    found = found.flatMap(({ place, value, old: before }): Place[] => {
      if (step === '[]') return asList(value).map((item, index) => ({ place: `${place}[${index}]`, value: item, old: undefined }));
      if (step === '[*]') return namesOf(value).map((name) => ({ place: `${place}['${name}']`, value: own(value, name), old: own(before, name) }));
      return [{ place: `${place}.${step}`, value: own(value, step), old: own(before, step) }];
    }).filter(({ value }) => value !== undefined && value !== null).slice(0, MOST_PLACES);
  }
  return found;
}

/** The schema at the end of a path. */
function schemaAt(schema: OpenAPIV3Schema, steps: readonly string[]): OpenAPIV3Schema | undefined {
  return steps.reduce<OpenAPIV3Schema | undefined>((at, step) => {
    if (step === '[]') return at?.items as OpenAPIV3Schema | undefined;
    if (step === '[*]') return typeof at?.additionalProperties === 'object' ? at.additionalProperties as OpenAPIV3Schema : undefined;
    return at?.properties?.[step];
  }, { ...schema, properties: { ...schema.properties, ...identity } });
}

const shorten = (value: string): string => (value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value);
const write = (_key: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

function show(value: Parameters<typeof toJson>[0]): Pick<PlaceResult, 'text' | 'isProblem'> {
  if (value instanceof Failure) return { text: value instanceof CelError ? value.message : 'no result', isProblem: true };
  try {
    return { text: shorten(JSON.stringify(toJson(value), write, 1)), isProblem: false };
  } catch (error) {
    return { text: (error as Error).message, isProblem: true };
  }
}

/** Evaluates an expression with `self` as each value at a path, and `oldSelf` where there is an old object; a text says why it does not compile. */
export async function tryExpression(trial: Trial, expression: string, steps: readonly string[]): Promise<readonly PlaceResult[] | string> {
  await loadPatternEngine();
  const schema = schemaAt(trial.schema as OpenAPIV3Schema, steps);
  const scope = declareScope({ self: schema, ...(trial.old !== undefined && { oldSelf: schema }) });
  try {
    const { program } = compileExpression(expression, scope.environment);
    return findPlaces(trial, steps).map(({ place, value, old }) => {
      const evaluated = program.evaluate(scope.bind({ self: value, oldSelf: old }), PER_CALL_LIMIT);
      return { place, cost: evaluated.cost, ...show(evaluated.value) };
    });
  } catch (error) {
    if (error instanceof CelSyntaxError) return error.message;
    throw error;
  }
}

/** Runs all rules of the schema: what each that fails says, with its field. */
export async function tryRules({ schema, object, old }: Trial): Promise<readonly string[]> {
  await loadPatternEngine();
  const { errors, warnings } = compileRules(schema as OpenAPIV3Schema).validate({ value: object, ...(old !== undefined && { oldValue: old }) });
  return [...errors.map(({ field, message }) => `${field}: ${message}`), ...warnings];
}
