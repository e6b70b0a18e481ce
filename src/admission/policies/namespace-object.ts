// `namespaceObject` of expressions: the fields of the Namespace that the reference declares for them, and no others. It declares the uid as `UID`, which
// no Namespace has: expressions that read it fail.
import type { KubeObject } from '../../apimachinery/index.ts';
import type { StoredObject } from '../../registry/index.ts';

const described = new WeakMap<StoredObject, Readonly<Record<string, unknown>>>();

function describe({ metadata, ...namespace }: KubeObject): Readonly<Record<string, unknown>> {
  const { name, generateName, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds } = metadata;
  const { labels, annotations, finalizers } = metadata;
  const { spec, status } = namespace as {
    readonly spec?: { readonly finalizers?: unknown }; readonly status?: { readonly phase?: unknown; readonly conditions?: unknown };
  };
  const given = (fields: Readonly<Record<string, unknown>>) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return {
    metadata: given({
      name, generateName, resourceVersion, generation, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, labels, annotations, finalizers,
    }),
    spec: given({ finalizers: spec?.finalizers }), status: given({ phase: status?.phase, conditions: status?.conditions }),
  };
}

/** A namespace as expressions see it; made once for each state of it. */
export function describeNamespace(stored: StoredObject): Readonly<Record<string, unknown>> {
  let made = described.get(stored);
  if (made === undefined) described.set(stored, (made = describe(stored.object('v1'))));
  return made;
}
