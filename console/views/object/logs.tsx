// The logs of a pod's containers, as they are written.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Target, followLogs } from '../../api/index.ts';
import { Notice } from '../../ui/index.ts';
import { type KubeObject, listContainers } from './kube-object.ts';
import { useTextTail } from './text-tail.ts';

/** The view of logs. */
export function Logs({ target, object }: { readonly target: Target; readonly object: KubeObject }): JSX.Element {
  const containers = listContainers(object);
  const [container, setContainer] = useState(containers[0] ?? '');
  const [isPrevious, setPrevious] = useState(false);
  const [hasTimes, setTimes] = useState(false);
  const [phase, setPhase] = useState<'live' | 'over' | ''>('');
  const [problem, setProblem] = useState('');
  const tail = useTextTail();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    tail.clear();
    setPhase('live');
    setProblem('');
    const options = { container, isPrevious, hasTimes, follows: !isPrevious };
    followLogs(target, options, { write: (text) => tail.add(text), signal }).then(() => setPhase('over'), (error: Error) => {
      if (signal.aborted) return;
      setPhase('');
      setProblem(error.message);
    });
    return () => controller.abort();
  }, [container, isPrevious, hasTimes]);
  return (
    <>
      <div class="bar">
        <label>Container
          <select value={container} onChange={(event) => setContainer(event.currentTarget.value)}>
            {containers.map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <label><input type="checkbox" checked={isPrevious} onChange={(event) => setPrevious(event.currentTarget.checked)} />Of the run before</label>
        <label><input type="checkbox" checked={hasTimes} onChange={(event) => setTimes(event.currentTarget.checked)} />Times</label>
        <input aria-label="Lines that hold" placeholder="Lines that hold" spellcheck={false} onInput={(event) => tail.filter(event.currentTarget.value)} />
        <span role="status" class="hint">{phase === 'live' ? 'following' : phase === 'over' ? 'this is its end' : ''}</span>
      </div>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      <pre class="output" ref={tail.place} tabIndex={0} role="log" aria-live="off" aria-label={`Log of ${container}`} />
    </>
  );
}
