// An object of any kind, as far as the page looks at it.

/** Another object that this one belongs to. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
}

/** The names of the containers of a pod, those that run to its end first. */
export const listContainers = ({ spec: { containers = [], ephemeralContainers = [], initContainers = [] } = {} }: KubeObject): string[] =>
  [...containers, ...ephemeralContainers, ...initContainers].map(({ name }) => name);

/** A condition of a status. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}

/** Fields that one manager owns. */
export interface ManagedFields {
  readonly manager?: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1?: object;
}

/** A container of a pod. */
interface Container {
  readonly name: string;
}

/** An object. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string; readonly namespace?: string; readonly uid?: string; readonly resourceVersion?: string; readonly generation?: number;
    readonly creationTimestamp?: string; readonly deletionTimestamp?: string; readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>; readonly finalizers?: readonly string[]; readonly ownerReferences?: readonly OwnerReference[];
    readonly managedFields?: readonly ManagedFields[];
  };
  readonly spec?: {
    readonly containers?: readonly Container[]; readonly initContainers?: readonly Container[]; readonly ephemeralContainers?: readonly Container[];
  };
  readonly status?: { readonly phase?: unknown; readonly conditions?: readonly Condition[] };
}
