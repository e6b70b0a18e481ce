// The policies of a server: both plugins, and the reflectors that keep what they evaluate.
import type { SchemaSet } from '../../apimachinery/index.ts';
import type { Clock } from '../../base/index.ts';
import type { Catalog, Reflector, Registry } from '../../registry/index.ts';
import type { AdmissionPlugin } from '../chain.ts';
import type { AskAccess } from '../match/decisions.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import { createNamespaceReader } from '../match/selectors.ts';
import { type FollowStatic, followNothing } from '../static-objects.ts';
import type { EvaluateElsewhere } from '../match/evaluation.ts';
import { createMutatingPolicies } from './mutating.ts';
import { compileMutations } from './mutations.ts';
import { Policies, followPolicies } from './policies.ts';
import { createValidatingPolicies } from './validating.ts';
import { compileValidations } from './validations.ts';

interface PolicyParts {
  /** Asked for when something is first read. */
  readonly registry: () => Registry;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly schemas: SchemaSet;
  readonly askAccess: AskAccess;
  readonly metrics: AdmissionMetrics;
  readonly evaluateElsewhere?: EvaluateElsewhere | undefined;
  readonly followStatic?: FollowStatic | undefined;
  /** Receives failures, after which policies are read again. */
  readonly onError: (error: unknown) => void;
}

/** The policies of a server. */
export interface AdmissionPolicies {
  readonly mutating: AdmissionPlugin;
  readonly validating: AdmissionPlugin;
  /** Reads the policies; resolves when those that are there are known. */
  start(): Promise<void>;
  stop(): void;
}

/** Makes the policies of a server; none is known before `start`. */
export function createAdmissionPolicies({
  registry, catalog, clock, schemas, askAccess, metrics, evaluateElsewhere, followStatic = followNothing, onError,
}: PolicyParts): AdmissionPolicies {
  const readNamespace = createNamespaceReader(registry, catalog);
  const dependencies = { registry, catalog, clock, schemas, askAccess, metrics, evaluateElsewhere, readNamespace };
  const mutating = new Policies(catalog, compileMutations);
  const validating = new Policies(catalog, compileValidations);
  let reflectors: readonly Reflector[] = [];
  let stops: readonly (() => void)[] = [];
  return {
    mutating: createMutatingPolicies(mutating, dependencies), validating: createValidatingPolicies(validating, dependencies),
    async start() {
      const options = { registry: registry(), catalog, clock, onError };
      reflectors = [...followPolicies(mutating, { ...options, sort: 'mutating' }), ...followPolicies(validating, { ...options, sort: 'validating' })];
      stops = await Promise.all([
        followStatic('MutatingAdmissionPolicy', (objects) => mutating.setStatic(objects)),
        followStatic('ValidatingAdmissionPolicy', (objects) => validating.setStatic(objects)),
      ]);
      await Promise.all(reflectors.map(({ synced }) => synced));
    },
    stop() {
      for (const reflector of reflectors) reflector.stop();
      for (const stop of stops) stop();
    },
  };
}
