// The view that a place names.
import type { JSX } from 'preact';
import { type Route, kindOfRoute } from '../../model/index.ts';
import { Notice } from '../../ui/index.ts';
import { findKind, useSession } from '../context.ts';
import { ListView } from '../list/list-view.tsx';
import { ObjectView } from '../object/object-view.tsx';

const start = { group: '', version: 'v1', plural: 'namespaces' } as const;

/** Draws it. */
export function View({ route }: { readonly route: Route }): JSX.Element {
  const { kinds } = useSession();
  const wanted = route.view === '' ? start : kindOfRoute(route);
  const kind = findKind(kinds, wanted);
  if (!['', 'list', 'object'].includes(route.view)) return <Notice tone="warn">The console has no such page.</Notice>;
  if (kind === undefined) return <Notice tone="warn">The server serves no {wanted.plural} of {wanted.group === '' ? 'the core group' : wanted.group}.</Notice>;
  if (route.view !== 'object') return <ListView key={`${kind.group}/${kind.plural}`} kind={kind} query={route.query} />;
  const [, , , namespace = '-', name = ''] = route.parts;
  return <ObjectView key={route.parts.join('/')} kind={kind} namespace={namespace === '-' ? '' : namespace} name={name} tab={route.query.get('tab') ?? ''} />;
}
