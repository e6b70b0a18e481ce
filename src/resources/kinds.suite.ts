// Helpers for the tests of kinds: what a kind makes of an object on its way into the store, by `group/Kind`, as the server puts it together from
// the spec. Errors are shown as `field: message`.
import type { FieldError, KubeObject } from '../apimachinery/index.ts';
import type { Column, Strategy, StrategyContext } from '../registry/index.ts';
import { buildStrategy } from './build-resource.ts';
import { defaultColumns } from './common/columns/columns.ts';
import type { KindSpec } from './kind-spec.ts';
import { kindSpecs } from './table.ts';

/** The request that the tests of kinds run in, at a path. */
export function contextOf(subresource = ''): StrategyContext {
  return {
    nowMs: Date.parse('2024-01-01T00:00:00.5Z'), namespace: 'n', user: { name: 'alice', uid: 'u', groups: ['devs'] }, version: 'v1', subresource,
  };
}

/** The spec of a kind; throws when the table has no such kind. */
export function specOfKind(key: string): KindSpec {
  const spec = kindSpecs.get(key);
  if (spec === undefined) throw new Error(`no kind ${key}`);
  return spec;
}

/** The strategy of a kind. */
export function strategyOf(key: string): Strategy {
  return buildStrategy(specOfKind(key));
}

/** The columns of a kind. */
export function columnsOf(key: string): readonly Column[] {
  return specOfKind(key).columns ?? defaultColumns;
}

/** An object named a, from the rest of its body. */
export function makeObject(body: object): KubeObject {
  return { metadata: { name: 'a', uid: 'uid-1' }, ...structuredClone(body) } as KubeObject;
}

/** A container of a pod. */
export const box = (rest: object = {}): object => ({ name: 'c', image: 'nginx', ...rest });

const show = (errors: Iterable<FieldError> = []): readonly string[] => [...errors].map(({ field, message }) => `${field}: ${message}`);

/** A new object after defaults and preparation, with its errors. */
export function build(key: string, body: object): { readonly object: KubeObject; readonly errors: readonly string[] } {
  const [object, strategy] = [makeObject(body), strategyOf(key)];
  strategy.applyDefaults?.(object, 'v1');
  strategy.prepareForCreate?.(object, contextOf());
  return { object, errors: show([...strategy.validateName?.(object) ?? [], ...strategy.validate?.(object, contextOf()) ?? []]) };
}

/** The warnings that the preparation of a new object adds. */
export function prepareWarnings(key: string, body: object): readonly string[] {
  const texts: string[] = [];
  strategyOf(key).prepareForCreate?.(makeObject(body), { ...contextOf(), warn: (text) => texts.push(text) });
  return texts;
}

/** The errors of a new object. */
export function create(key: string, body: object): readonly string[] {
  return build(key, body).errors;
}

/** The errors of an update as it stands, without defaults. */
export function update(key: string, body: object, { old = body, subresource = '' }: { old?: object; subresource?: string } = {}): readonly string[] {
  return show(strategyOf(key).validateUpdate?.(makeObject(body), makeObject(old), contextOf(subresource)));
}

/** The errors of an update between two objects with their defaults. */
export function updateFrom(key: string, object: object, old: object, subresource = ''): readonly string[] {
  return update(key, applyDefaults(key, object), { old: applyDefaults(key, old), subresource });
}

/** The errors of an update of the status. */
export function updateStatus(key: string, body: object, old: object = body): readonly string[] {
  return update(key, body, { old, subresource: 'status' });
}

/** The errors of a change of a stored object, which has its defaults and is prepared. */
export function change(key: string, before: object, edit: (object: KubeObject) => void): readonly string[] {
  const old = build(key, before).object;
  const object = structuredClone(old);
  edit(object);
  return show(strategyOf(key).validateUpdate?.(object, old, contextOf()));
}

/** A new object after its preparation. */
export function prepareNew(key: string, body: object): KubeObject {
  const object = makeObject(body);
  strategyOf(key).prepareForCreate?.(object, contextOf());
  return object;
}

/** Adds what the reference would only add by reading the object. */
export const completeStored = (key: string, object: KubeObject): void => strategyOf(key).completeStored?.(object);

/** An update after its preparation. */
export function prepareChanged(key: string, { object, old, subresource }: { object: object; old: object; subresource?: string }): KubeObject {
  const changed = makeObject(object);
  strategyOf(key).prepareForUpdate?.(changed, makeObject(old), contextOf(subresource));
  return changed;
}

/** An object after its defaults. */
export function applyDefaults(key: string, body: object): KubeObject {
  const object = makeObject(body);
  strategyOf(key).applyDefaults?.(object, 'v1');
  return object;
}

/** The warnings of a write; without `old`, of a new object. */
export function warn(key: string, object: object, { old, subresource = '' }: { old?: object; subresource?: string } = {}): readonly string[] {
  return strategyOf(key).warnings?.(makeObject(object), old as KubeObject | undefined, contextOf(subresource)) ?? [];
}

/** A cell of an object. */
export function printCell(key: string, name: string, object: object): unknown {
  return columnsOf(key).find((column) => column.name === name)?.cell(makeObject(object), 0);
}
