// What the server serves and which namespaces there are, asked again from time to time.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { fetchKinds, listMetadata } from '../../api/index.ts';
import { type Kind, namespacesKind } from '../../model/index.ts';

const REFRESH_MS = 30_000;
const MOST_NAMESPACES = 1000;

async function fetchNamespaces(): Promise<readonly string[] | undefined> {
  try {
    return (await listMetadata({ kind: namespacesKind, namespace: '', limit: MOST_NAMESPACES })).map(({ name }) => name);
  } catch {
    return undefined;
  }
}

/** Asks the server as `user`; undefined: as oneself. */
export function useServer(user: string | undefined) {
  const [kinds, setKinds] = useState<readonly Kind[] | undefined>();
  const [namespaces, setNamespaces] = useState<readonly string[] | undefined>();
  const [problem, setProblem] = useState('');
  const refresh = useMemo(() => async (): Promise<void> => {
    try {
      const [found, names] = await Promise.all([fetchKinds(), fetchNamespaces()]);
      // The same kinds keep their place, so that nothing is drawn again.
      setKinds((before) => (JSON.stringify(before) === JSON.stringify(found) ? before : found));
      setNamespaces((before) => (JSON.stringify(before) === JSON.stringify(names) ? before : names));
      setProblem('');
    } catch (error) {
      setProblem((error as Error).message);
    }
  }, []);
  useEffect(() => {
    void refresh();
    const timer = setInterval(() => {
      if (!document.hidden) void refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [user]);
  return { kinds, namespaces, problem, refresh: () => void refresh() };
}
