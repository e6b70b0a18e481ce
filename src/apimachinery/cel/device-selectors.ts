// Selectors of devices (resource.k8s.io): what their expressions may name, what they may result in, and how much one may cost. The variable `device` has
// a type of its own, whose texts, maps and attributes are bounded, so that costs are known before anything is evaluated.
import { compileExpression } from './compile.ts';
import { type Environment, type StructProvider, declare, extendEnvironment, method } from './check/environment.ts';
import { kubernetesEnvironment } from './kubernetes.ts';
import { quantityType } from './library/versions.ts';
import { bindingMacros } from './parse/macros.ts';
import { CelSyntaxError } from './parse/source.ts';
import { equalValues } from './values/compare.ts';
import { type CelType, anyType, boolType, describeType, dynType, mapOf, stringType, structType } from './values/types.ts';
import { CelError, type Value } from './values/values.ts';

/** The problem of a selector; one that is `tooComplex` may cost more than any evaluation is given. */
type SelectorProblem = { readonly type: 'invalid'; readonly message: string } | { readonly type: 'tooComplex' };

/** The most that one evaluation of a selector may cost. */
const MAX_COST = 1_000_000;
const MAX_DOMAIN_BYTES = 63;
const MAX_NAME_BYTES = 32;
const MAX_ATTRIBUTE_BYTES = 64;
/** Attributes and capacities of a device. */
const MAX_ENTRIES = 32;

/** The most elements of a value, and the same of what is in it. */
interface Bound {
  readonly most: number;
  readonly key?: Bound;
  readonly element?: Bound;
  readonly fields?: Readonly<Record<string, Bound>>;
}

const attribute: Bound = { most: MAX_ATTRIBUTE_BYTES };
const mapBound = (keyBytes: number, element: Bound): Bound => ({ most: MAX_ENTRIES, key: { most: keyBytes }, element });
const deviceBound: Bound = {
  most: 0,
  fields: {
    driver: { most: MAX_DOMAIN_BYTES }, allowMultipleAllocations: { most: 1 },
    attributes: mapBound(MAX_DOMAIN_BYTES, mapBound(MAX_NAME_BYTES, attribute)), capacity: mapBound(MAX_DOMAIN_BYTES, mapBound(MAX_NAME_BYTES, { most: 0 })),
  },
};

/** How selectors are read. */
interface SelectorOptions {
  /** Attributes of devices may be lists. */
  readonly takesLists?: boolean;
  /** The selector is stored already: it may call functions of features that are off. */
  readonly isStored?: boolean;
  /** Devices say whether they can be allocated more than once; absent: they do. */
  readonly sharesDevices?: boolean;
}

const deviceType = structType('kubernetes.DRADevice');
const namedMaps = (value: CelType): CelType => mapOf(stringType, mapOf(stringType, value));

/** The most elements of a list of attributes. */
const MAX_LIST = 48;

function includes(target: Value, wanted: Value): Value {
  if (!Array.isArray(target)) return equalValues(target, wanted);
  const at = target.findIndex((item: Value) => equalValues(item, wanted));
  if (at < 0 ? target.length <= MAX_LIST : at < MAX_LIST) return at >= 0;
  return new CelError(`'includes' function cannot be applied to lists longer than ${MAX_LIST} values`);
}

/** Where attributes may be lists, nothing is known of an attribute, and a function finds a value in a list or a single one: stored selectors may call it. */
function createDeviceEnvironment({ takesLists = false, isStored = takesLists, sharesDevices = true }: SelectorOptions): Environment {
  const fields: ReadonlyMap<string, CelType> = new Map([
    ['driver', stringType], ['attributes', namedMaps(takesLists ? dynType : anyType)], ['capacity', namedMaps(quantityType)],
    ...(sharesDevices ? [['allowMultipleAllocations', boolType] as const] : []),
  ]);
  const structs: StructProvider = { has: (type) => type === deviceType.name, fieldType: (_, field) => fields.get(field) };
  return extendEnvironment(kubernetesEnvironment, {
    variables: new Map([['device', deviceType]]), structs: [structs], macros: bindingMacros,
    ...(isStored && { functions: [declare('includes', method('dra_includes_dyn_dyn', [dynType, dynType], [boolType, includes]))] }),
  });
}

const environments = new Map<string, Environment>();

/** The environment of selectors that are read in one way; it is made once. */
function environmentOf(options: SelectorOptions): Environment {
  const key = JSON.stringify(options);
  let environment = environments.get(key);
  if (environment === undefined) environments.set(key, (environment = createDeviceEnvironment(options)));
  return environment;
}

/** The bound of the step `name` from a value: attributes are alike, whichever name selects one. */
function follow(bound: Bound, name: string): Bound | undefined {
  if (name === '@items' || name === '@values') return bound.element;
  if (name === '@keys') return bound.key;
  const field = bound.fields !== undefined && Object.hasOwn(bound.fields, name) ? bound.fields[name] : undefined;
  return field ?? (bound.element === attribute ? attribute : undefined);
}

function sizeAt([variable, ...steps]: readonly string[]): { readonly min: number; readonly max: number } | undefined {
  if (variable !== 'device') return undefined;
  let bound: Bound | undefined = deviceBound;
  for (const step of steps) {
    bound = follow(bound, step);
    if (bound === undefined) return undefined;
  }
  return { min: 0, max: bound.most };
}

/** Compiles the selector of a device; undefined where nothing is wrong with it. */
export function deviceSelectorProblem(text: string, options: SelectorOptions = {}): SelectorProblem | undefined {
  try {
    const { resultType, program, estimateCost } = compileExpression(text, environmentOf(options));
    const isUnknown = resultType.kind === 'any' || (options.takesLists === true && resultType.kind === 'dyn');
    if (!isUnknown && (resultType.kind !== 'bool' || resultType.nullable)) {
      return { type: 'invalid', message: `must evaluate to bool or the unknown type, not ${describeType(resultType)}` };
    }
    if (program.problem !== undefined) return { type: 'invalid', message: `program instantiation failed: ${program.problem}` };
    return estimateCost(sizeAt).max > MAX_COST ? { type: 'tooComplex' } : undefined;
  } catch (error) {
    if (error instanceof CelSyntaxError) return { type: 'invalid', message: `compilation failed: ${error.message}` };
    throw error;
  }
}
