// Turns the spec of a kind into the row that the catalog serves: fills the defaults, finds the schemas, and joins the parts of the strategy.
import { invariant, resumableSteps, runStepsInSlices } from '../base/index.ts';
import { type FieldError, type KubeObject, type SchemaSet, loadPatternEngine, selectProblems } from '../apimachinery/index.ts';
import { type MetadataCheck, type Resource, type ResourceVersionRow, type Strategy, isStable } from '../registry/index.ts';
import { actInVersion } from './common/acting-version.ts';
import { defaultColumns } from './common/columns/columns.ts';
import { dropGatedFields } from './common/gated-fields.ts';
import { allVerbs } from './common/subresources.ts';
import { describeDeprecation } from './lifecycle.ts';
import type { KindSpec, KindValidation, UsesFeature, ValidateUpdate } from './kind-spec.ts';

const defaultMetadataChecks: readonly MetadataCheck[] = ['object', 'kind', 'update'];

const rowDefaults = {
  shortNames: [], categories: [], verbs: allVerbs, subresources: [], nameRule: 'dns-subdomain', selectableFields: {}, createOnUpdate: false,
  unconditionalUpdate: true, returnsDeleted: false, defaultPropagation: 'Background', tracksGeneration: false, custom: false,
  metadataChecks: defaultMetadataChecks,
} as const;

/** The row of a kind of a group. Throws (a broken invariant) when one of its versions has no schema. */
export function buildResource(group: string, spec: KindSpec, schemas: SchemaSet): Resource {
  const {
    cluster, singular, versions = ['v1'], columns = defaultColumns, rowConditions, deprecationWarning, applyDefaults, strategy, validation, warnings,
    gatedFields, countsDropped, featureUses, ruleGates, gatedDefaults, actsAsStored, scale, ...rest
  } = spec;
  const buildVersion = (name: string): ResourceVersionRow => {
    const schema = schemas.forKind({ group, version: name, kind: spec.kind });
    invariant(schema !== undefined, `no schema for ${group}/${name} ${spec.kind}`);
    const warning = deprecationWarning ?? describeDeprecation({ group, version: name, kind: spec.kind });
    return { name, served: isStable(name), schema, columns, ...(spec.columns === undefined && { hasDefaultColumns: true }),
      ...(warning && { deprecationWarning: warning }), ...(rowConditions && { rowConditions }),
      ...(scale && { scale }) };
  };
  return {
    ...rowDefaults,
    ...rest,
    group,
    listKind: `${spec.kind}List`,
    singular: singular ?? spec.kind.toLowerCase(),
    namespaced: cluster !== true,
    versions: versions.map(buildVersion),
    storageVersion: versions[0] as string,
    storagePrefix: spec.storagePrefix ?? spec.plural,
    strategy: buildStrategy(spec),
  };
}

type IsGateOn = (gate: string) => boolean;

/** The gated fields of a spec whose gates are off, in groups that are used together. */
function listDropped({ gatedFields = [] }: KindSpec, isGateOn: IsGateOn): (readonly string[])[] {
  return gatedFields.flatMap((field) => {
    if (typeof field === 'string') return [[field]];
    const [gate, ...paths] = field;
    return isGateOn(gate) ? [] : [paths];
  });
}

/** The gate of servers that refuse addresses in the forms of older releases. */
export const STRICT_GATE = 'StrictIPCIDRValidation';

/** The gates that a kind depends on. */
export function gatesOf({ gatedFields = [], featureUses = {}, gatedDefaults = {}, ruleGates = [] }: KindSpec): ReadonlySet<string> {
  const fields = gatedFields.flatMap((field) => (typeof field === 'string' ? [] : [field[0]]));
  return new Set([STRICT_GATE, ...fields, ...Object.keys(featureUses), ...Object.keys(gatedDefaults), ...ruleGates]);
}

/** Of the gates that rows know, those that are on where servers say nothing of them. */
const onByDefault: ReadonlySet<string> = new Set([
  STRICT_GATE, 'DRAConsumableCapacity', 'DRADeviceBindingConditions', 'DRADeviceTaints', 'DRAExtendedResource', 'DRAPartitionableDevices',
  'DRAPrioritizedList', 'DRAResourceClaimDeviceStatus',
]);

