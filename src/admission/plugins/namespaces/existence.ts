// NamespaceExists refuses writes in namespaces that do not exist; NamespaceAutoProvision makes them. NamespaceLifecycle covers the first case by
// default; both are off unless they are asked for.
import { notFound } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { RowReads } from '../../reads.ts';

const isInNamespace = ({ resource, namespace }: AdmissionAttributes): boolean => namespace !== '' && resource.kind !== 'Namespace';

/** Makes NamespaceExists. */
export function createNamespaceExists(namespaces: RowReads): AdmissionPlugin {
  return {
    name: 'NamespaceExists',
    handles: (attributes) => attributes.operation !== 'CONNECT' && isInNamespace(attributes),
    async validate({ namespace }) {
      if (await namespaces.find(namespace) === undefined) throw notFound({ group: '', resource: 'namespaces' }, namespace);
    },
  };
}

/** Makes NamespaceAutoProvision; `create` makes a namespace unless it exists. */
export function createNamespaceAutoProvision(namespaces: RowReads, create: (name: string) => Promise<void>): AdmissionPlugin {
  return {
    name: 'NamespaceAutoProvision',
    handles: (attributes) => attributes.operation === 'CREATE' && isInNamespace(attributes) && !attributes.context.dryRun,
    async mutate({ namespace }) {
      if (await namespaces.find(namespace) === undefined) await create(namespace);
    },
  };
}
