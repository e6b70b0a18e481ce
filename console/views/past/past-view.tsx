// A namespace as it was at a time: its objects by exact reads, the changes that the server still knows, and what was deleted since.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fetchPast, mentionObjects } from '../../api/index.ts';
import { type Kind, findRevision, objectRoute } from '../../model/index.ts';
import { Notice, Waiting, useLoaded } from '../../ui/index.ts';
import { useSession } from '../context.ts';

const MOST_SHOWN = 300;

/** Kinds that say what happened are no part of what was. */
const hasPast = ({ namespaced, verbs, plural }: Kind): boolean => namespaced && verbs.includes('watch') && plural !== 'events';

/** The local time of a form field, to the second. */
function formatLocal(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/** The page. */
export function PastView(): JSX.Element {
  const { kinds, namespace } = useSession();
  return (
    <div class="object" tabIndex={0} role="region" aria-label="Past">
      <div class="list-head"><h1>Past</h1><span class="hint">{namespace === '' ? '' : `the namespace ${namespace} as it was`}</span></div>
      {namespace === '' && <Notice tone="plain">Choose a namespace above.</Notice>}
      {namespace !== '' && <PastOf key={namespace} kinds={kinds.filter(hasPast)} namespace={namespace} />}
    </div>
  );
}

function PastOf({ kinds, namespace }: { readonly kinds: readonly Kind[]; readonly namespace: string }): JSX.Element {
  const past = useLoaded((signal) => fetchPast(kinds, namespace, signal), []);
  const [revision, setRevision] = useState(0);
  if (past.type === 'waiting') return <Waiting what="Reading what the server still knows" />;
  if (past.type === 'failed') return <Notice tone="bad">{past.error.message}</Notice>;
  const { changes, oldest, newest } = past.value;
  const at = revision === 0 ? newest : revision;
  const note = (text: string): void => {
    if (!Number.isNaN(Date.parse(text))) setRevision(findRevision(changes, oldest, new Date(text).toISOString()));
  };
  return (
    <>
      <div class="bar">
        <label>At <input type="datetime-local" step={1} max={formatLocal(Date.now() + 60_000)} onChange={(event) => note(event.currentTarget.value)} /></label>
        <label>Revision
          <input type="number" min={oldest} max={newest} value={String(at)} onChange={(event) => setRevision(event.currentTarget.valueAsNumber || newest)} />
        </label>
        <span class="hint">The server knows the revisions {oldest} to {newest}.</span>
      </div>
      <ObjectsAt key={at} kinds={kinds} namespace={namespace} revision={at} />
      <section class="card" aria-label="Changes">
        <h2>Changes</h2>
        <div class="short" tabIndex={0} role="region" aria-label="Table of changes">
          <table class="plain">
            <thead><tr><th>Revision</th><th>Time</th><th>Change</th><th>Kind</th><th>Name</th></tr></thead>
            <tbody>
              {changes.slice(0, MOST_SHOWN).map(({ kind, name, revision: own, type, time }) => (
                <tr key={`${kind.plural} ${own}`}>
                  <td><button type="button" aria-pressed={own === at} onClick={() => setRevision(own)}>{own}</button></td>
                  <td>{time === '' ? '' : new Date(time).toLocaleTimeString()}</td>
                  <td>{type.toLowerCase()}</td><td>{kind.kind}</td>
                  <td><a href={objectRoute(kind, { namespace, name }, 'history')}>{name}</a></td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
    </>
  );
}

interface ObjectsAtProps {
  readonly kinds: readonly Kind[];
  readonly namespace: string;
  readonly revision: number;
}

function ObjectsAt({ kinds, namespace, revision }: ObjectsAtProps): JSX.Element {
  const loaded = useLoaded((signal) => mentionObjects(kinds, namespace, signal, revision), []);
  const objects = loaded.type === 'there' ? [...loaded.value].sort((a, b) => a.kind.kind.localeCompare(b.kind.kind) || a.name.localeCompare(b.name)) : [];
  return (
    <section class="card" aria-label="Objects">
      <h2>Objects at revision {revision}</h2>
      {loaded.type === 'waiting' && <Waiting what="Reading" />}
      {loaded.type === 'failed' && <Notice tone="bad">{loaded.error.message}</Notice>}
      {loaded.type === 'there' && objects.length === 0 && <p class="hint">There were none that you may see.</p>}
      <ul class="tree">
        {objects.map(({ kind, name, uid }) => <li key={uid}>{kind.kind} <a href={objectRoute(kind, { namespace, name }, 'history')}>{name}</a></li>)}
      </ul>
    </section>
  );
}
