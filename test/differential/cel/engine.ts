// What this engine makes of an expression, in the words in which the program around Kubernetes' packages answers.
import { kubernetesEnvironment, loadPatternEngine } from '../../../src/apimachinery/index.ts';
import { type CompiledExpression, compileExpression } from '../../../src/apimachinery/cel/compile.ts';
import { extendEnvironment } from '../../../src/apimachinery/cel/check/environment.ts';
import { type AccessAttributes, type AccessDecision, authorizerType, createAuthorizer } from '../../../src/apimachinery/cel/library/authorizer.ts';
import { PER_CALL_LIMIT } from '../../../src/apimachinery/cel/limits.ts';
import { CelSyntaxError } from '../../../src/apimachinery/cel/parse/source.ts';
import { declareType, declaredStructs, sizeHintsOf } from '../../../src/apimachinery/cel/schema/declared.ts';
import { fromDeclared, fromJson } from '../../../src/apimachinery/cel/schema/json-values.ts';
import { formatTimestamp } from '../../../src/apimachinery/cel/values/time.ts';
import { CelType, describeType, dynType, optionalOf } from '../../../src/apimachinery/cel/values/types.ts';
import {
  CelDouble, CelDuration, CelError, CelList, CelMap, CelOpaque, CelOptional, CelTimestamp, CelUint, Failure, type Value, typeOf,
} from '../../../src/apimachinery/cel/values/values.ts';
import { formatQuantity } from '../../../src/apimachinery/quantity.ts';
import { SCHEMA, VALUES } from './subject.ts';

/** The answer to one expression. */
export interface Answer {
  /** The report of the compiler. */
  readonly problem?: string;
  readonly type?: string;
  /** The bounds of the estimate of the cost. */
  readonly least?: string;
  readonly most?: string;
  readonly value?: string;
  readonly error?: string;
  readonly cost?: string;
  /** What the reference answers otherwise from run to run. */
  readonly unsteady?: readonly string[];
}

/** An expression and the value that it is evaluated on. */
export interface Question {
  readonly text: string;
  readonly value: number;
}

/** Whole numbers of JSON as they are written, beyond what JavaScript holds exactly. */
const UNBOUNDED = 18446744073709551615;

await loadPatternEngine();
const declared = declareType(SCHEMA, { root: true, name: 'selfType' })!;
const environment = extendEnvironment(kubernetesEnvironment, {
  structs: [declaredStructs(declared)],
  variables: new Map([['self', declared.type], ['oldSelf', optionalOf(declared.type)], ['any', dynType], ['authorizer', authorizerType]]),
});
const sizes = sizeHintsOf(declared);

function decide({ verb, name }: AccessAttributes): AccessDecision {
  if (name === 'broken') return { allowed: false, error: 'the authorizer is broken' };
  if (name === 'forbidden') return { allowed: false, reason: 'forbidden by name' };
  return verb === 'get' || verb === 'list' ? { allowed: true, reason: 'reading is free' } : { allowed: false, reason: 'nobody knows' };
}

const bound = VALUES.map((json) => {
  const self = fromDeclared(json, declared);
  return new Map<string, Value>([['self', self], ['oldSelf', new CelOptional(self)], ['any', fromJson(json)], ['authorizer', createAuthorizer(decide)]]);
});

const showCost = (cost: number): string => (cost >= UNBOUNDED ? '18446744073709551615' : BigInt(cost).toString());

/** What the engine throws is an answer too: it should not. */
export function answer(question: Question): Answer {
  try {
    return evaluate(question);
  } catch (error) {
    return { error: `crash: ${error instanceof Error ? error.stack?.split('\n').slice(0, 3).join(' ') : String(error)}` };
  }
}

/** Compiles, estimates and evaluates. */
function evaluate({ text, value }: Question): Answer {
  let compiled: CompiledExpression;
  try {
    compiled = compileExpression(text, environment);
  } catch (error) {
    if (error instanceof CelSyntaxError) return { problem: error.message };
    throw error;
  }
  const { min, max } = compiled.estimateCost(sizes);
  if (compiled.program.problem !== undefined) return { problem: `program: ${compiled.program.problem}` };
  const found = compiled.program.evaluate((name) => bound[value]!.get(name), PER_CALL_LIMIT);
  const shown = found.value instanceof CelError ? { error: found.value.message } : { value: show(found.value) };
  return { type: describeType(compiled.resultType), least: showCost(min), most: showCost(max), cost: showCost(found.cost), ...shown };
}

function show(value: Value): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value instanceof CelUint) return `${value.value}u`;
  if (value instanceof CelDouble) return showDouble(value.value);
  if (value instanceof Uint8Array) return `b${Buffer.from(value).toString('hex')}`;
  if (value instanceof CelTimestamp) return `timestamp ${formatTimestamp(new CelTimestamp(value.seconds, value.nanos))}`;
  if (value instanceof CelDuration) return `duration ${value.nanos}ns`;
  if (value instanceof CelOptional) return value.value === undefined ? 'none' : `some ${show(value.value)}`;
  if (value instanceof CelType) return `type ${describeType(value)}`;
  if (value instanceof CelList) return `[${value.toArray().map(show).join(', ')}]`;
  if (value instanceof CelMap) return `{${value.keys().map((key) => `${show(key)}: ${show(value.find(key)!)}`).sort().join(', ')}}`;
  return value instanceof CelOpaque ? showOpaque(value) : value instanceof Failure ? 'error' : `a ${typeOf(value).name}`;
}

function showDouble(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : `${value}.`;
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return `${bytes.readBigUInt64BE().toString(16)}.`;
}

/** Values of libraries by their parts, in the order in which the reference prints them. */
function showOpaque(value: CelOpaque): string {
  const inner = value as unknown as { value?: Parameters<typeof formatQuantity>[0]; scheme?: string; host?: string; path?: string; query?: string;
    parts?: { numbers: bigint[]; before: string[]; build: string } };
  switch (value.type.name) {
    case 'kubernetes.Quantity': return `quantity ${formatQuantity(inner.value!)}`;
    case 'net.IP': return `ip ${ask('string(v)', value)}`;
    case 'net.CIDR': return `cidr ${ask('string(v)', value)}`;
    case 'kubernetes.URL': return `url ${[inner.scheme, inner.host, inner.path, inner.query].map((part) => JSON.stringify(part)).join(' ')}`;
    case 'kubernetes.Semver': return `semver ${showVersion(inner.parts!)}`;
    default: return `a ${value.type.name}`;
  }
}

function showVersion({ numbers, before, build }: { numbers: readonly bigint[]; before: readonly string[]; build: string }): string {
  return `${numbers.join('.')}${before.length > 0 ? `-${before.join('.')}` : ''}${build === '' ? '' : `+${build}`}`;
}

function ask(text: string, value: CelOpaque): string {
  const env = extendEnvironment(kubernetesEnvironment, { variables: new Map([['v', value.type]]) });
  return String(compileExpression(text, env).program.evaluate(() => value).value);
}
