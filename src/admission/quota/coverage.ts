// Resources that may be consumed only where a quota covers them: `limitedResources` in the configuration of ResourceQuota. Mirrors upstream's
// CheckRequest, texts included.
import { type KubeObject, type StatusError, failure } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import { refuse } from '../refusal.ts';
import type { Amounts } from './amounts.ts';
import type { Evaluator, ScopeSelector } from './evaluator.ts';
import { readScopes } from './scopes.ts';

/** A resource whose consumption needs a quota: what is consumed by part of its name, objects by their scopes. */
export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeSelector[];
}

/** What a request consumes, and the names that the quotas which count its object have limits for. */
interface Consumption {
  readonly attributes: AdmissionAttributes;
  readonly evaluator: Evaluator;
  /** What the object counts for. */
  readonly usage: Amounts;
  readonly quotas: readonly KubeObject[];
  readonly covered: ReadonlySet<string>;
}

function limitedNames(limited: readonly LimitedResource[], { attributes: { resource }, usage }: Consumption): string[] {
  const parts = limited.filter((one) => one.apiGroup === resource.group && one.resource === resource.plural).flatMap(({ matchContains }) => matchContains);
  return [...usage].filter(([name, { mantissa }]) => mantissa > 0n && parts.some((part) => name.includes(part))).map(([name]) => name).sort();
}

/** As Go prints a requirement. */
const showSelector = ({ scopeName, operator, values = [] }: ScopeSelector): string => `{${scopeName} ${operator} [${values.join(' ')}]}`;

/** The refusal of a request that consumes what no quota covers; undefined where all is covered. */
export function findUncovered(limited: readonly LimitedResource[], consumption: Consumption): StatusError | undefined {
  const { attributes, evaluator, quotas, covered } = consumption;
  const names = limitedNames(limited, consumption).filter((name) => !covered.has(name));
  if (names.length > 0) return refuse(attributes, `insufficient quota to consume: ${names.join(',')}`);
  const matches = (selector: ScopeSelector): boolean => evaluator.matchesScope(selector, attributes.object as KubeObject);
  const coveredScopes = new Set(quotas.flatMap(readScopes).filter(matches).map(({ scopeName }) => scopeName));
  const scopes = limited.flatMap(({ matchScopes }) => matchScopes).filter((selector) => matches(selector) && !coveredScopes.has(selector.scopeName));
  return scopes.length === 0 ? undefined : failure(500, '', `insufficient quota to match these scopes: [${scopes.map(showSelector).join(' ')}]`);
}
