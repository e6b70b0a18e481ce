// NamespaceLifecycle: nothing is created in a namespace that is missing or on its way out, and the system's namespaces cannot be deleted.
// Deletions, and everything about namespaces themselves and cluster-scoped kinds, pass. Namespaces are looked up live: a create that
// begins after a namespace's deletion was answered is refused.
import { StatusError, forbidden, notFound } from '../../apimachinery/index.ts';
import { type AdmissionAttributes, type ObjectVersion, groupResource } from '../../registry/index.ts';
import type { AdmissionPlugin } from '../chain.ts';

/** What is known of a namespace. */
export interface NamespaceState {
  readonly terminating: boolean;
}

/** Finds a namespace as it is this moment; undefined when there is none. */
export type FindNamespace = (name: string) => Promise<NamespaceState | undefined>;

const immortal = new Set(['default', 'kube-system', 'kube-public']);

/** Reviews are answered whether or not their namespace exists. */
const reviews = new Set(['localsubjectaccessreviews']);

const isNamespace = ({ resource }: AdmissionAttributes): boolean => resource.group === '' && resource.kind === 'Namespace';

function refuseTerminating(attributes: AdmissionAttributes): StatusError {
  const { resource, namespace, name, object } = attributes;
  const shown = name !== '' ? name : (object?.metadata.generateName ?? '');
  const { status } = forbidden(groupResource(resource), shown, `unable to create new content in namespace ${namespace} because it is being terminated`);
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
  return new StatusError({ ...status, details: { ...status.details, causes: [cause] } });
}

/** The plugin over a live look-up. */
export function createNamespaceLifecycle(findNamespace: FindNamespace): AdmissionPlugin {
  return {
    name: 'NamespaceLifecycle',
    handles: ({ operation }) => operation !== 'CONNECT',
    async mutate(attributes) {
      const { operation, namespace, name, resource } = attributes;
      if (isNamespace(attributes)) {
        if (operation === 'DELETE' && immortal.has(name)) throw forbidden(groupResource(resource), name, 'this namespace may not be deleted');
        return;
      }
      if (namespace === '' || !resource.namespaced || operation === 'DELETE' || reviews.has(resource.plural)) return;
      const state = await findNamespace(namespace);
      if (state === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
      if (operation === 'CREATE' && state.terminating) throw refuseTerminating(attributes);
    },
  };
}

/** A live look-up made of a read of the namespace object that throws a 404 StatusError when there is none. */
export function findNamespaceWith(read: (name: string) => Promise<ObjectVersion>): FindNamespace {
  const states = new WeakMap<ObjectVersion, NamespaceState>();
  return async (name) => {
    let version: ObjectVersion;
    try {
      version = await read(name);
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return undefined;
      throw error;
    }
    let state = states.get(version);
    if (state === undefined) {
      const status = version.object(version.resource.storageVersion)['status'] as { phase?: string } | undefined;
      states.set(version, (state = { terminating: status?.phase === 'Terminating' }));
    }
    return state;
  };
}
