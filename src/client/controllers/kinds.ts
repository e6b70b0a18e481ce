// How controllers name kinds and objects.

/** A kind, and which objects of it. */
export interface KindReference {
  readonly apiVersion: string;
  readonly kind: string;
  /** Objects of one namespace; of all when absent. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** The name of an object of the kind that a controller is for. */
export interface ObjectName {
  /** '' for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
}
