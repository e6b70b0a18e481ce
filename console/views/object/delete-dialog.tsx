// The deletion of an object: what it takes along, and how.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Propagation, type Target, deleteObject } from '../../api/index.ts';
import { countBranches, listRoute } from '../../model/index.ts';
import { Dialog, Notice, openRoute } from '../../ui/index.ts';
import { useDependents } from './related.tsx';

const ways: readonly (readonly [Propagation, string])[] = [
  ['Background', 'Delete it, then its dependents'], ['Foreground', 'Delete its dependents first; it waits for them'], ['Orphan', 'Keep its dependents'],
];

interface DeleteDialogProps {
  readonly target: Target;
  readonly uid: string;
  readonly onClose: () => void;
}

/** Asks before it deletes. */
export function DeleteDialog({ target, uid, onClose }: DeleteDialogProps): JSX.Element {
  const { kind, namespace, name } = target;
  const [way, setWay] = useState<Propagation>('Background');
  const [problem, setProblem] = useState('');
  const dependents = useDependents(target, uid);
  const count = dependents.type === 'there' ? countBranches(dependents.value) : 0;
  const remove = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await deleteObject(target, uid, way);
      onClose();
      openRoute(listRoute(kind, { namespace }));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  return (
    <Dialog label={`Delete ${name}`} class="delete" onClose={onClose}>
      <form onSubmit={(event) => void remove(event)}>
        <h2>Delete {kind.kind} {name}?</h2>
        <p role="status">
          {dependents.type === 'waiting' && 'Looking for its dependents…'}
          {dependents.type === 'there' && (count === 0 ? 'Nothing that you may see belongs to it.' : `${count} dependent${count === 1 ? '' : 's'}: `)}
          {dependents.type === 'there' && count > 0 && dependents.value.slice(0, 5).map(({ item }) => `${item.kind.kind} ${item.name}`).join(', ')}
        </p>
        <fieldset>
          <legend>Dependents</legend>
          {ways.map(([value, text]) => (
            <label key={value}><input type="radio" name="way" value={value} checked={way === value} onChange={() => setWay(value)} />{text}</label>
          ))}
        </fieldset>
        {problem !== '' && <Notice tone="bad">{problem}</Notice>}
        <div class="buttons">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" class="danger">Delete</button>
        </div>
      </form>
    </Dialog>
  );
}