export const isOnByDefault = (gate: string): boolean => onByDefault.has(gate);

/** The strategy of a kind, put together from the members of its spec. */
export function buildStrategy(spec: KindSpec, isGateOn: IsGateOn = isOnByDefault): Strategy {
  const { validation, warnings, actsAsStored, convert, versions, countsDropped } = spec;
  const strategy = typeof spec.strategy === 'function' ? spec.strategy(isGateOn) : spec.strategy ?? {};
  const dropped = listDropped(spec, isGateOn);
  const built: Strategy = {
    ...strategy,
    ...(dropped.length > 0 && dropGatedFields(dropped, strategy, { countsDropped })),
    ...buildDefaults(spec, isGateOn),
    ...(validation && buildValidation(validation, { uses: spec.featureUses ?? {}, isGateOn })),
    ...(warnings && { warnings }),
  };
  return actsAsStored && convert && versions ? actInVersion(versions[0] as string, convert, built) : built;
}

/** The gates that are on and give a kind defaults. */
export const defaultGatesOf = ({ gatedDefaults = {} }: KindSpec, isGateOn: IsGateOn): readonly string[] => Object.keys(gatedDefaults).filter(isGateOn);

/** The defaults of a kind, and after them those of gates that are on. */
function buildDefaults(spec: KindSpec, isGateOn: IsGateOn): Pick<Strategy, 'applyDefaults'> {
  const { applyDefaults, gatedDefaults = {} } = spec;
  const gated = defaultGatesOf(spec, isGateOn).map((gate) => gatedDefaults[gate] as (object: KubeObject) => void);
  if (gated.length === 0) return applyDefaults ? { applyDefaults } : {};
  return {
    applyDefaults(object, version, before) {
      applyDefaults?.(object, version, before);
      for (const apply of gated) apply(object);
    },
  };
}

/** The gates of a server, and the objects that use a feature whatever its gate says. */
interface FeatureState {
  readonly uses: Readonly<Record<string, UsesFeature>>;
  readonly isGateOn: IsGateOn;
}

function buildValidation(
  { object: validate, update = validate, status, subresources, usesExpressions }: KindValidation, { uses, isGateOn }: FeatureState,
): Strategy {
  const rules = new Map<string, ValidateUpdate>(Object.entries({ ...subresources, ...(status && { status }) })).set('', update);
  const holds = (condition: string): boolean => isGateOn(condition === 'strict' ? STRICT_GATE : condition);
  const holdsFor = (old: KubeObject) => (condition: string): boolean => holds(condition) || uses[condition]?.(old) === true;
  const plain: ValidationRules = {
    validate: (object) => selectProblems(validate(object), holds),
    validateUpdate: (object, old, { subresource, nowMs }) =>
      selectProblems(rules.get(subresource)?.(object, old, { nowMs, isGateOn }) ?? [], holdsFor(old)),
  };
  return usesExpressions === true ? validateAhead(plain) : plain;
}

type ValidationRules = Required<Pick<Strategy, 'validate' | 'validateUpdate'>>;

/** Expressions are compiled in turns: the validation that takes turns keeps what it found for the one that asks. */
function validateAhead({ validate, validateUpdate }: ValidationRules): ValidationRules & Pick<Strategy, 'prepareValidation'> {
  const ahead = new WeakMap<KubeObject, readonly FieldError[]>();
  /** Used once: before another validation the object may change. */
  const take = (object: KubeObject): readonly FieldError[] | undefined => {
    const found = ahead.get(object);
    ahead.delete(object);
    return found;
  };
  return {
    async prepareValidation(object, { old, context, pause }) {
      await loadPatternEngine();
      const found = () => (old === undefined ? validate(object, context) : validateUpdate(object, old, context));
      ahead.set(object, await runStepsInSlices(resumableSteps(found), pause));
    },
    validate: (object, context) => take(object) ?? validate(object, context),
    validateUpdate: (object, old, context) => take(object) ?? validateUpdate(object, old, context),
  };
}
