// What an object belongs to, and what belongs to it: owner references, up and down.
import type { JSX } from 'preact';
import { type Mention, type Target, mentionObjects } from '../../api/index.ts';
import { type Branch, type Kind, findDependents, objectRoute } from '../../model/index.ts';
import { Notice, Waiting, useLoaded } from '../../ui/index.ts';
import { useSession } from '../context.ts';
import type { KubeObject } from './kube-object.ts';
import { OwnerLink } from './summary.tsx';

/** Kinds whose objects can belong to one in this place. Dependents of cluster-wide objects are looked for among such objects and in all namespaces. */
export const kindsBeside = (kinds: readonly Kind[], namespace: string): Kind[] =>
  kinds.filter((kind) => kind.kind !== 'Event' && kind.kind !== 'ComponentStatus' && (namespace === '' || kind.namespaced));

/** The dependents of an object, as far as the user may list them. */
export function useDependents({ namespace }: Target, uid: string) {
  const { kinds } = useSession();
  return useLoaded(async (signal) => findDependents(uid, await mentionObjects(kindsBeside(kinds, namespace), namespace, signal)), [uid]);
}

function Branches({ branches }: { readonly branches: readonly Branch<Mention>[] }): JSX.Element {
  return (
    <ul class="tree">
      {branches.map(({ item, children }) => (
        <li key={item.uid}>
          <a href={objectRoute(item.kind, item)}><span class="hint">{item.kind.kind}</span> {item.name}</a>
          {children.length > 0 && <Branches branches={children} />}
        </li>
      ))}
    </ul>
  );
}

/** Owners and dependents. */
export function Related({ target, object }: { readonly target: Target; readonly object: KubeObject }): JSX.Element {
  const { ownerReferences = [], uid = '' } = object.metadata;
  const dependents = useDependents(target, uid);
  return (
    <div class="related">
      <section class="card" aria-label="Belongs to">
        <h2>Belongs to</h2>
        {ownerReferences.length === 0 && <p class="hint">nothing: it stays until it is deleted</p>}
        <ul class="tree">
          {ownerReferences.map((owner) => (
            <li key={owner.uid}>
              <OwnerLink owner={owner} namespace={target.namespace} />{owner.controller === true && <span class="hint"> controls it</span>}
            </li>
          ))}
        </ul>
      </section>
      <section class="card" aria-label="Dependents">
        <h2>Belongs to it</h2>
        {dependents.type === 'waiting' && <Waiting what="Looking through all kinds" />}
        {dependents.type === 'failed' && <Notice tone="bad">{dependents.error.message}</Notice>}
        {dependents.type === 'there' && dependents.value.length === 0 && <p class="hint">nothing that you may see</p>}
        {dependents.type === 'there' && <Branches branches={dependents.value} />}
        <p class="hint">The first 500 objects of each kind are looked at.</p>
      </section>
    </div>
  );
}
