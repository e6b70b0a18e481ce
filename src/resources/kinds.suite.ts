// Helpers for the tests of kinds: the strategy and the columns of a kind by `group/Kind`, as the server puts them together from its spec.
import type { FieldError, KubeObject } from '../apimachinery/index.ts';
import type { Column, Strategy, StrategyContext } from '../registry/index.ts';
import { buildStrategy } from './build-resource.ts';
import { defaultColumns } from './common/columns/columns.ts';
import type { KindSpec } from './kind-spec.ts';
import { kindSpecs } from './table.ts';

/** The request that the tests of kinds run in. */
export const testContext: StrategyContext = {
  nowMs: Date.parse('2024-01-01T00:00:00.5Z'), namespace: 'n', user: { name: 'alice', uid: 'u', groups: ['devs'] }, version: 'v1', subresource: '',
};

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
  return { metadata: { name: 'a', uid: 'u' }, ...structuredClone(body) } as KubeObject;
}

/** Errors as `field: message`. */
export function showErrors(errors: Iterable<FieldError> = []): readonly string[] {
  return [...errors].map(({ field, message }) => `${field}: ${message}`);
}
