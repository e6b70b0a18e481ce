// Fields that the reference has in its types and does not keep, because their feature is off (upstream's dropDisabledFields). They are
// dropped on writes, unless the stored object uses them already.
import type { JsonValue, KubeObject } from '../../apimachinery/index.ts';
import type { Strategy } from '../../registry/index.ts';
import { readStructs } from './defaults.ts';
import { toObject } from './values.ts';

type Struct = Record<string, unknown>;

/** One name of the way to the structs that hold a field: its value is a struct, a list or a map of them. */
interface Step {
  readonly key: string;
  readonly holds: 'struct' | 'list' | 'map';
}

/** A field, and the way to the structs that hold it. */
interface DroppedField {
  readonly name: string;
  readonly way: readonly Step[];
  /** What takes its place; undefined: nothing. */
  readonly otherwise: JsonValue | undefined;
}

/** Takes a struct that holds a field, and the struct around it. */
type Visit = (holder: Struct, around: Struct | undefined) => void;

/** A path, with `=` before what readers find in place of the field. */
function parsePath(text: string): DroppedField {
  const [path = '', otherwise] = text.split('=');
  const parts = path.split('.');
  const way = parts.slice(0, -1).map((part): Step => {
    const holds = part.endsWith('[]') ? 'list' : part.endsWith('{}') ? 'map' : 'struct';
    return { key: holds === 'struct' ? part : part.slice(0, -2), holds };
  });
  return { way, name: parts.at(-1) as string, otherwise: otherwise === undefined ? undefined : JSON.parse(otherwise) as JsonValue };
}

const isStruct = (value: unknown): value is Struct => typeof value === 'object' && value !== null;

/** Visits the structs, where they exist, at the end of the way from its step `at` on. */
function visitHolders(holder: Struct, around: Struct | undefined, { way, at, visit }: { readonly way: readonly Step[]; at: number; visit: Visit }): void {
  const step = way[at];
  if (step === undefined) return visit(holder, around);
  const value = holder[step.key];
  if (!isStruct(value)) return;
  if (step.holds === 'struct') return visitHolders(value, holder, { way, at: at + 1, visit });
  const inner = step.holds === 'list' ? readStructs(holder, step.key) : Object.values(toObject(value)).filter(isStruct);
  for (const each of inner) visitHolders(each as Struct, holder, { way, at: at + 1, visit });
}

/** Fields that are used together: an object that uses one of them keeps all. */
type FieldGroup = readonly DroppedField[];

function usesField(object: KubeObject, { way, name }: DroppedField): boolean {
  let isUsed = false;
  visitHolders(object, undefined, { way, at: 0, visit: (holder) => {
    if (holder[name] !== undefined && holder[name] !== null) isUsed = true;
  } });
  return isUsed;
}

function dropFields(object: KubeObject, old: KubeObject | undefined, groups: readonly FieldGroup[]): void {
  for (const group of groups) {
    const isUsed = old !== undefined && group.some((field) => usesField(old, field));
    if (!isUsed) for (const field of group) dropField(object, field);
  }
}

function dropField(object: KubeObject, field: DroppedField): void {
  if (usesField(object, field)) {
    const { way, name, otherwise } = field;
    visitHolders(object, undefined, { way, at: 0, visit: (holder, around) => {
      if (holder[name] === undefined) return;
      if (otherwise === undefined) delete holder[name];
      else holder[name] = otherwise;
      // The reference removes a lifecycle that becomes empty.
      if (way.at(-1)?.key === 'lifecycle' && Object.keys(holder).length === 0) delete around?.['lifecycle'];
    } });
  }
}

interface DropOptions {
  /** The fields of an update are dropped once generation has counted them as a change; otherwise before. */
  readonly countsDropped?: boolean | undefined;
}

/** The prepare functions of a strategy with these fields dropped. Each entry has the paths of fields that are used together. */
export function dropGatedFields(
  paths: readonly (readonly string[])[], strategy: Strategy, { countsDropped = false }: DropOptions = {},
): Pick<Strategy, 'prepareForCreate' | 'prepareForUpdate'> {
  const groups = paths.map((group) => group.map(parsePath));
  return {
    prepareForCreate(object, context) {
      dropFields(object, undefined, groups);
      strategy.prepareForCreate?.(object, context);
    },
    prepareForUpdate(object, old, context) {
      if (!countsDropped) dropFields(object, old, groups);
      strategy.prepareForUpdate?.(object, old, context);
      if (countsDropped) dropFields(object, old, groups);
    },
  };
}
