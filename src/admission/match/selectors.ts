// Selectors of webhooks and policies: by labels of the namespace that a request is in, and of the objects that it shows. Everything outside of
// namespaces passes a namespace selector, except Namespaces, whose own labels are compared. Mirrors upstream's namespace and object matchers.
import { type KubeObject, type LabelSelector, notFound } from '../../apimachinery/index.ts';
import { invariant } from '../../base/index.ts';
import { type AdmissionAttributes, type Catalog, type Registry, type StoredObject, findKnown } from '../../registry/index.ts';
import { isNamespaces, namespaceOf } from './rules.ts';

/** Reads a namespace: from the cache, else from the store; undefined when there is none. */
export type ReadNamespace = (name: string) => Promise<StoredObject | undefined>;

/** Reads namespaces of a registry. */
export const createNamespaceReader = (registry: () => Registry, catalog: Pick<Catalog, 'find'>): ReadNamespace => (name) => {
  const resource = catalog.find('', 'v1', 'namespaces');
  invariant(resource !== undefined, 'namespaces are served');
  return findKnown(registry(), { resource, version: 'v1', namespace: '', name });
};

type Labels = Readonly<Record<string, string>>;

async function readLabels(attributes: AdmissionAttributes, readNamespace: ReadNamespace): Promise<Labels> {
  const { operation, subresource, object } = attributes;
  // The object to write decides; an object to delete is read, since a request does not bring it.
  if (isNamespaces(attributes) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return object?.metadata.labels ?? {};
  const name = namespaceOf(attributes);
  const found = await readNamespace(name);
  if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, name);
  return found.labels ?? {};
}

/** Whether a selector takes the namespace of a request. Throws 404 when there is no such namespace. */
export async function matchesNamespace(selector: LabelSelector, attributes: AdmissionAttributes, readNamespace: ReadNamespace): Promise<boolean> {
  if (selector.requirements.length === 0 || (namespaceOf(attributes) === '' && !isNamespaces(attributes))) return true;
  return selector.matches(await readLabels(attributes, readNamespace));
}

const hasLabels = (object: KubeObject | undefined, selector: LabelSelector): boolean =>
  // Options of a connection have no metadata, and so no labels, not even the absence of one.
  object !== undefined && (object as Partial<KubeObject>).metadata !== undefined && selector.matches(object.metadata.labels);

/** Whether a selector takes the new or the old object of a request. */
export function matchesObject(selector: LabelSelector, { object, oldObject }: Pick<AdmissionAttributes, 'object' | 'oldObject'>): boolean {
  return selector.requirements.length === 0 || hasLabels(object, selector) || hasLabels(oldObject, selector);
}
