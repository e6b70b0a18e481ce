// What tests of policies share: a chain with one policy plugin over the built-in rows, objects to read, and requests.
import { type KubeObject, type SchemaSet, StatusError, loadSchemas } from '../../apimachinery/index.ts';
import { createManualClock } from '../../base/index.ts';
import type { Admission, AdmissionAttributes, AuditAnnotation, Catalog, Registry, Resource, StoredObject } from '../../registry/index.ts';
import { createBuiltinResources, schemaData } from '../../resources/index.ts';
import { createAdmissionChain } from '../chain.ts';
import type { AskAccess } from '../match/decisions.ts';
import type { AdmissionMetrics } from '../metrics.ts';
import type { EvaluateElsewhere } from '../match/evaluation.ts';
import { createMutatingPolicies } from './mutating.ts';
import { compileMutations } from './mutations.ts';
import { Policies } from './policies.ts';
import { createValidatingPolicies } from './validating.ts';
import { compileValidations } from './validations.ts';

const schemas: SchemaSet = loadSchemas(schemaData);
const rows = createBuiltinResources(schemas);

/** The row of a built-in resource. */
export const rowOf = (plural: string): Resource => rows.find((row) => row.plural === plural) as Resource;
const catalog = {
  resources: () => rows, generation: 1, findKind: (group: string, kind: string) => rows.find((row) => row.group === group && row.kind === kind),
} as unknown as Catalog;

const store = (object: KubeObject): StoredObject => ({
  name: object.metadata.name, namespace: object.metadata.namespace ?? '', labels: object.metadata.labels, object: () => object,
}) as unknown as StoredObject;

/** A request to create ConfigMap `a` in namespace `ns`, unless it says otherwise. */
export function createRequest(more: Partial<AdmissionAttributes> = {}): AdmissionAttributes & { readonly notes: Map<string, AuditAnnotation> } {
  const notes = new Map<string, AuditAnnotation>();
  const object: KubeObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'a', namespace: 'ns' }, data: { k: 'v' } };
  return {
    resource: rowOf('configmaps'), version: 'v1', namespace: 'ns', operation: 'CREATE', subresource: '', name: 'a',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    object, oldObject: undefined, options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' }, notes,
    context: { user: { name: 'alice', groups: ['dev'] }, dryRun: false, fieldManager: 'm', warnings: [], auditAnnotations: notes }, ...more,
  };
}

/** A spec that is about ConfigMaps, with what `more` says. */
export const specOf = (more: object): object => ({
  failurePolicy: 'Fail', matchConstraints: {
    namespaceSelector: {}, objectSelector: {}, matchPolicy: 'Equivalent',
    resourceRules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
  }, ...more,
});

interface BenchOptions {
  /** Specs by name; the first is bound by a binding without conditions unless `bindings` says otherwise. */
  readonly policies: Readonly<Record<string, object>>;
  readonly bindings?: Readonly<Record<string, object>>;
  /** The objects that can be read besides namespace `ns`. */
  readonly objects?: readonly KubeObject[];
  readonly askAccess?: AskAccess;
  readonly evaluateElsewhere?: EvaluateElsewhere;
  readonly recordPolicyCheck?: AdmissionMetrics['recordPolicyCheck'];
  readonly recordConditions?: AdmissionMetrics['recordConditions'];
}

/** A chain with the policies of one sort. */
export function createBench(sort: 'mutating' | 'validating', {
  policies, bindings, objects = [], askAccess, evaluateElsewhere, ...recorders
}: BenchOptions): Admission {
  const named = (name: string, spec: object): KubeObject => ({ metadata: { name, uid: name, generation: 1 }, spec }) as unknown as KubeObject;
  const bound = bindings ?? Object.fromEntries(Object.keys(policies).map((policyName) => [`b-${policyName}`, { policyName, validationActions: ['Deny'] }]));
  const namespace: KubeObject = { kind: 'Namespace', apiVersion: 'v1', metadata: { name: 'ns', labels: { team: 'blue' } } };
  const registry = {
    get: ({ namespace: where, name, resource }: { namespace: string; name: string; resource: Resource }) => {
      const found = objects.find(({ kind, metadata }) => kind === resource.kind && metadata.name === name && (metadata.namespace ?? '') === where);
      if (found === undefined) throw new StatusError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 404 });
      return store(found);
    },
    list: async ({ namespace: where }: { namespace: string }, { predicate }: { predicate: { matches(object: StoredObject): boolean } }) =>
      ({ items: objects.filter(({ metadata }) => metadata.namespace === where).map(store).filter((object) => predicate.matches(object)) }),
  } as unknown as Registry;
  const stored = store(namespace);
  const dependencies = {
    registry: () => registry, catalog, clock: createManualClock(), schemas, askAccess: askAccess ?? (() => ({ type: 'none' as const, reason: '' })),
    metrics: { recordPolicyCheck: () => undefined, recordConditions: () => undefined, ...recorders }, evaluateElsewhere,
    readNamespace: async (name: string) => (name === 'ns' ? stored : undefined),
  };
  const fill = <P extends { putPolicy(object: KubeObject): void; putBinding(object: KubeObject): void }>(made: P): P => {
    for (const [name, spec] of Object.entries(policies)) made.putPolicy(named(name, spec));
    for (const [name, spec] of Object.entries(bound)) made.putBinding(named(name, spec));
    return made;
  };
  const plugin = sort === 'mutating' ? createMutatingPolicies(fill(new Policies(catalog, compileMutations)), dependencies)
    : createValidatingPolicies(fill(new Policies(catalog, compileValidations)), dependencies);
  return createAdmissionChain([plugin]);
}

/** The Status that a request is refused with; undefined when it passes. */
export async function refusalOf(work: () => unknown): Promise<StatusError['status'] | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (error instanceof StatusError) return error.status;
    throw error;
  }
}
