// Metadata of custom resources that an apply states as empty: the reference stores it as it came, and drops it whenever it reads the object.
import { type KubeObject, type ObjectMeta, decodeObject, equalJson } from '../../apimachinery/index.ts';
import type { Target, UnreadParts } from '../contract.ts';
import { isEmptyMember } from '../objects/layout.ts';
import { versionIn } from '../resource.ts';

const names = ['annotations', 'deletionGracePeriodSeconds', 'deletionTimestamp', 'finalizers', 'generateName', 'labels', 'ownerReferences'] as const;

/** Members of metadata that an apply has left otherwise than they are read; undefined where there are none. A status keeps the metadata that was read. */
export function emptiedMetadata(
  { resource, version, subresource }: Target & { readonly subresource: string }, { metadata }: KubeObject, { metadata: given }: UnreadParts,
): Readonly<Record<string, unknown>> | undefined {
  const schema = versionIn(resource, version)?.schema.fields?.get('metadata')?.schema;
  if (schema === undefined || subresource !== '') return undefined;
  const stated = given as ObjectMeta;
  const isEmptied = (name: typeof names[number]): boolean => {
    if (!Object.hasOwn(stated, name) || stated[name] === undefined || equalJson(stated[name], metadata[name])) return false;
    // Admission may have changed it since.
    const read = (decodeObject(schema, { [name]: stated[name] }).object as ObjectMeta)[name];
    return equalJson(read, metadata[name]) || (isEmptyMember(name, read) && isEmptyMember(name, metadata[name]));
  };
  const emptied = names.filter(isEmptied);
  return emptied.length === 0 ? undefined : Object.fromEntries(emptied.map((name) => [name, stated[name]]));
}
