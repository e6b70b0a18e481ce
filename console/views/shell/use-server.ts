// What the server serves and which namespaces there are, asked again from time to time.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, fetchKinds } from '../../api/index.ts';
import type { Kind } from '../../model/index.ts';

const REFRESH_MS = 30_000;
const METADATA = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json';

async function fetchNamespaces(): Promise<readonly string[] | undefined> {
  try {
    const { body } = await call('/api/v1/namespaces?limit=1000', { accept: METADATA });
    return (body.items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
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
