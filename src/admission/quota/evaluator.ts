// The contract of an evaluator: what an object of a resource counts for in quotas.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../registry/index.ts';
import type { Amounts } from './amounts.ts';

/** One requirement of a quota's scopes. */
export interface ScopeSelector {
  readonly scopeName: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

/** The rules of one resource. */
export interface Evaluator {
  /** Whether a request can change what its object counts for. */
  handles(attributes: Pick<AdmissionAttributes, 'operation' | 'subresource' | 'object' | 'oldObject'>): boolean;
  /** Whether a name of a quota is one that objects of the resource may count for. */
  matches(name: string): boolean;
  matchesScope(selector: ScopeSelector, object: KubeObject): boolean;
  /** Reports what an object must state because a quota counts it; undefined where it states all. */
  check(required: readonly string[], object: KubeObject): string | undefined;
  usage(object: KubeObject, nowMs: number): Amounts;
  /** What every object counts for, whatever is in it: such objects need not be read to be counted. */
  readonly constantUsage?: Amounts;
  /** Where what objects count for depends on others: the evaluator as it is now, for these objects of a namespace or for all. */
  current?(namespace: string, objects?: readonly KubeObject[]): Promise<Evaluator>;
}
