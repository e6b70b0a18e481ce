// What the server would store: the outcome of a dry run as changes of what is there, its warnings, and its conflicts with other managers.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, type Target, writeObject } from '../../api/index.ts';
import { Notice, Waiting, useLoaded } from '../../ui/index.ts';
import type { KubeObject } from '../object/kube-object.ts';
import { YamlEditor } from '../object/yaml-view.tsx';
import { toPlain } from './plain-text.ts';

interface ReviewProps {
  readonly target: Target;
  readonly live: KubeObject;
  readonly text: string;
  readonly way: 'apply' | 'replace';
  readonly onBack: () => void;
  readonly onDone: () => void;
}

interface Conflict {
  readonly field: string;
  readonly message: string;
}

function readConflicts(error: unknown): Conflict[] {
  const causes = error instanceof ApiError ? (error.details as { causes?: readonly { reason?: string; field?: string; message?: string }[] })?.causes : [];
  return (causes ?? []).flatMap(({ reason, field = '', message = '' }) => (reason === 'FieldManagerConflict' ? [{ field, message }] : []));
}

/** Tries the text, shows the outcome, and writes it when it is confirmed. */
export function Review({ target, live, text, way, onBack, onDone }: ReviewProps): JSX.Element {
  const [force, setForce] = useState(false);
  const [problem, setProblem] = useState('');
  const trial = useLoaded(async () => {
    const { formatYaml, parseYaml, showChanges } = await import('../../editor/index.ts');
    const { value, problems: [fault] } = parseYaml(text);
    if (fault !== undefined) throw new ApiError(fault.message);
    const { resourceVersion } = live.metadata;
    const given = value as KubeObject;
    const body = way === 'apply' ? text : formatYaml({ ...given, metadata: { ...given?.metadata, resourceVersion } });
    const answer = await writeObject(target, body, { way, force, isTrial: true });
    const [before, after] = [live, answer.body as KubeObject].map((one) => formatYaml(toPlain(one)));
    return { body, warnings: answer.warnings, isSame: before === after, text: after as string, extensions: [showChanges(before as string)] };
  }, [force]);
  const conflicts = trial.type === 'failed' ? readConflicts(trial.error) : [];
  const write = async (body: string): Promise<void> => {
    await writeObject(target, body, { way, force, isTrial: false }).then(onDone, (error: Error) => setProblem(error.message));
  };
  return (
    <section class="edit" aria-label="Review">
      <div class="bar">
        <h2>The server would store</h2>
        <span class="buttons">
          <button type="button" onClick={onBack}>Back to the text</button>
          <button type="button" class="primary" disabled={trial.type !== 'there' || trial.value.isSame}
            onClick={() => trial.type === 'there' && void write(trial.value.body)}>{way === 'apply' ? 'Apply' : 'Replace'}</button>
        </span>
      </div>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      {(conflicts.length > 0 || force) && (
        <Notice tone="warn">
          <ul>{conflicts.map(({ field, message }) => <li key={`${field} ${message}`}><code>{field}</code> {message}</li>)}</ul>
          <label>
            <input type="checkbox" checked={force} onChange={(event) => setForce(event.currentTarget.checked)} />Take the fields from these managers
          </label>
        </Notice>
      )}
      {trial.type === 'waiting' && <Waiting what="Asking the server" />}
      {trial.type === 'failed' && conflicts.length === 0 && <Notice tone="bad">{trial.error.message}</Notice>}
      {trial.type === 'there' && trial.value.warnings.map((warning) => <Notice key={warning} tone="warn">{warning}</Notice>)}
      {trial.type === 'there' && (trial.value.isSame ? <Notice tone="plain">Nothing would change.</Notice>
        : <YamlEditor options={{ text: trial.value.text, extensions: trial.value.extensions, label: 'Changes', isReadOnly: true }} />)}
    </section>
  );
}
