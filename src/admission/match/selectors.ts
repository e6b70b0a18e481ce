// Selectors of webhooks and policies: by labels of the namespace that a request is in, and of the objects that it shows. Everything outside of
// namespaces passes a namespace selector, except Namespaces, whose own labels are compared. Mirrors upstream's namespace and object matchers.
import { type KubeObject, type LabelSelector, notFound } from '../../apimachinery/index.ts';
import { type MaybePromise, invariant, mapMaybe } from '../../base/index.ts';
import { type AdmissionAttributes, type Catalog, type Registry, type StoredObject, findKnown } from '../../registry/index.ts';
import { isNamespaces, namespaceOf } from './rules.ts';

/** Reads a namespace: from the cache, else from the store; undefined when there is none. */
export type ReadNamespace = (name: string) => MaybePromise<StoredObject | undefined>;

/** Reads namespaces of a registry. */
export const createNamespaceReader = (registry: () => Registry, catalog: Pick<Catalog, 'find'>): ReadNamespace => (name) => {
  const resource = catalog.find('', 'v1', 'namespaces');
  invariant(resource !== undefined, 'namespaces are served');
  return findKnown(registry(), { resource, version: 'v1', namespace: '', name });
};

type Labels = Readonly<Record<string, string>>;

function readLabels(attributes: AdmissionAttributes, readNamespace: ReadNamespace): MaybePromise<Labels> {
  const { operation, subresource, object } = attributes;
  // The object to write decides; an object to delete is read, since a request does not bring it.
  if (isNamespaces(attributes) && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')) return object?.metadata.labels ?? {};
  const name = namespaceOf(attributes);
  return mapMaybe(readNamespace(name), (found) => {
    if (found === undefined) throw notFound({ group: '', resource: 'namespaces' }, name);
    return found.labels ?? {};
  });
}

/** Reads one namespace once: what is known is answered in the same turn, for the many webhooks that one request may meet. */
export function rememberNamespace(read: ReadNamespace): ReadNamespace {
  let known: { readonly name: string; readonly found: MaybePromise<StoredObject | undefined> } | undefined;
  return (name) => {
    if (known?.name === name) return known.found;
    const found = mapMaybe(read(name), (object) => {
      known = { name, found: object };
      return object;
    });
    return found;
  };
}

/** Whether a selector takes the namespace of a request. Throws 404 when there is no such namespace. */
export function matchesNamespace(selector: LabelSelector, attributes: AdmissionAttributes, readNamespace: ReadNamespace): MaybePromise<boolean> {
  if (selector.requirements.length === 0 || (namespaceOf(attributes) === '' && !isNamespaces(attributes))) return true;
  return mapMaybe(readLabels(attributes, readNamespace), (labels) => selector.matches(labels));
}

const hasLabels = (object: KubeObject | undefined, selector: LabelSelector): boolean =>
  // Options of a connection have no metadata, and so no labels, not even the absence of one.
  object !== undefined && (object as Partial<KubeObject>).metadata !== undefined && selector.matches(object.metadata.labels);

/** Whether a selector takes the new or the old object of a request. */
export function matchesObject(selector: LabelSelector, { object, oldObject }: Pick<AdmissionAttributes, 'object' | 'oldObject'>): boolean {
  return selector.requirements.length === 0 || hasLabels(object, selector) || hasLabels(oldObject, selector);
}
