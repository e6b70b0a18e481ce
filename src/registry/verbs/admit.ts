// Admission of the write verbs: what the chain is shown of a request, and what the registry mends after plugins have changed an object.
// Mirrors upstream's admission attributes and its check of managedFields after mutating admission.
import { type MaybePromise, once } from '../../base/index.ts';
import { type KubeObject, sameEntries } from '../../apimachinery/index.ts';
import type { Admission, AdmissionAttributes, GroupVersionKind, RequestOptions, Target, WriteContext } from '../contract.ts';
import { brokenOwnersWarning, copyOwners, describeBrokenOwners, setOwners } from '../fields/managed-fields.ts';
import { applyScale, toScale } from '../fields/scale.ts';
import { checkNamespace, dedupeOwners, wipeSystemFields } from '../metadata.ts';
import { subresourcesIn, versionIn } from '../resource.ts';

/** A write as admission needs it; `name` is that of the path, '' where there is none. */
export interface Admitted {
  readonly admission: Admission;
  readonly target: Target;
  readonly subresource: string;
  readonly name: string;
  readonly context: WriteContext;
}

/** The kind of the bodies of a path. */
function kindOf({ resource, version }: Target, subresource: string): GroupVersionKind {
  const own = subresource === '' ? undefined : subresourcesIn(resource, version).find(({ name }) => name === subresource)?.kind;
  return own ?? { group: resource.group, version, kind: resource.kind };
}

/** Bodies of deletes may name another version of the same options. */
const optionHeads = {
  CreateOptions: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' }, UpdateOptions: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1' },
  DeleteOptions: { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
} as const;

const optionKinds = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions', CONNECT: undefined } as const;

function optionsOf(operation: AdmissionAttributes['operation'], fields: WriteContext['options']): RequestOptions | undefined {
  const kind = optionKinds[operation];
  return kind && { ...optionHeads[kind], ...fields, ...optionHeads[kind] };
}

interface Subject {
  readonly operation: AdmissionAttributes['operation'];
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
  /** Fields that the server adds to the options of the request. */
  readonly options?: Readonly<Record<string, unknown>>;
}

function showsScale({ target: { resource, version }, subresource }: Admitted): boolean {
  return subresource === 'scale' && versionIn(resource, version)?.scale !== undefined;
}

/** An object as the path shows it: itself, or its Scale. */
function seen(admitted: Admitted, object: KubeObject | undefined): KubeObject | undefined {
  return object !== undefined && showsScale(admitted) ? toScale(admitted.target.resource, object, 0) : object;
}

/** What the chain is shown of a request. */
export function createAttributes(admitted: Admitted, { operation, object, oldObject, options }: Subject): AdmissionAttributes {
  const { target: { resource, version, namespace }, subresource, name, context } = admitted;
  return {
    resource, version, namespace, operation, subresource, name, context, kind: kindOf(admitted.target, subresource),
    object: seen(admitted, object), oldObject: seen(admitted, oldObject),
    options: optionsOf(operation, options === undefined ? context.options : { ...context.options, ...options }),
  };
}

/** Lets the mutating plugins change `object`; returns the object to continue with, whose owners are sound and not listed twice. */
export async function mutate(admitted: Admitted, attributes: AdmissionAttributes, object: KubeObject): Promise<KubeObject> {
  const { admission, context } = admitted;
  if (context.admitted === true) return object;
  const owners = copyOwners(object);
  await admission.mutate(attributes);
  const mutated = takeMutated(admitted, object, attributes.object ?? object);
  const { managedFields } = mutated.metadata;
  const problem = sameEntries(owners, managedFields) ? undefined : describeBrokenOwners(managedFields);
  if (problem !== undefined) {
    setOwners(mutated, owners);
    context.warnings.push(brokenOwnersWarning(problem));
  }
  dedupeOwners(mutated, context.warnings, 'afterAdmission');
  return mutated;
}

/** Of a Scale, only its replicas reach the object. */
function takeMutated(admitted: Admitted, object: KubeObject, mutated: KubeObject): KubeObject {
  if (!showsScale(admitted)) return mutated;
  const { resource } = admitted.target;
  const replicasOf = (scale: KubeObject): unknown => (scale['spec'] as { readonly replicas?: unknown } | undefined)?.replicas ?? 0;
  if (replicasOf(mutated) !== replicasOf(toScale(resource, object, 0))) {
    const { resourceVersion } = object.metadata;
    applyScale(resource, object, { ...mutated, metadata: { ...(resourceVersion !== undefined && { resourceVersion }) } });
  }
  return object;
}

/** Asks the validating plugins about the object as it will be stored. */
export async function validate(admitted: Admitted, attributes: AdmissionAttributes, object: KubeObject): Promise<void> {
  if (admitted.context.admitted === true) return;
  attributes.object = seen(admitted, object);
  await admitted.admission.validate(attributes);
}

/** Asks mutating and then validating plugins about a removal, whose object they cannot change. It is read where one of them looks at it. */
export async function admitDelete(admitted: Admitted, { readOld, options }: Pick<Subject, 'options'> & { readonly readOld: () => KubeObject }): Promise<void> {
  if (admitted.context.admitted === true) return;
  const attributes = createAttributes(admitted, { operation: 'DELETE', object: undefined, oldObject: undefined, ...(options !== undefined && { options }) });
  Object.defineProperty(attributes, 'oldObject', { get: once(readOld), enumerable: true });
  await admitted.admission.mutate(attributes);
  await admitted.admission.validate(attributes);
}

/** A request that stores nothing under its own path. */
export interface UnstoredRequest {
  readonly operation: 'CREATE' | 'CONNECT';
  readonly target: Target;
  readonly subresource: string;
  readonly name: string;
  readonly object: KubeObject;
  readonly context: WriteContext;
  /** The uid that a creator sends stays: it is that of another object, which is meant. */
  readonly keepsUid?: boolean | undefined;
  /** Completes the object between mutating and validating admission, in place. */
  readonly prepare?: (object: KubeObject) => MaybePromise<void>;
}

/** Admission of reviews, bindings, evictions and tokens (CREATE) and of connections (CONNECT); answers the object to go on with. */
export async function admitUnstored(admission: Admission, { operation, object, keepsUid, prepare, ...request }: UnstoredRequest): Promise<KubeObject> {
  if (operation === 'CREATE') {
    checkNamespace(request.target, object);
    const { uid } = object.metadata;
    wipeSystemFields(object);
    if (keepsUid === true && uid) object.metadata.uid = uid;
  }
  const attributes = createAttributes({ admission, ...request }, { operation, object, oldObject: undefined });
  await admission.mutate(attributes);
  await prepare?.(attributes.object ?? object);
  await admission.validate(attributes);
  return attributes.object ?? object;
}
