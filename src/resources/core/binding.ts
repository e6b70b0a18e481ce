// core/v1 Binding: never stored; the binding of a pod is written through its subresource of the same kind.
import { createOnly } from '../common/subresources.ts';
import type { KindSpec } from '../kind-spec.ts';

/** The spec of Binding. */
export const bindingKind: KindSpec = {
  kind: 'Binding', plural: 'bindings',
  verbs: createOnly, virtual: true,
};
