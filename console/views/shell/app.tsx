// The page: the login for visitors, the shell with its views for users.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type Self, fetchSelf, loginFromProvider, loginWithCode, onSessionEnd, recallPlace } from '../../api/index.ts';
import { Notice, Waiting } from '../../ui/index.ts';
import { Login } from '../login.tsx';
import { Shell } from './shell.tsx';

type State =
  | { readonly type: 'asking' }
  | { readonly type: 'visitor'; readonly problem: string }
  | { readonly type: 'user'; readonly self: Self }
  | { readonly type: 'failed'; readonly problem: string };

/** Uses the code of a login link or of a provider, which leaves the address at once. */
async function useLink(): Promise<string> {
  const answer = new URLSearchParams(location.search);
  if (answer.has('state')) {
    history.replaceState(null, '', `${location.pathname}${recallPlace()}`);
    return await loginFromProvider(answer) ?? '';
  }
  const code = /^#code=([\w-]+)$/.exec(location.hash)?.[1];
  if (code === undefined) return '';
  history.replaceState(null, '', location.pathname);
  return await loginWithCode(code) ?? '';
}

async function findState(): Promise<State> {
  try {
    const problem = await useLink();
    const self = await fetchSelf();
    return self === undefined ? { type: 'visitor', problem } : { type: 'user', self };
  } catch (error) {
    return { type: 'failed', problem: (error as Error).message };
  }
}

/** The whole page. */
export function App(): JSX.Element {
  const [state, setState] = useState<State>({ type: 'asking' });
  const ask = (): void => void findState().then(setState);
  useEffect(ask, []);
  useEffect(() => onSessionEnd(() => setState((before) =>
    (before.type === 'user' ? { type: 'visitor', problem: 'The session is over.' } : before))), []);
  switch (state.type) {
    case 'asking': return <main class="login"><Waiting what="Connecting" /></main>;
    case 'failed': return <main class="login"><Notice tone="bad">{state.problem}</Notice><button type="button" onClick={ask}>Try again</button></main>;
    case 'visitor': return <Login problem={state.problem} onLogin={ask} />;
    default: return <Shell self={state.self} />;
  }
}
