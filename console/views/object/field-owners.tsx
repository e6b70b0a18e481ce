// The owners of each line: the managers of an object's fields, each with a number and a colour, beside its text.
import type { JSX } from 'preact';
import { formatAge } from '../../model/index.ts';
import { Waiting, useLoaded, useNow } from '../../ui/index.ts';
import type { KubeObject, ManagedFields } from './kube-object.ts';
import { YamlEditor } from './yaml-view.tsx';

const nameOf = ({ manager = 'unknown', operation = '', subresource = '' }: ManagedFields): string =>
  `${manager} (${operation}${subresource === '' ? '' : ` of ${subresource}`})`;

/** The text with its owners. */
export function FieldOwners({ object }: { readonly object: KubeObject }): JSX.Element {
  const now = useNow();
  const owners = object.metadata.managedFields ?? [];
  const loaded = useLoaded(async () => {
    const { findLineOwners, formatYaml, showOwners } = await import('../../editor/index.ts');
    const { managedFields: _managedFields, ...metadata } = object.metadata;
    const text = formatYaml({ ...object, metadata });
    return { text, extensions: [showOwners(findLineOwners(text, owners), owners.map(nameOf))] };
  }, [object]);
  return (
    <>
      <ol class="owners" aria-label="Managers">
        {owners.map((owner, index) => (
          <li key={nameOf(owner)}>
            <span class={`owner-mark owner-${index % 6}`}>{index + 1}</span>{' '}
            <strong>{owner.manager}</strong> {owner.operation}{owner.subresource !== undefined && owner.subresource !== '' && ` of ${owner.subresource}`}
            {owner.time !== undefined && <span class="hint"> {formatAge(owner.time, now)} ago</span>}
          </li>
        ))}
      </ol>
      <p class="hint">Lines without a number belong to the server. A manager that applies another value to a line of others gets a conflict.</p>
      {loaded.type !== 'there' ? <Waiting what="Loading" /> : (
        <YamlEditor key={object.metadata.resourceVersion} options={{ ...loaded.value, label: 'YAML with the owners of its lines', isReadOnly: true }} />
      )}
    </>
  );
}
