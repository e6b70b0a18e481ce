// The editor of an object: the text is tried first (dry run), and what the server would store is shown as changes, with its warnings and conflicts.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { MANAGER, type Target, fetchSchema, readObject } from '../../api/index.ts';
import { objectRoute } from '../../model/index.ts';
import { Notice, Waiting, openRoute, useLoaded } from '../../ui/index.ts';
import type { KubeObject } from '../object/kube-object.ts';
import { YamlEditor } from '../object/yaml-view.tsx';
import { toPlain } from './plain-text.ts';
import { Review } from './review.tsx';

interface EditObjectProps {
  readonly target: Target;
  readonly object: KubeObject;
  /** Another text to begin with, such as an earlier version. */
  readonly text?: string;
}

/** Edits an object as it was when the editor opened. */
export function EditObject({ target, object, text: given }: EditObjectProps): JSX.Element {
  // Changes of others do not move the text under the cursor: the review compares with what is there then.
  const [begun] = useState(object);
  const [text, setText] = useState<string | undefined>(given);
  const [reviewed, setReviewed] = useState<KubeObject | undefined>();
  const [way, setWay] = useState<'apply' | 'replace'>('apply');
  const [problem, setProblem] = useState('');
  const loaded = useLoaded(async () => {
    const { assist, formatYaml, showConflicts } = await import('../../editor/index.ts');
    const plain = formatYaml(toPlain(begun));
    const others = (begun.metadata.managedFields ?? []).filter(({ manager, operation }) => manager !== MANAGER || operation !== 'Apply');
    return { text: plain, replace: [assist(fetchSchema)], apply: [assist(fetchSchema), showConflicts(plain, others)] };
  }, [begun]);
  if (loaded.type === 'failed') return <Notice tone="bad">The editor could not be loaded.</Notice>;
  if (loaded.type === 'waiting') return <Waiting what="Loading the editor" />;
  const current = text ?? loaded.value.text;
  const leave = (): void => openRoute(objectRoute(target.kind, target));
  const review = async (): Promise<void> => {
    setProblem('');
    await readObject(target).then(setReviewed, (error: Error) => setProblem(error.message));
  };
  if (reviewed !== undefined) {
    return <Review target={target} live={reviewed} text={current} way={way} onBack={() => setReviewed(undefined)} onDone={leave} />;
  }
  return (
    <section class="edit" aria-label="Edit">
      <div class="bar">
        <label>Way
          <select value={way} onChange={(event) => setWay(event.currentTarget.value as typeof way)}>
            <option value="apply">Apply: set what the text says</option>
            <option value="replace">Replace: remove what the text leaves out</option>
          </select>
        </label>
        <span class="buttons">
          <button type="button" onClick={leave}>Cancel</button>
          <button type="button" class="primary" onClick={() => void review()}>Review changes</button>
        </span>
      </div>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      <YamlEditor key={way} options={{ text: current, extensions: loaded.value[way], label: 'Text of the object', isReadOnly: false, onChange: setText }} />
    </section>
  );
}
