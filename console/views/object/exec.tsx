// A command in a container, line by line: lines that are typed become its input, and its output is shown.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ExecSession, type Target, openExec, triedUser } from '../../api/index.ts';
import { Notice } from '../../ui/index.ts';
import { type KubeObject, listContainers } from './kube-object.ts';
import { useTextTail } from './text-tail.ts';

/** The view of commands. */
export function Exec({ target, object }: { readonly target: Target; readonly object: KubeObject }): JSX.Element {
  const containers = listContainers(object);
  const [container, setContainer] = useState(containers[0] ?? '');
  const [command, setCommand] = useState('sh');
  const [phase, setPhase] = useState<'idle' | 'opening' | 'open'>('idle');
  const [problem, setProblem] = useState('');
  const session = useRef<ExecSession | undefined>(undefined);
  const tail = useTextTail();
  useEffect(() => () => session.current?.close(), []);
  if (triedUser() !== undefined) return <Notice tone="warn">Browsers cannot open a WebSocket as another user: be yourself again for this.</Notice>;
  const run = (event: Event): void => {
    event.preventDefault();
    session.current?.close();
    tail.clear();
    setProblem('');
    setPhase('opening');
    session.current = openExec(target, { container, command: command.split(' ').filter((word) => word !== '') }, {
      opened: () => setPhase('open'),
      output: (text, isError) => tail.add(text, isError),
      ended(message) {
        setPhase('idle');
        setProblem(message);
        if (message === '') tail.add('\n— it ended —\n');
      },
    });
  };
  const stop = (): void => {
    session.current?.close();
    setPhase('idle');
  };
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('line') as HTMLInputElement;
    tail.add(`> ${field.value}\n`);
    session.current?.send(`${field.value}\n`);
    field.value = '';
  };
  return (
    <>
      <form class="bar" onSubmit={run}>
        <label>Container
          <select value={container} onChange={(event) => setContainer(event.currentTarget.value)}>
            {containers.map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <label>Command <input value={command} spellcheck={false} onInput={(event) => setCommand(event.currentTarget.value)} /></label>
        <span class="buttons">
          {phase !== 'idle' && <button type="button" onClick={stop}>Stop</button>}
          <button class="primary" disabled={phase !== 'idle' || command.trim() === ''}>Run</button>
        </span>
      </form>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      <pre class="output" ref={tail.place} tabIndex={0} role="log" aria-label="Output" />
      <form class="bar" onSubmit={send}>
        <input name="line" class="line" aria-label="Line for the command" placeholder="A line for the command" autocomplete="off" spellcheck={false}
          disabled={phase !== 'open'} />
        <button disabled={phase !== 'open'}>Send</button>
      </form>
    </>
  );
}
