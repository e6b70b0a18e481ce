// Fields that no client has stated: the defaults of a schema, then those of its kind. Bodies get them when they are decoded, and so do stored
// values of other origin.
import { type KubeObject, applyDefaults } from '../../apimachinery/index.ts';
import type { Target } from '../contract.ts';
import { versionIn } from '../resource.ts';

/** Of applyDefaults; `before` is the object that an update replaces, which has its defaults, and so has what the two share. */
type Options = NonNullable<Parameters<typeof applyDefaults>[2]> & { readonly before?: KubeObject | undefined };

/** Fills in what the schema and the strategy of the row default in a version; may change and answer the object given, but for what it shares with `before`. */
export function defaultObject(object: KubeObject, { resource, version }: Pick<Target, 'resource' | 'version'>, options: Options = {}): KubeObject {
  const schema = versionIn(resource, version)?.schema;
  // A custom object that is read in another version than it is stored in has the defaults of that.
  const hasOthers = resource.custom && version !== resource.storageVersion;
  const given = hasOthers ? { ...options, before: undefined } : options;
  const filled = schema ? (applyDefaults(schema, object as unknown as Record<string, unknown>, given) as unknown as KubeObject) : object;
  resource.strategy.applyDefaults?.(filled, version, options.before);
  return filled;
}
