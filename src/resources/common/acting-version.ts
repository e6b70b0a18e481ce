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
  const { prepareForCreate, prepareForUpdate, validate, validateUpdate, warnings } = strategy;
  return {
    ...strategy,
    ...(prepareForCreate && {
      prepareForCreate: (object, context) => change(object, context.version, (seen) => prepareForCreate(seen, context)),
    } satisfies Strategy),
    ...(prepareForUpdate && {
      prepareForUpdate: (object, old, context) => change(object, context.version, (seen) => prepareForUpdate(seen, view(old, context.version), context)),
    } satisfies Strategy),
    ...(validate && { validate: (object, context) => validate(view(object, context.version), context) } satisfies Strategy),
    ...(validateUpdate && {
      validateUpdate: (object, old, context) => validateUpdate(view(object, context.version), view(old, context.version), context),
    } satisfies Strategy),
    ...(warnings && {
      warnings: (object, old, context) => warnings(view(object, context.version), old && view(old, context.version), context),
    } satisfies Strategy),
  };
}
