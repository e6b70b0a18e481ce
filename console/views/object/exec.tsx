// A command in a container: in a terminal, or line by line for programs without one, where lines that are typed become its input.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ExecSession, type Target, openExec, triedUser } from '../../api/index.ts';
import { Notice } from '../../ui/index.ts';
import { type KubeObject, listContainers } from './kube-object.ts';
import { TerminalPane } from './terminal-pane.tsx';
import { useTextTail } from './text-tail.ts';

/** The view of commands. */
export function Exec({ target, object }: { readonly target: Target; readonly object: KubeObject }): JSX.Element {
  const containers = listContainers(object);
  const [container, setContainer] = useState(containers[0] ?? '');
  const [command, setCommand] = useState('sh');
  const [hasTerminal, setTerminal] = useState(true);
  const [runs, setRuns] = useState(0);
  const [phase, setPhase] = useState<'idle' | 'opening' | 'open'>('idle');
  const [problem, setProblem] = useState('');
  const session = useRef<ExecSession | undefined>(undefined);
  const size = useRef({ columns: 80, rows: 24 });
  const stopButton = useRef<HTMLButtonElement>(null);
  const tail = useTextTail();
  useEffect(() => () => session.current?.close(), []);
  if (triedUser() !== undefined) return <Notice tone="warn">Browsers cannot open a WebSocket as another user: be yourself again for this.</Notice>;
  const start = (write: (text: string, isError: boolean) => void): void => {
    session.current = openExec(target, { container, command: command.split(' ').filter((word) => word !== ''), hasTerminal, size: () => size.current }, {
      opened: () => setPhase('open'),
      output: write,
      ended(message) {
        setPhase('idle');
        setProblem(message);
        if (message === '') write('\r\n— it ended —\r\n', false);
      },
    });
  };
  const run = (event: Event): void => {
    event.preventDefault();
    session.current?.close();
    tail.clear();
    setProblem('');
    setPhase('opening');
    setRuns(runs + 1);
    if (!hasTerminal) start((text, isError) => tail.add(text, isError));
  };
  const stop = (): void => {
    session.current?.close();
    setPhase('idle');
  };
  const resize = (columns: number, rows: number): void => {
    size.current = { columns, rows };
    session.current?.resize(size.current);
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
        <label>
          <input type="checkbox" checked={hasTerminal} disabled={phase !== 'idle'} onChange={(event) => setTerminal(event.currentTarget.checked)} /> Terminal
        </label>
        <span class="buttons">
          {phase !== 'idle' && <button type="button" ref={stopButton} onClick={stop}>Stop</button>}
          <button class="primary" disabled={phase !== 'idle' || command.trim() === ''}>Run</button>
        </span>
      </form>
      {problem !== '' && <Notice tone="bad">{problem}</Notice>}
      {hasTerminal && runs > 0 && (
        <TerminalPane key={runs} label={`Terminal of ${container}`} onReady={({ write }) => start(write)} onResize={resize}
          onInput={(text) => session.current?.send(text)} onLeave={() => stopButton.current?.focus()} />
      )}
      {hasTerminal && <p class="hint"><kbd>F6</kbd> leaves the terminal; all other keys are for the program.</p>}
      {!hasTerminal && <Lines tail={tail} isOpen={phase === 'open'} onLine={(line) => session.current?.send(line)} />}
    </>
  );
}

interface LinesProps {
  readonly tail: ReturnType<typeof useTextTail>;
  readonly isOpen: boolean;
  readonly onLine: (line: string) => void;
}

function Lines({ tail, isOpen, onLine }: LinesProps): JSX.Element {
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('line') as HTMLInputElement;
    tail.add(`> ${field.value}\n`);
    onLine(`${field.value}\n`);
    field.value = '';
  };
  return (
    <>
      <pre class="output" ref={tail.place} tabIndex={0} role="log" aria-label="Output" />
      <form class="bar" onSubmit={send}>
        <input name="line" class="line" aria-label="Line for the command" placeholder="A line for the command" autocomplete="off" spellcheck={false}
          disabled={!isOpen} />
        <button disabled={!isOpen}>Send</button>
      </form>
    </>
  );
}
