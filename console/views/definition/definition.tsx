// A definition: the schema of each version with its descriptions and bounds, its rules, and a sample object to try them with.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Schema, childrenOf, describeBounds, describeType, listRules, sampleOf } from '../../model/index.ts';
import { Notice } from '../../ui/index.ts';
import { openDraft } from '../write/use-drop.ts';
import { findKind, useSession } from '../context.ts';
import { CelTrial } from './cel-trial.tsx';
import type { KubeObject } from '../object/kube-object.ts';
import { type Conversion, type DefinedVersion, Versions } from './versions.tsx';

interface Version extends DefinedVersion {
  readonly schema?: { readonly openAPIV3Schema?: Schema };
}

interface DefinitionSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly versions: readonly Version[];
  readonly conversion?: Conversion;
}

interface DefinitionObject {
  readonly spec: DefinitionSpec;
  readonly status?: { readonly storedVersions?: readonly string[] };
}

function Field({ name, schema, isRequired }: { readonly name: string; readonly schema: Schema; readonly isRequired: boolean }): JSX.Element {
  const below = childrenOf(schema);
  const [isOpen, setOpen] = useState(false);
  const head = (
    <>
      <code>{name}</code> <span class="hint">{describeType(schema)}</span>{isRequired && <span class="busy"> required</span>}
      {describeBounds(schema).map((bound) => <span key={bound} class="hint">; {bound}</span>)}
    </>
  );
  return (
    <li>
      {below.length === 0 ? head : (
        <details onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{head}</summary>
          {isOpen && <Fields schema={schema} />}
        </details>
      )}
      {schema.description !== undefined && <p class="hint description">{schema.description}</p>}
    </li>
  );
}

/** The fields below a schema; those of a closed one are not drawn. */
function Fields({ schema }: { readonly schema: Schema }): JSX.Element {
  return (
    <ul class="tree">
      {childrenOf(schema).map(([step, below]) => {
        const name = step.replace(/^\./, '');
        return <Field key={step} name={name} schema={below} isRequired={schema.required?.includes(name) === true} />;
      })}
    </ul>
  );
}

/** The page of a definition. */
export function Definition({ object }: { readonly object: KubeObject }): JSX.Element {
  const { spec: { group, scope, names, versions, conversion }, status } = object as unknown as DefinitionObject;
  const [name, setName] = useState((versions.find(({ storage }) => storage) ?? versions[0])?.name ?? '');
  const version = versions.find((one) => one.name === name);
  const schema = version?.schema?.openAPIV3Schema ?? {};
  const rules = listRules(schema);
  const { kinds } = useSession();
  const kind = findKind(kinds, { group, plural: names.plural });
  const sample = { apiVersion: `${group}/${name}`, kind: names.kind, metadata: { name: 'sample' }, ...sampleOf(schema) as object };
  const draft = async (): Promise<void> => {
    const { formatYaml } = await import('../../editor/index.ts');
    openDraft(formatYaml(sample));
  };
  return (
    <div class="related">
      <div class="bar">
        <label>Version
          <select value={name} onChange={(event) => setName(event.currentTarget.value)}>
            {versions.map((one) => (
              <option key={one.name} value={one.name}>{one.name}{one.storage ? ', stored' : ''}{one.served ? '' : ', not served'}</option>
            ))}
          </select>
        </label>
        <span class="hint">{scope}</span>
        <span class="buttons"><button type="button" onClick={() => void draft()}>Try a sample object</button></span>
      </div>
      {version?.deprecated === true && <Notice tone="warn">{version.deprecationWarning ?? 'This version is deprecated.'}</Notice>}
      <Versions versions={versions} storedVersions={status?.storedVersions ?? []} conversion={conversion} />
      <section class="card" aria-label="Schema">
        <h2>Schema</h2>
        {schema.description !== undefined && <p class="hint">{schema.description}</p>}
        <Fields key={name} schema={schema} />
      </section>
      <section class="card" aria-label="Rules">
        <h2>Rules</h2>
        {rules.length === 0 && <p class="hint">It has none.</p>}
        <ul class="tree">
          {rules.map(({ path, rule, message }) => (
            <li key={`${path} ${rule}`}><code>{path}</code> <span class="hint">{message}</span><pre class="rule">{rule}</pre></li>
          ))}
        </ul>
        {rules.length > 0 && <p class="hint">A sample object that is tried is checked by these rules at the server, and is not stored.</p>}
      </section>
      <CelTrial key={`trial ${name}`} schema={schema} rules={rules} sample={sample} isNamespaced={scope === 'Namespaced'}
        target={kind && ((namespace, of) => ({ kind: { ...kind, version: name }, namespace, name: of }))} />
    </div>
  );
}
