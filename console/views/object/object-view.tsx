// One object: what it says about itself, and its YAML.
import type { JSX } from 'preact';
import { call } from '../../api/index.ts';
import { type Kind, formatPath, listRoute } from '../../model/index.ts';
import { Notice, Waiting, useLoaded } from '../../ui/index.ts';
import type { KubeObject } from './kube-object.ts';
import { Summary } from './summary.tsx';
import { YamlEditor } from './yaml-view.tsx';

/** Which object. */
export interface ObjectViewProps {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly tab: string;
}

/** The view of an object. */
export function ObjectView({ kind, namespace, name }: ObjectViewProps): JSX.Element {
  const path = formatPath(kind, namespace, name);
  const loaded = useLoaded(async (signal) => (await call(path, { signal })).body, [path]);
  return (
    <div class="object">
      <div class="list-head">
        <h1><a href={listRoute(kind, { namespace })}>{kind.kind}</a> {name}</h1>
        {namespace !== '' && <span class="hint">in {namespace}</span>}
      </div>
      {loaded.type === 'waiting' && <Waiting what="Reading" />}
      {loaded.type === 'failed' && <Notice tone="bad">{loaded.error.message}</Notice>}
      {loaded.type === 'there' && <><Summary object={loaded.value} /><ReadYaml object={loaded.value} /></>}
    </div>
  );
}

/** The object as the server has it, without what managers own. */
function ReadYaml({ object }: { readonly object: KubeObject }): JSX.Element {
  const text = useLoaded(async () => {
    const { formatYaml } = await import('../../editor/index.ts');
    const { managedFields: _managedFields, ...metadata } = object.metadata;
    return formatYaml({ ...object, metadata });
  }, [object]);
  return text.type === 'there' ? <YamlEditor key={object.metadata.resourceVersion} options={{ text: text.value, label: 'YAML', isReadOnly: true }} /> : <Waiting what="Loading" />;
}
