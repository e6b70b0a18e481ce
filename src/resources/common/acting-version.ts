// One strategy for all versions of a kind: it is written for the stored version and sees objects as that version has them.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { Resource, Strategy } from '../../registry/index.ts';

type Convert = NonNullable<Resource['convert']>;

/** The strategy for all versions of which `strategy` is that of the stored one. Defaults are not part of it: they differ by version. */
export function actInVersion(stored: string, convert: Convert, strategy: Strategy): Strategy {
  const view = (object: KubeObject, version: string): KubeObject => (version === stored ? object : convert(object, version, stored));
  const change = (object: KubeObject, version: string, act: (seen: KubeObject) => void): void => {
    const seen = view(object, version);
    act(seen);
    if (seen === object) return;
    const changed = convert(seen, stored, version);
    for (const name of Object.keys(object)) delete object[name];
    Object.assign(object, changed);
  };
  const { prepareForCreate, prepareForUpdate, prepareValidation, validate, validateUpdate, warnings } = strategy;
  /** Views of objects that were validated ahead, for the validation that asks next. */
  const prepared = new WeakMap<KubeObject, KubeObject>();
  const take = (object: KubeObject, version: string): KubeObject => {
    const seen = prepared.get(object);
    prepared.delete(object);
    return seen ?? view(object, version);
  };
  return {
    ...strategy,
    ...(prepareForCreate && {
      prepareForCreate: (object, context) => change(object, context.version, (seen) => prepareForCreate(seen, context)),
    } satisfies Strategy),
    ...(prepareForUpdate && {
      prepareForUpdate: (object, old, context) => change(object, context.version, (seen) => prepareForUpdate(seen, view(old, context.version), context)),
    } satisfies Strategy),
    ...(prepareValidation && {
      prepareValidation(object, { old, context, pause }) {
        const seen = view(object, context.version);
        prepared.set(object, seen);
        return prepareValidation(seen, { old: old && view(old, context.version), context, pause });
      },
    } satisfies Strategy),
    ...(validate && { validate: (object, context) => validate(take(object, context.version), context) } satisfies Strategy),
    ...(validateUpdate && {
      validateUpdate: (object, old, context) => validateUpdate(take(object, context.version), view(old, context.version), context),
    } satisfies Strategy),
    ...(warnings && {
      warnings: (object, old, context) => warnings(view(object, context.version), old && view(old, context.version), context),
    } satisfies Strategy),
  };
}
