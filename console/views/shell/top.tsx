// The bar above every view: the namespace, the palette, colours, the user.
import type { JSX } from 'preact';
import { logout } from '../../api/index.ts';
import { Icon, isDark, switchTheme, useRedraw } from '../../ui/index.ts';
import { useSession } from '../context.ts';

/** What the bar can open. */
export type Overlay = '' | 'palette' | 'keys';

interface TopProps {
  readonly isMenuOpen: boolean;
  readonly onMenu: () => void;
  readonly onOverlay: (overlay: Overlay) => void;
  readonly onNamespace: (namespace: string) => void;
}

/** The bar. */
export function Top({ isMenuOpen, onMenu, onOverlay, onNamespace }: TopProps): JSX.Element {
  const { self, namespaces, namespace } = useSession();
  const redraw = useRedraw();
  return (
    <header class="top">
      <button type="button" class="quiet menu" aria-label="Kinds" aria-expanded={isMenuOpen} onClick={onMenu}>
        <Icon name={isMenuOpen ? 'close' : 'menu'} />
      </button>
      <a class="brand" href="#/" aria-label="Pintle"><img src="icon.svg" alt="" width="20" height="20" /><span>Pintle</span></a>
      <NamespaceField namespaces={namespaces} namespace={namespace} onChange={onNamespace} />
      <button type="button" class="finder" onClick={() => onOverlay('palette')}>
        <Icon name="search" /><span>Find kinds and objects</span><kbd>Ctrl K</kbd>
      </button>
      <button type="button" class="quiet" aria-label={isDark() ? 'Light colours' : 'Dark colours'} onClick={() => {
        switchTheme();
        redraw();
      }}><Icon name={isDark() ? 'sun' : 'moon'} /></button>
      <details class="user">
        <summary aria-label={`User ${self.name}`}><Icon name="user" /><span>{self.name}</span></summary>
        <div class="card">
          <strong>{self.name}</strong>
          <ul>{self.groups.map((group) => <li key={group}>{group}</li>)}</ul>
          <button type="button" onClick={() => onOverlay('keys')}>Keys</button>
          <button type="button" onClick={() => void logout()}>Log out</button>
        </div>
      </details>
    </header>
  );
}

interface NamespaceFieldProps {
  readonly namespaces: readonly string[] | undefined;
  readonly namespace: string;
  readonly onChange: (namespace: string) => void;
}

/** A choice where the namespaces are known; where the user may not list them, their names are typed. */
function NamespaceField({ namespaces, namespace, onChange }: NamespaceFieldProps): JSX.Element {
  if (namespaces === undefined) {
    return (
      <input class="namespace" aria-label="Namespace" placeholder="All namespaces" spellcheck={false} value={namespace}
        onChange={(event) => onChange(event.currentTarget.value.trim())} />
    );
  }
  const all = namespace === '' || namespaces.includes(namespace) ? namespaces : [namespace, ...namespaces];
  return (
    <select class="namespace" aria-label="Namespace" value={namespace} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">All namespaces</option>
      {all.map((name) => <option key={name} value={name}>{name}</option>)}
    </select>
  );
}
