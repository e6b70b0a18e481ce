// The shape that every Kubernetes object shares, and the identities of kinds and resources.

/** What JSON can say; integers beyond 2^53 are bigint. Objects may have any own key, `__proto__` included. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | JsonObject;
/** An object as JSON has it. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
}

/** The type of an object. */
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** A plural noun of a group, as messages name it. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** An object that another one belongs to. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** What one manager owns, as metadata says it. */
export interface ManagedFieldsEntry {
  manager?: string;
  operation?: 'Apply' | 'Update';
  apiVersion?: string;
  time?: string;
  fieldsType?: string;
  fieldsV1?: JsonObject;
  subresource?: string;
}

/** metav1.ObjectMeta as JSON has it. Times are RFC 3339 in UTC, to the second. */
export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** Any Kubernetes object, decoded. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  [field: string]: unknown;
}

/** `v1` for the core group, `apps/v1` otherwise. */
export function formatGroupVersion({ group, version }: GroupVersion): string {
  return group === '' ? version : `${group}/${version}`;
}

/** `configmaps` for the core group, `deployments.apps` otherwise: how messages name a resource. */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === '' ? resource : `${resource}.${group}`;
}

/** Reads `v1` or `apps/v1`; undefined when there is more than one slash. An empty text is the empty group and version. */
export function parseGroupVersion(text: string): GroupVersion | undefined {
  if (text === '' || text === '/') return { group: '', version: '' };
  const parts = text.split('/');
  if (parts.length === 1) return { group: '', version: parts[0] as string };
  if (parts.length === 2) return { group: parts[0] as string, version: parts[1] as string };
  return undefined;
}
