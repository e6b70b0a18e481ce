// What every view may ask for: the user, the kinds of the server, the namespaces.
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Self } from '../api/index.ts';
import type { Kind } from '../model/index.ts';

/** The session as views see it. */
export interface Session {
  readonly self: Self;
  readonly kinds: readonly Kind[];
  /** undefined where the user may not list them. */
  readonly namespaces: readonly string[] | undefined;
  /** The namespace that lists show; '' for all. */
  readonly namespace: string;
  /** Asks the server again for its kinds and namespaces. */
  readonly refresh: () => void;
  /** Makes requests as another user; undefined: as oneself. */
  readonly tryUser: (user: string | undefined, groups?: readonly string[]) => void;
}

/** Given by the shell. */
export const SessionContext = createContext<Session | undefined>(undefined);

/** The session around a view. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === undefined) throw new Error('views stand inside the shell');
  return session;
}

/** The kind that a place names. */
export function findKind(kinds: readonly Kind[], { group, plural }: Pick<Kind, 'group' | 'plural'>): Kind | undefined {
  return kinds.find((kind) => kind.group === group && kind.plural === plural);
}

/** The kind of an object, by the fields that it names itself by. */
export function findKindOf(kinds: readonly Kind[], { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): Kind | undefined {
  const slash = apiVersion.indexOf('/');
  const group = slash === -1 ? '' : apiVersion.slice(0, slash);
  return kinds.find((one) => one.group === group && one.kind === kind);
}
