// Selectors of a read as one test on object versions: label selectors, and the field selectors that the row declares.
import { type FieldRequirement, type LabelSelector, type ShardSelector, badRequest } from '../../apimachinery/index.ts';
import { wantedField, wantedLabel } from '../objects/chunk-values.ts';
import type { StoredObject, Predicate } from '../contract.ts';
import { isSafeSegment } from '../objects/keys.ts';
import type { ReadableObject } from '../objects/viewed-object.ts';
import { type Resource, versionIn } from '../resource.ts';

/** The test that everything passes. */
export const everything: Predicate = Object.freeze({ everything: true, matches: () => true });

type Test = (version: StoredObject) => boolean;

function unknownField(resource: Resource, field: string, version = resource.storageVersion): never {
  if (resource.unknownField !== undefined) throw badRequest(resource.unknownField(field, version));
  const declares = resource.custom || Object.keys(resource.selectableFields).length > 0;
  throw badRequest(declares ? `field label not supported: ${field}` : `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`);
}

function readerOf(resource: Resource, field: string, version: string | undefined): (object: StoredObject) => string {
  if (field === 'metadata.name') return (object) => object.name;
  if (field === 'metadata.namespace') return (object) => object.namespace;
  const index = Object.keys(resource.selectableFields).indexOf(field);
  const declared = versionIn(resource, version)?.selectableFields;
  if (index < 0 || declared?.includes(field) === false) unknownField(resource, field, version);
  return (object) => (object as ReadableObject).fields[index] as string;
}

/** The test of requirements on one field of which all, or the only one, have one operator. */
interface FieldTest {
  readonly field: string;
  readonly operator: '=' | '!=';
  readonly values: ReadonlySet<string>;
}

/** Requirements without repetitions, all refusals of a field as one: an object takes time by its fields, however many requirements there are. */
function gatherFieldTests(requirements: readonly FieldRequirement[]): FieldTest[] {
  const gathered = new Map<string, { readonly field: string; readonly operator: '=' | '!='; readonly values: Set<string> }>();
  for (const { field, operator, value } of requirements) {
    const id = JSON.stringify(operator === '=' ? [field, value] : [field]);
    const test = gathered.get(id);
    if (test === undefined) gathered.set(id, { field, operator, values: new Set([value]) });
    else test.values.add(value);
  }
  return [...gathered.values()];
}

function buildFieldTest(resource: Resource, { field, operator, values }: FieldTest, version: string | undefined): Test {
  const read = readerOf(resource, field, version);
  const isWanted = operator === '=';
  return (version) => values.has(read(version)) === isWanted;
}

function exactValue(requirements: readonly FieldRequirement[], field: string): string | undefined {
  const value = requirements.find((r) => r.field === field && r.operator === '=')?.value;
  return value !== undefined && isSafeSegment(value) ? value : undefined;
}

interface TaggedTest {
  readonly test: Test;
  /** The key of an object decides the outcome. */
  readonly ofKey: boolean;
  /** What a key must be, where the test asks for that. */
  readonly exact: 'name' | 'namespace' | undefined;
}

/** Selectors of a request to a version; without one, all fields of the row may be asked for. */
interface Selectors {
  readonly version?: string;
  readonly labels?: LabelSelector | undefined;
  readonly fields?: readonly FieldRequirement[];
  readonly shard?: ShardSelector | undefined;
}

/** Of what a selector wants, so much is looked up in the indexes of chunks. */
const LARGEST_GROUP = 64;
const MOST_GROUPS = 16;

/** The selectable field of a row that must have a value, by its place in the row; -1 where the requirement is another. */
const columnOf = ({ selectableFields }: Resource, { field, operator }: FieldRequirement): number =>
  (operator === '=' ? Object.keys(selectableFields).indexOf(field) : -1);

/** The values that objects must hold, as far as an index knows them. */
function findWanted(resource: Resource, fields: readonly FieldRequirement[], labels: LabelSelector | undefined): (readonly number[])[] {
  const wanted: (readonly number[])[] = [];
  for (const requirement of labels?.requirements ?? []) {
    // Each group is looked at for every chunk.
    if (wanted.length === MOST_GROUPS) return wanted;
    const group = requirement.values.length <= LARGEST_GROUP ? wantedLabel(requirement) : undefined;
    if (group !== undefined) wanted.push(group);
  }
  for (const requirement of fields) {
    if (wanted.length === MOST_GROUPS) return wanted;
    const column = columnOf(resource, requirement);
    if (column >= 0) wanted.push(wantedField(column, requirement.value));
  }
  return wanted;
}

/** The first value that a selectable field must have. */
function findOnly(resource: Resource, fields: readonly FieldRequirement[]): Predicate['only'] {
  const found = fields.find((requirement) => columnOf(resource, requirement) >= 0);
  return found && { column: columnOf(resource, found), value: found.value };
}

const isOfKey = (field: string): boolean => field === 'metadata.name' || field === 'metadata.namespace';

function combine(tests: readonly TaggedTest[]): Predicate['matches'] {
  const only = tests.length === 1 ? tests[0]?.test : undefined;
  return only ?? ((version) => tests.every(({ test }) => test(version)));
}

/** The predicate of a request's selectors; a 400 StatusError for fields that the row does not declare. */
export function buildPredicate(resource: Resource, selectors: Selectors): Predicate {
  const { labels, fields = [], shard } = selectors;
  const name = exactValue(fields, 'metadata.name');
  const namespace = exactValue(fields, 'metadata.namespace');
  const exactOf = ({ field, operator, values }: FieldTest): TaggedTest['exact'] => {
    if (operator !== '=') return undefined;
    if (field === 'metadata.name' && name !== undefined && values.has(name)) return 'name';
    return field === 'metadata.namespace' && namespace !== undefined && values.has(namespace) ? 'namespace' : undefined;
  };
  const tests: TaggedTest[] = gatherFieldTests(fields).map((each) => ({
    test: buildFieldTest(resource, each, selectors.version), ofKey: isOfKey(each.field), exact: exactOf(each),
  }));
  if (labels !== undefined && labels.requirements.length > 0) tests.push({ test: (object) => labels.matches(object.labels), ofKey: false, exact: undefined });
  // The uid and the namespace are the same in all versions, as the key is.
  if (shard !== undefined) tests.push({ test: (object) => shard.matches(object), ofKey: true, exact: undefined });
  if (tests.length === 0) return everything;
  const wanted = findWanted(resource, fields, labels);
  const only = findOnly(resource, fields);
  const keys = { ...(shard !== undefined && { shard: shard.text }), ...(name !== undefined && { name }), ...(namespace !== undefined && { namespace }) };
  return {
    everything: false, ...(wanted.length > 0 && { wanted }), ...(only !== undefined && { only }), ...keys, matches: combine(tests),
    split() {
      const [ofKey, ofContent] = [tests.filter((each) => each.ofKey), tests.filter((each) => !each.ofKey)];
      return {
        keys: ofKey.length === 0 ? everything : { everything: false, ...keys, matches: combine(ofKey) },
        // These read nothing else of an object version.
        content: ofContent.length === 0 ? undefined : (parts) => ofContent.every(({ test }) => test(parts as ReadableObject)),
      };
    },
    beyond(keys) {
      const rest = tests.filter(({ exact }) => exact === undefined || !keys[exact]);
      return rest.length === 0 ? everything : { everything: false, ...(only !== undefined && { only }), matches: combine(rest) };
    },
  };
}
