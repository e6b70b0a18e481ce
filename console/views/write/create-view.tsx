// New objects: from a text, or from files dropped on the page. Every document is tried first; what is there already is changed by apply.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Target, fetchSchema, writeObject } from '../../api/index.ts';
import { type Kind, apiVersionOf, objectRoute } from '../../model/index.ts';
import { Notice, Waiting, useLoaded } from '../../ui/index.ts';
import { findKindOf, useSession } from '../context.ts';
import type { KubeObject } from '../object/kube-object.ts';
import { YamlEditor } from '../object/yaml-view.tsx';
import { SchemaForm } from './schema-form.tsx';

/** What became of one document. */
interface Outcome {
  readonly title: string;
  readonly route: string;
  readonly result: string;
  readonly isGood: boolean;
  readonly warnings: readonly string[];
}

const DEFAULT_NAMESPACE = 'default';

function findTarget(object: KubeObject, kinds: readonly Kind[], namespace: string): Target {
  const { apiVersion, kind: name, metadata } = object ?? {};
  if (typeof apiVersion !== 'string' || typeof name !== 'string') throw new Error('the document names no apiVersion and kind');
  const kind = findKindOf(kinds, object);
  if (kind === undefined) throw new Error(`the server serves no ${name} of ${apiVersion}`);
  const place = metadata?.namespace ?? (namespace === '' ? DEFAULT_NAMESPACE : namespace);
  const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
  return { kind: { ...kind, version }, namespace: kind.namespaced ? place : '', name: metadata?.name ?? '' };
}

async function writeAll(text: string, isTrial: boolean, { kinds, namespace }: { kinds: readonly Kind[]; namespace: string }): Promise<Outcome[]> {
  const { formatYaml, parseAllYaml } = await import('../../editor/index.ts');
  const outcomes: Outcome[] = [];
  for (const value of parseAllYaml(text)) {
    const object = value as KubeObject;
    const title = `${object?.kind ?? 'document'} ${object?.metadata?.name ?? ''}`;
    try {
      const target = findTarget(object, kinds, namespace);
      const way = target.name === '' ? 'create' : 'apply';
      const { body, warnings } = await writeObject(target, formatYaml(object), { way, isTrial, force: false });
      const name = (body as KubeObject).metadata.name;
      outcomes.push({ title: `${object.kind} ${name}`, route: objectRoute(target.kind, { ...target, name }), isGood: true, warnings,
        result: isTrial ? 'would be accepted' : 'is written' });
    } catch (error) {
      outcomes.push({ title, route: '', result: (error as Error).message, isGood: false, warnings: [] });
    }
  }
  return outcomes;
}

const sample = (kind: Kind | undefined): string => (kind === undefined ? '' :
  `apiVersion: ${apiVersionOf(kind)}\nkind: ${kind.kind}\nmetadata:\n  name: \n`);

interface CreateViewProps {
  /** The kind that the user came from. */
  readonly kind: Kind | undefined;
  /** Text of a file that was dropped. */
  readonly dropped: string;
}

/** The editor of new objects. */
export function CreateView({ kind, dropped }: CreateViewProps): JSX.Element {
  const session = useSession();
  const [text, setText] = useState(dropped === '' ? sample(kind) : dropped);
  const [outcomes, setOutcomes] = useState<readonly Outcome[] | undefined>();
  const [problem, setProblem] = useState('');
  const [triedText, setTriedText] = useState<string | undefined>();
  const [isForm, setForm] = useState(false);
  const tools = useLoaded(async () => [(await import('../../editor/index.ts')).assist(fetchSchema)], []);
  const run = async (isTrial: boolean): Promise<void> => {
    setProblem('');
    await writeAll(text, isTrial, session).then((found) => {
      setOutcomes(found);
      setTriedText(isTrial ? text : undefined);
    }, (error: Error) => setProblem(error.message));
  };
  const isAccepted = triedText === text && outcomes !== undefined && outcomes.length > 0 && outcomes.every(({ isGood }) => isGood);
  return (
    <section class="edit object" aria-label="Create">
      <div class="bar">
        <h1>Create</h1>
        <span class="hint">YAML or JSON, any number of documents. Files can be dropped on the page.</span>
        <span class="buttons">
          <button type="button" aria-pressed={isForm} onClick={() => setForm(!isForm)}>{isForm ? 'Text' : 'Form'}</button>
          <button type="button" onClick={() => void run(true)}>Try</button>
          <button type="button" class="primary" disabled={!isAccepted} onClick={() => void run(false)}>Write</button>
        </span>
      </div>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      {outcomes !== undefined && (
        <ul class="outcomes" aria-label="Outcomes">
          {outcomes.map(({ title, route, result, isGood, warnings }) => (
            <li key={title}>
              <strong class={isGood ? 'good' : 'wrong'}>{route === '' || triedText !== undefined ? title : <a href={route}>{title}</a>}</strong> {result}
              {warnings.map((warning) => <div key={warning} class="busy">{warning}</div>)}
            </li>
          ))}
        </ul>
      )}
      {isForm ? <FormOfText text={text} onChange={setText} /> : tools.type !== 'there' ? <Waiting what="Loading the editor" /> : (
        <YamlEditor options={{ text, label: 'Text of the objects', isReadOnly: false, onChange: setText, extensions: tools.value }} />
      )}
    </section>
  );
}

interface FormOfTextProps {
  readonly text: string;
  readonly onChange: (text: string) => void;
}

/** The form of the object in a text; what is entered is written into it. */
function FormOfText({ text, onChange }: FormOfTextProps): JSX.Element {
  const [begun] = useState(text);
  const [value, setValue] = useState<object | undefined>();
  const loaded = useLoaded(async () => {
    const { formatYaml, parseAllYaml } = await import('../../editor/index.ts');
    const [object, ...others] = parseAllYaml(begun);
    if (others.length > 0) throw new Error('A form shows one object, and the text has several.');
    const { apiVersion, kind } = (object ?? {}) as Partial<KubeObject>;
    if (typeof apiVersion !== 'string' || typeof kind !== 'string') throw new Error('The text names no apiVersion and kind, which the form needs.');
    const schema = await fetchSchema(apiVersion, kind);
    if (schema?.properties === undefined) throw new Error(`The server has no schema of ${kind} of ${apiVersion}.`);
    return { schema, formatYaml, object: object as object };
  }, [begun]);
  if (loaded.type === 'waiting') return <Waiting what="Reading the schema" />;
  if (loaded.type === 'failed') return <Notice tone="warn">{loaded.error.message}</Notice>;
  const { schema, formatYaml, object } = loaded.value;
  const change = (next: object): void => {
    setValue(next);
    onChange(formatYaml(next));
  };
  return <SchemaForm schema={schema} value={value ?? object} onChange={change} />;
}
