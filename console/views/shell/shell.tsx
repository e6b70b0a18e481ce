// The frame of every view: kinds at the left, the namespace and the palette above, the view in the middle.
import type { JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Self, triedUser, tryAs } from '../../api/index.ts';
import { kindOfRoute, listRoute } from '../../model/index.ts';
import { Notice, Waiting, openRoute, useKey, useRoute } from '../../ui/index.ts';
import { type Session, SessionContext } from '../context.ts';
import { useDrop } from '../write/use-drop.ts';
import { Keys } from './keys.tsx';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette.tsx';
import { type Overlay, Top } from './top.tsx';
import { useServer } from './use-server.ts';
import { View } from './view.tsx';

/** The page of a user. */
export function Shell({ self }: { readonly self: Self }): JSX.Element {
  const route = useRoute();
  const dropped = useDrop();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const [overlay, setOverlay] = useState<Overlay>('');
  const [namespace, setNamespace] = useState(route.query.get('namespace') ?? '');
  const [user, setUser] = useState(triedUser());
  const { kinds, namespaces, problem, refresh } = useServer(user);
  useEffect(() => setMenuOpen(false), [route]);
  useEffect(() => {
    if (route.view === 'list') setNamespace(route.query.get('namespace') ?? '');
  }, [route]);
  useKey('?', () => setOverlay('keys'));
  useEffect(() => {
    const note = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      setOverlay('palette');
    };
    addEventListener('keydown', note);
    return () => removeEventListener('keydown', note);
  }, []);
  const session = useMemo((): Session | undefined => kinds && {
    self, kinds, namespaces, namespace, refresh,
    tryUser(name, groups = []) {
      tryAs(name, groups);
      setUser(name);
    },
  }, [self, kinds, namespaces, namespace, user]);
  if (session === undefined) {
    return <main class="login">{problem === '' ? <Waiting what="Reading what is served" /> : <Notice tone="bad">{problem}</Notice>}</main>;
  }
  const change = (next: string): void => {
    setNamespace(next);
    if (route.view === 'list') openRoute(listRoute(kindOfRoute(route), { ...Object.fromEntries(route.query), namespace: next }));
  };
  return (
    <SessionContext.Provider value={session}>
      <a class="skip" href="#main" onClick={skipToMain}>Skip to content</a>
      <Top isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} onOverlay={setOverlay} onNamespace={change} />
      {user !== undefined && (
        <div class="tried" role="status">Requests are made as <strong>{user}</strong>.
          <button type="button" onClick={() => session.tryUser(undefined)}>Be {self.name} again</button>
        </div>
      )}
      <div class={`body ${isMenuOpen ? 'menu-open' : ''}`}>
        <Navigation route={route} />
        <main id="main" tabIndex={-1} key={user ?? ''}><View route={route} dropped={dropped} /></main>
      </div>
      {overlay === 'palette' && <Palette onClose={() => setOverlay('')} />}
      {overlay === 'keys' && <Keys onClose={() => setOverlay('')} />}
    </SessionContext.Provider>
  );
}

function skipToMain(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}
