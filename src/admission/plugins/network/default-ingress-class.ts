// DefaultIngressClass: ingresses that name no class, neither in the spec nor in the old annotation, get the one marked as default.
import type { AdmissionPlugin } from '../../chain.ts';
import { findMarked } from '../../default-class.ts';
import type { RowReads } from '../../reads.ts';
import { writes } from '../../refusal.ts';

/** Makes the plugin over reads of ingressclasses. */
export function createDefaultIngressClass(classes: RowReads): AdmissionPlugin {
  return {
    name: 'DefaultIngressClass',
    handles: (attributes) => writes(attributes, 'networking.k8s.io/ingresses'),
    async mutate({ object }) {
      if (object === undefined || Object.hasOwn(object.metadata.annotations ?? {}, 'kubernetes.io/ingress.class')) return;
      const spec = (object['spec'] ??= {}) as { ingressClassName?: string };
      if (spec.ingressClassName !== undefined) return;
      const name = findMarked(await classes.list(), ['ingressclass.kubernetes.io/is-default-class']);
      if (name !== undefined) spec.ingressClassName = name;
    },
  };
}
