// How plugins say no, and which requests they usually look at.
import { type KubeObject, type StatusError, equalJson, failure, forbidden } from '../apimachinery/index.ts';
import { type AdmissionAttributes, type Resource, groupResource } from '../registry/index.ts';

/** 403 about the object of a request; an object without a name yet is called by the beginning of it, and without that `Unknown`. */
export function refuse({ resource, name, object }: AdmissionAttributes, why: string): StatusError {
  return forbidden(groupResource(resource), name || object?.metadata.name || object?.metadata.generateName || 'Unknown', why);
}

/** 500 of a problem that the reference answers as a plain error, without a reason. */
export const internalProblem = (message: string): StatusError => failure(500, '', message);

/** Whether a row is the one that `where` names as `group/plural`. */
export const isRow = ({ group, plural }: Pick<Resource, 'group' | 'plural'>, where: string): boolean =>
  where.length === group.length + plural.length + 1 && where.startsWith(group) && where.endsWith(plural);

/** Whether a request writes whole objects of a row, by one of the operations. */
export function writes(attributes: AdmissionAttributes, where: string, operations: readonly AdmissionAttributes['operation'][] = ['CREATE']): boolean {
  const { resource, subresource, operation } = attributes;
  return subresource === '' && operations.includes(operation) && isRow(resource, where);
}

/** Whether an update changes nothing but what the garbage collector and deletion need to change, which says nothing about rights. */
export function changesOnlyOwners(object: KubeObject, old: KubeObject | undefined): boolean {
  if (old === undefined) return false;
  const strip = ({ metadata, ...rest }: KubeObject): unknown => {
    const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, resourceVersion: _version, ...other } = metadata;
    return { ...rest, metadata: other };
  };
  return equalJson(strip(object), strip(old));
}
