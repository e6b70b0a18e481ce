// What an object says about itself: names, times, owners, labels, conditions.
import type { ComponentChildren, JSX } from 'preact';
import { formatAge, namespacesKind, objectRoute } from '../../model/index.ts';
import { StatusWord, useNow } from '../../ui/index.ts';
import { findKindOf, useSession } from '../context.ts';
import type { Condition, KubeObject, OwnerReference } from './kube-object.ts';

/** A term and its value. */
function Fact({ term, children }: { readonly term: string; readonly children: ComponentChildren }): JSX.Element {
  return <div class="fact"><dt>{term}</dt><dd>{children}</dd></div>;
}

/** Names and values, such as labels. */
function Pairs({ of }: { readonly of: Readonly<Record<string, string>> | undefined }): JSX.Element {
  const pairs = Object.entries(of ?? {});
  if (pairs.length === 0) return <span class="hint">none</span>;
  return <ul class="pairs">{pairs.map(([name, value]) => <li key={name}><span class="name">{name}</span><span class="value">{value}</span></li>)}</ul>;
}

/** A link to an owner where its kind is served. */
export function OwnerLink({ owner, namespace }: { readonly owner: OwnerReference; readonly namespace: string }): JSX.Element {
  const { kinds } = useSession();
  const kind = findKindOf(kinds, owner);
  const text = `${owner.kind} ${owner.name}`;
  if (kind === undefined) return <span>{text}</span>;
  return <a href={objectRoute(kind, { namespace: kind.namespaced ? namespace : '', name: owner.name })}>{text}</a>;
}

/** Conditions, the way they stand. */
function Conditions({ conditions, now }: { readonly conditions: readonly Condition[]; readonly now: number }): JSX.Element {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Conditions">
      <table class="plain">
        <thead><tr><th>Condition</th><th>Status</th><th>Reason</th><th>Message</th><th>Since</th></tr></thead>
        <tbody>
          {conditions.map(({ type, status, reason = '', message = '', lastTransitionTime = '' }) => (
            <tr key={type}>
              <td>{type}</td><td><StatusWord text={status} /></td><td>{reason}</td><td class="long">{message}</td><td>{formatAge(lastTransitionTime, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The summary. */
export function Summary({ object }: { readonly object: KubeObject }): JSX.Element {
  const now = useNow();
  const { apiVersion, metadata, status } = object;
  const { creationTimestamp = '', deletionTimestamp, uid, resourceVersion, generation, finalizers = [], ownerReferences = [], namespace = '' } = metadata;
  const conditions = Array.isArray(status?.conditions) ? status.conditions : [];
  const phase = typeof status?.phase === 'string' ? status.phase : '';
  return (
    <section class="summary" aria-label="Summary">
      {deletionTimestamp !== undefined && (
        <p class="ending-note">
          Deletion began {formatAge(deletionTimestamp, now)} ago{finalizers.length > 0 && `; it waits for ${finalizers.join(', ')}`}.
        </p>
      )}
      <dl class="facts">
        {phase !== '' && <Fact term="Phase"><StatusWord text={phase} /></Fact>}
        <Fact term="Created"><time dateTime={creationTimestamp} title={creationTimestamp}>{formatAge(creationTimestamp, now)} ago</time></Fact>
        <Fact term="API version">{apiVersion}</Fact>
        {namespace !== '' && (
          <Fact term="Namespace"><a href={objectRoute(namespacesKind, { name: namespace })}>{namespace}</a></Fact>
        )}
        <Fact term="Resource version">{resourceVersion}{generation !== undefined && <span class="hint"> generation {generation}</span>}</Fact>
        <Fact term="UID"><code>{uid}</code></Fact>
        {ownerReferences.length > 0 && (
          <Fact term="Owners">
            {ownerReferences.map((owner) => <span key={owner.uid} class="owner"><OwnerLink owner={owner} namespace={namespace} /></span>)}
          </Fact>
        )}
        {finalizers.length > 0 && <Fact term="Finalizers">{finalizers.join(', ')}</Fact>}
        <Fact term="Labels"><Pairs of={metadata.labels} /></Fact>
        {Object.keys(metadata.annotations ?? {}).length > 0 && <Fact term="Annotations"><Pairs of={metadata.annotations} /></Fact>}
      </dl>
      {conditions.length > 0 && <Conditions conditions={conditions} now={now} />}
    </section>
  );
}
