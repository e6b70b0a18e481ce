// The request of an AdmissionReview without its objects: what webhooks are sent, and what expressions read as `request`.
import type { AdmissionAttributes, GroupVersionKind } from '../../registry/index.ts';
import type { ResourceForm } from './resource-forms.ts';
import { namespaceOf } from './rules.ts';

/** Rows of subresources say more about their kind than a request shows. */
const toKind = ({ group, version, kind }: GroupVersionKind): GroupVersionKind => ({ group, version, kind });

/** The fields of an AdmissionRequest but uid, object and oldObject, in the order of the reference; empty texts are absent. */
export function describeRequest(attributes: AdmissionAttributes, form: ResourceForm): Record<string, unknown> {
  const { subresource, name, operation, context, kind, resource, version, options } = attributes;
  const namespace = namespaceOf(attributes);
  const { name: username, uid, groups, extra } = context.user;
  return {
    kind: toKind(form.kind), resource: { group: form.resource.group, version: form.version, resource: form.resource.plural },
    ...(subresource !== '' && { subResource: subresource }),
    requestKind: toKind(kind), requestResource: { group: resource.group, version, resource: resource.plural },
    ...(subresource !== '' && { requestSubResource: subresource }),
    ...(name !== '' && { name }), ...(namespace !== '' && { namespace }), operation,
    userInfo: {
      ...(username !== '' && { username }), ...(uid && { uid }), ...(groups.length > 0 && { groups }),
      ...(extra !== undefined && Object.keys(extra).length > 0 && { extra }),
    },
    dryRun: context.dryRun, options: options ?? null,
  };
}
