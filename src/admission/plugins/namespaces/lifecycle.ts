// NamespaceLifecycle: nothing is created in a namespace that is missing or on its way out, and the system's namespaces cannot be deleted.
// Deletions, and everything about namespaces themselves and cluster-scoped kinds, pass. A namespace is
// believed to be there when the cache says so; one that seems to be missing or on its way out is looked up once more, live. A create that
// begins after this server answered a namespace's deletion is refused.
import { StatusError, forbidden, notFound } from '../../../apimachinery/index.ts';
import { type AdmissionAttributes, type StoredObject, groupResource } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { refuse } from '../../refusal.ts';

/** The state of a namespace. */
interface NamespaceState {
  readonly terminating: boolean;
}

/** Finds a namespace; undefined when there is none. */
type FindNamespace = (name: string) => Promise<NamespaceState | undefined>;

const immortal = new Set(['default', 'kube-system', 'kube-public']);

/** Reviews are answered whether or not their namespace exists. */
const reviews = new Set(['localsubjectaccessreviews']);

const isNamespace = ({ resource }: AdmissionAttributes): boolean => resource.group === '' && resource.kind === 'Namespace';

function refuseTerminating(attributes: AdmissionAttributes): StatusError {
  const { namespace } = attributes;
  const { status } = refuse(attributes, `unable to create new content in namespace ${namespace} because it is being terminated`);
  const cause = { reason: 'NamespaceTerminating', message: `namespace ${namespace} is being terminated`, field: 'metadata.namespace' };
  return new StatusError({ ...status, details: { ...status.details, causes: [cause] } });
}

/** The plugin over a look-up. */
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

/** Reads of a namespace object: as the cache has it, and as the store has it this moment. */
interface NamespaceReads {
  known(name: string): Promise<StoredObject | undefined>;
  current(name: string): Promise<StoredObject | undefined>;
}

/** A look-up made of reads: the cache is believed about namespaces that are there. */
export function findNamespaceWith(reads: NamespaceReads): FindNamespace {
  const states = new WeakMap<StoredObject, NamespaceState>();
  const describe = (version: StoredObject | undefined): NamespaceState | undefined => {
    if (version === undefined) return undefined;
    let state = states.get(version);
    if (state === undefined) {
      const status = version.object(version.resource.storageVersion)['status'] as { phase?: string } | undefined;
      states.set(version, (state = { terminating: status?.phase === 'Terminating' }));
    }
    return state;
  };
  return async (name) => {
    const known = describe(await reads.known(name));
    return known?.terminating === false ? known : describe(await reads.current(name));
  };
}
