// One object as it is now: what it says about itself, its text, the owners of its fields, its events, what belongs to it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type ApiError, type Target, followObject } from '../../api/index.ts';
import { listRoute, objectRoute } from '../../model/index.ts';
import { Icon, Notice, Waiting, useLoaded } from '../../ui/index.ts';
import { Definition } from '../definition/definition.tsx';
import { EditObject } from '../write/edit-object.tsx';
import { DeleteDialog } from './delete-dialog.tsx';
import { Events } from './events.tsx';
import { Exec } from './exec.tsx';
import { FieldOwners } from './field-owners.tsx';
import { History } from './history.tsx';
import type { KubeObject } from './kube-object.ts';
import { Logs } from './logs.tsx';
import { Related } from './related.tsx';
import { Summary } from './summary.tsx';
import { YamlEditor } from './yaml-view.tsx';

interface ObjectViewProps extends Target {
  readonly tab: string;
}

type State =
  | { readonly type: 'waiting' }
  | { readonly type: 'failed'; readonly error: ApiError }
  | { readonly type: 'there'; readonly object: KubeObject; readonly isGone: boolean };

function useObject(target: Target): State {
  const [state, setState] = useState<State>({ type: 'waiting' });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const sink = {
      changed: (object: KubeObject) => setState({ type: 'there', object, isGone: false }),
      gone: () => setState((before) => (before.type === 'there' ? { ...before, isGone: true } : before)),
    };
    followObject(target, sink, signal).catch((error: ApiError) => {
      if (!signal.aborted) setState({ type: 'failed', error });
    });
    return () => controller.abort();
  }, []);
  return state;
}

const tabs = [['', 'Object'], ['fields', 'Field owners'], ['history', 'History'], ['events', 'Events'], ['related', 'Related']] as const;

/** Definitions show what they define, too. */
const isDefinition = ({ kind: { group, plural } }: Target): boolean => group === 'apiextensions.k8s.io' && plural === 'customresourcedefinitions';
const has = ({ kind: { subresources } }: Target, subresource: string): boolean => subresources.includes(subresource);

function listTabs(target: Target): readonly (readonly [id: string, title: string])[] {
  const [first, ...others] = tabs;
  const more: (readonly [string, string])[] = [];
  if (isDefinition(target)) more.push(['schema', 'Schema']);
  if (has(target, 'log')) more.push(['logs', 'Logs']);
  if (has(target, 'exec')) more.push(['exec', 'Exec']);
  return [first, ...more, ...others];
}

/** The view of an object. */
export function ObjectView({ tab, ...target }: ObjectViewProps): JSX.Element {
  const { kind, namespace, name } = target;
  const state = useObject(target);
  const [isDeleting, setDeleting] = useState(false);
  const object = state.type === 'there' ? state.object : undefined;
  const place = (other: string): string => objectRoute(kind, { namespace, name }, other);
  const isAlive = state.type === 'there' && !state.isGone;
  return (
    <div class="object">
      <div class="list-head">
        <h1><a href={listRoute(kind, { namespace })}>{kind.kind}</a> {name}</h1>
        {namespace !== '' && <span class="hint">in {namespace}</span>}
        {isAlive && (
          <span class="actions">
            {kind.verbs.includes('patch') && <a class="button" href={place('edit')}><Icon name="edit" />Edit</a>}
            {kind.verbs.includes('delete') && <button type="button" class="danger" onClick={() => setDeleting(true)}><Icon name="trash" />Delete</button>}
          </span>
        )}
      </div>
      <nav class="tabs" aria-label="Parts of the object">
        {listTabs(target).map(([id, title]) => <a key={id} href={place(id)} {...(id === tab && { 'aria-current': 'page' })}>{title}</a>)}
      </nav>
      {state.type === 'waiting' && <Waiting what="Reading" />}
      {state.type === 'failed' && tab === 'history' && state.error.code === 404 && <History target={target} object={undefined} />}
      {state.type === 'failed' && <Notice tone="bad">{state.error.message}</Notice>}
      {state.type === 'there' && state.isGone && <Notice tone="warn">It is deleted. This is what it was.</Notice>}
      {object !== undefined && <Tab tab={tab} target={target} object={object} />}
      {isDeleting && object !== undefined && <DeleteDialog target={target} uid={object.metadata.uid ?? ''} onClose={() => setDeleting(false)} />}
    </div>
  );
}

function Tab({ tab, target, object }: { readonly tab: string; readonly target: Target; readonly object: KubeObject }): JSX.Element {
  switch (tab) {
    case 'fields': return <FieldOwners object={object} />;
    case 'schema': return isDefinition(target) ? <Definition object={object} /> : <Summary object={object} />;
    case 'logs': return has(target, 'log') ? <Logs target={target} object={object} /> : <Summary object={object} />;
    case 'exec': return has(target, 'exec') ? <Exec target={target} object={object} /> : <Summary object={object} />;
    case 'history': return <History target={target} object={object} />;
    case 'events': return <Events uid={object.metadata.uid ?? ''} namespace={target.namespace} />;
    case 'related': return <Related target={target} object={object} />;
    case 'edit': return <EditObject target={target} object={object} />;
    default: return <><Summary object={object} /><ReadYaml object={object} /></>;
  }
}

/** The object as the server has it, without what managers own. */
function ReadYaml({ object }: { readonly object: KubeObject }): JSX.Element {
  const text = useLoaded(async () => {
    const { formatYaml } = await import('../../editor/index.ts');
    const { managedFields: _managedFields, ...metadata } = object.metadata;
    return formatYaml({ ...object, metadata });
  }, [object]);
  if (text.type !== 'there') return <Waiting what="Loading" />;
  return <YamlEditor key={object.metadata.resourceVersion} options={{ text: text.value, label: 'YAML', isReadOnly: true }} />;
}
