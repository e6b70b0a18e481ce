// OwnerReferencesPermissionEnforcement: the owners of an object are changed only by users that may delete it, and an owner's deletion is held up
// only by users that may set finalizers on the owner. Texts and rights are upstream's.
import { type OwnerReference, equalJson, parseGroupVersion } from '../../../apimachinery/index.ts';
import { type AdmissionAttributes, type Catalog, versionIn } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { refuse } from '../../refusal.ts';

/** A right that a user needs. */
export interface OwnerRight {
  readonly verb: 'delete' | 'update';
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** Decides about a right; `reason` is the authorizer's. */
export type AskRight = (user: AdmissionAttributes['context']['user'], right: OwnerRight) => Promise<{ readonly isAllowed: boolean; readonly reason: string }>;

const anything: OwnerRight = { verb: 'update', group: '*', version: '*', resource: '*', subresource: 'finalizers', namespace: '', name: '*' };

type Owner = OwnerReference;

function ownersOf(object: AdmissionAttributes['object']): readonly Owner[] {
  return (object?.metadata.ownerReferences ?? []) as readonly Owner[];
}

/** Owners that block the deletion of their object, and did not before. */
function findNewBlockers({ object, oldObject }: AdmissionAttributes): readonly Owner[] {
  const before = new Map(ownersOf(oldObject).map((owner) => [owner.uid, owner.blockOwnerDeletion === true]));
  return ownersOf(object).filter(({ uid, blockOwnerDeletion }) => blockOwnerDeletion === true && before.get(uid) !== true);
}

/** Go's text of the reason and of an error that is not there. */
const because = (reason: string): string => `${reason}, <nil>`;

/** Makes the plugin. */
export function createOwnerReferences(ask: AskRight, catalog: () => Catalog): AdmissionPlugin {
  const checkBlocker = async (attributes: AdmissionAttributes, { apiVersion, kind, name }: Owner): Promise<void> => {
    const { group, version } = parseGroupVersion(apiVersion) ?? { group: '', version: '' };
    const row = catalog().findKind(group, kind);
    if (row === undefined || versionIn(row, version) === undefined) {
      const why = `no matches for kind "${kind}" in version "${apiVersion}"`;
      throw refuse(attributes, `cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion ${apiVersion} Kind ${kind}: ${why}`);
    }
    const { isAllowed, reason } = await ask(attributes.context.user, {
      verb: 'update', group, version, resource: row.plural, subresource: 'finalizers', namespace: row.namespaced ? attributes.namespace : '', name });
    if (isAllowed) return;
    throw refuse(attributes, `cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: ${because(reason)}`);
  };
  return {
    name: 'OwnerReferencesPermissionEnforcement',
    handles: ({ operation, resource, subresource }) => (operation === 'CREATE' || operation === 'UPDATE')
      && !(resource.group === '' && resource.plural === 'pods' && subresource === 'status'),
    async validate(attributes) {
      const { object, oldObject, operation, resource, subresource, namespace, name, context } = attributes;
      if (object === undefined || equalJson(ownersOf(object), ownersOf(oldObject))) return;
      if (operation !== 'CREATE') {
        const right = { verb: 'delete' as const, group: resource.group, version: attributes.version, resource: resource.plural, subresource, namespace, name };
        const { isAllowed, reason } = await ask(context.user, right);
        if (!isAllowed) throw refuse(attributes, `cannot set an ownerRef on a resource you can't delete: ${because(reason)}`);
      }
      const blockers = findNewBlockers(attributes);
      if (blockers.length === 0 || (await ask(context.user, anything)).isAllowed) return;
      for (const owner of blockers) await checkBlocker(attributes, owner);
    },
  };
}
