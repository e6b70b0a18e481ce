// Fields that no client has stated: the defaults of a schema, then those of its kind. Bodies get them when they are decoded, and so do stored
// values of other origin.
import { type KubeObject, applyDefaults } from '../../apimachinery/index.ts';
import type { Target } from '../contract.ts';
import { versionIn } from '../resource.ts';

/** Fills in what the schema and the strategy of the row default in a version (`options`: of applyDefaults); may change and answer the object given. */
export function defaultObject(
  object: KubeObject, { resource, version }: Pick<Target, 'resource' | 'version'>, options?: Parameters<typeof applyDefaults>[2],
): KubeObject {
  const schema = versionIn(resource, version)?.schema;
  const filled = schema ? (applyDefaults(schema, object as unknown as Record<string, unknown>, options) as unknown as KubeObject) : object;
  resource.strategy.applyDefaults?.(filled, version);
  return filled;
}
