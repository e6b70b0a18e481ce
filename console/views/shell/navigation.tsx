// The kinds of the server under the headings by which people look for them.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { type Kind, type Route, formatRoute, groupKinds, kindOfRoute, listRoute } from '../../model/index.ts';
import { Icon, type IconName } from '../../ui/index.ts';
import { useSession } from '../context.ts';

const pages: readonly (readonly [view: string, title: string, icon: IconName])[] =
  [['server', 'Server', 'chart'], ['access', 'Who can', 'key'], ['past', 'Past', 'clock']];

const STORED = 'pintle-console-closed';

function useClosed(): readonly [ReadonlySet<string>, (title: string) => void] {
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => new Set((localStorage.getItem(STORED) ?? 'Devices').split('\n')));
  const toggle = (title: string): void => {
    const next = new Set(closed);
    if (!next.delete(title)) next.add(title);
    localStorage.setItem(STORED, [...next].join('\n'));
    setClosed(next);
  };
  return [closed, toggle];
}

/** The list of kinds. */
export function Navigation({ route }: { readonly route: Route }): JSX.Element {
  const { kinds, namespace } = useSession();
  const sections = useMemo(() => groupKinds(kinds), [kinds]);
  const [closed, toggle] = useClosed();
  const current = route.view === 'list' || route.view === 'object' ? kindOfRoute(route) : undefined;
  const isCurrent = (kind: Kind): boolean => current?.group === kind.group && current.plural === kind.plural;
  return (
    <nav class="kinds" aria-label="Kinds and pages">
      <ul class="pages">
        {pages.map(([view, title, icon]) => (
          <li key={view}><a href={formatRoute(view)} {...(route.view === view && { 'aria-current': 'page' })}><Icon name={icon} />{title}</a></li>
        ))}
      </ul>
      {sections.map(({ title, kinds: members }) => (
        <section key={title}>
          <h2>
            <button type="button" aria-expanded={!closed.has(title)} onClick={() => toggle(title)}>{title}</button>
          </h2>
          {!closed.has(title) && (
            <ul>
              {members.map((kind) => (
                <li key={`${kind.group}/${kind.plural}`}>
                  <a href={listRoute(kind, { namespace: kind.namespaced ? namespace : '' })} {...(isCurrent(kind) && { 'aria-current': 'page' })}
                    title={`${kind.plural}${kind.group === '' ? '' : `.${kind.group}`}`}>{kind.kind}</a>
                </li>
              ))}
            </ul>
          )}
        </section>
      ))}
    </nav>
  );
}
