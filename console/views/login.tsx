// The login: a bearer token, the provider of the server (OpenID Connect), or the link of `pintle console`. Client certificates need none of this.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { fetchProvider, leaveForProvider, loginWithToken } from '../api/index.ts';
import { Notice, useLoaded } from '../ui/index.ts';

/** What the login knows. */
interface LoginProps {
  /** Why a login by link failed; '' where none did. */
  readonly problem: string;
  readonly onLogin: () => void;
}

/** The page of a visitor without a session. */
export function Login({ problem, onLogin }: LoginProps): JSX.Element {
  const [token, setToken] = useState('');
  const [failure, setFailure] = useState(problem);
  const [isBusy, setBusy] = useState(false);
  const provider = useLoaded(fetchProvider, []);
  const leave = async (): Promise<void> => {
    setBusy(true);
    const why = await leaveForProvider().catch(() => 'the server does not answer');
    if (why === undefined) return;
    setBusy(false);
    setFailure(why);
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const why = await loginWithToken(token.trim()).catch(() => 'the server does not answer');
    setBusy(false);
    setToken('');
    if (why === undefined) onLogin();
    else setFailure(why);
  };
  return (
    <main class="login">
      <form onSubmit={(event) => void submit(event)}>
        <h1><img src="icon.svg" alt="" width="28" height="28" /> Pintle</h1>
        <p>Log in to see what this server lets you see.</p>
        {failure !== '' && <Notice tone="bad">{failure}</Notice>}
        {provider.type === 'there' && provider.value !== '' && (
          <button type="button" class="primary" disabled={isBusy} onClick={() => void leave()}>Log in at {provider.value}</button>
        )}
        <label for="token">Bearer token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} autofocus value={token}
          onInput={(event) => setToken(event.currentTarget.value)} />
        <button class="primary" disabled={isBusy || token.trim() === ''}>Log in</button>
        <p class="hint">Or run <code>pintle console</code> beside the server: it prints a link that logs you in once.</p>
      </form>
    </main>
  );
}
