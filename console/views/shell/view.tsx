// The view that a place names.
import type { JSX } from 'preact';
import { type Route, kindOfRoute, namespacesKind } from '../../model/index.ts';
import { Notice } from '../../ui/index.ts';
import { findKind, useSession } from '../context.ts';
import { AccessView } from '../access/access-view.tsx';
import { ListView } from '../list/list-view.tsx';
import { ObjectView } from '../object/object-view.tsx';
import { PastView } from '../past/past-view.tsx';
import { ServerView } from '../server/server-view.tsx';
import { CreateView } from '../write/create-view.tsx';

/** Draws it; `dropped` is the text of files that were dropped on the page. */
export function View({ route, dropped }: { readonly route: Route; readonly dropped: string }): JSX.Element {
  const { kinds } = useSession();
  const wanted = route.view === '' ? namespacesKind : kindOfRoute(route);
  const kind = findKind(kinds, wanted);
  if (route.view === 'create') return <CreateView key={`${route.parts.join('/')} ${dropped}`} kind={kind} dropped={dropped} />;
  if (route.view === 'access') return <AccessView />;
  if (route.view === 'past') return <PastView />;
  if (route.view === 'server') return <ServerView />;
  if (!['', 'list', 'object'].includes(route.view)) return <Notice tone="warn">The console has no such page.</Notice>;
  if (kind === undefined) return <Notice tone="warn">The server serves no {wanted.plural} of {wanted.group === '' ? 'the core group' : wanted.group}.</Notice>;
  if (route.view !== 'object') return <ListView key={`${kind.group}/${kind.plural}`} kind={kind} query={route.query} />;
  const [, , , place = '-', name = ''] = route.parts;
  const target = { kind, namespace: place === '-' ? '' : place, name };
  return <ObjectView key={route.parts.join('/')} {...target} tab={route.query.get('tab') ?? ''} />;
}
