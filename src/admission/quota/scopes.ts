// Scopes of quotas: a quota with scopes counts only the objects that match all of them.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { ScopeSelector } from './evaluator.ts';

/** Selectors of a quota: each scope of the short form is one that asks for existence. */
export function readScopes(quota: KubeObject): readonly ScopeSelector[] {
  const { scopes, scopeSelector } = (quota['spec'] ?? {}) as
    { readonly scopes?: readonly string[]; readonly scopeSelector?: { readonly matchExpressions?: readonly ScopeSelector[] } };
  return [...(scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })), ...scopeSelector?.matchExpressions ?? []];
}

/** Whether a selector matches one of the values that an object has for its scope; '' stands for none. */
export function matchesValues({ operator, values = [] }: ScopeSelector, found: readonly string[]): boolean {
  const present = found.filter((value) => value !== '');
  switch (operator) {
    case 'Exists': return present.length > 0;
    case 'DoesNotExist': return present.length === 0;
    case 'In': return present.some((value) => values.includes(value));
    case 'NotIn': return present.length === 0 || present.some((value) => !values.includes(value));
    default: return false;
  }
}
