// The attributes of a request that authorizers decide by, and the text of a refusal.
import { type StatusError, forbidden } from '../../apimachinery/index.ts';
import type { User } from '../user.ts';
import type { RequestSelector } from './selectors.ts';

/** A request as authorization sees it. */
export interface Attributes {
  readonly user: User;
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly version: string;
  readonly namespace: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  /** Of requests that are not for resources. */
  readonly path: string;
  /** The restrictions of a list, a watch or a deletion of a collection, read when an authorizer asks; absent for all else. */
  readonly fieldSelector?: () => RequestSelector;
  readonly labelSelector?: () => RequestSelector;
}

/** `none`: this authorizer has no opinion; when all say so the request is refused. */
export interface Decision {
  readonly type: 'allow' | 'deny' | 'none';
  readonly reason: string;
  /** Why a webhook could not be asked; a request that nothing allows fails with it. */
  readonly error?: string;
}

/** Decides about a request. Modes of `--authorization-mode` are values of this type, asked in order. */
export type Authorize = (attributes: Attributes) => Promise<Decision> | Decision;

/** The reference's 403. */
export function refuse(attributes: Attributes, reason = ''): StatusError {
  const { group, resource, name, isResource } = attributes;
  const text = describeRefusal(attributes) + (reason === '' ? '' : `: ${reason}`);
  return isResource ? forbidden({ group, resource }, name, text) : forbidden({ group: '', resource: '' }, '', text);
}

function describeRefusal({ user, verb, isResource, group, namespace, resource, subresource, path }: Attributes): string {
  const who = `User ${JSON.stringify(user.name)}`;
  if (!isResource) return `${who} cannot ${verb} path ${JSON.stringify(path)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return `${who} cannot ${verb} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${where}`;
}
