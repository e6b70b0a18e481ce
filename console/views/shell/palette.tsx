// The palette: kinds by name, group or short name, namespaces, and the objects of a kind: "deploy web" finds Deployments with web in their name.
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { listMetadata } from '../../api/index.ts';
import { type Kind, listRoute, namespacesKind, objectRoute, scoreKind } from '../../model/index.ts';
import { Dialog, openRoute } from '../../ui/index.ts';
import { useSession } from '../context.ts';

/** Something that can be opened. */
interface Found {
  readonly title: string;
  readonly hint: string;
  readonly route: string;
}

const MOST_NAMES = 2000;
const MOST_SHOWN = 60;
const TYPING_MS = 120;

function findKinds(kinds: readonly Kind[], words: readonly string[], namespace: string): Found[] {
  const scored = kinds.map((kind) => ({ kind, score: Math.min(...words.map((word) => scoreKind(kind, word))) })).filter(({ score }) => score > 0);
  return scored.sort((a, b) => b.score - a.score || a.kind.kind.localeCompare(b.kind.kind)).map(({ kind }) => ({
    title: kind.kind, hint: kind.group === '' ? 'kind' : `kind of ${kind.group}`, route: listRoute(kind, { namespace: kind.namespaced ? namespace : '' }),
  }));
}

const findNamespaces = (namespaces: readonly string[], text: string): Found[] => namespaces.filter((name) => name.includes(text)).slice(0, 20)
  .map((name) => ({ title: name, hint: 'namespace', route: objectRoute(namespacesKind, { name }) }));

async function findObjects(kind: Kind, { text, namespace, signal }: { text: string; namespace: string; signal: AbortSignal }): Promise<Found[]> {
  const objects = await listMetadata({ kind, namespace, limit: MOST_NAMES, signal });
  return objects.filter(({ name }) => name.includes(text)).slice(0, MOST_SHOWN).map((metadata) => ({
    title: metadata.name, hint: `${kind.kind}${metadata.namespace === undefined ? '' : ` in ${metadata.namespace}`}`, route: objectRoute(kind, metadata),
  }));
}

function useFound(text: string): readonly Found[] {
  const { kinds, namespaces = [], namespace } = useSession();
  const [objects, setObjects] = useState<readonly Found[]>([]);
  const words = text.trim().toLowerCase().split(/\s+/).filter((word) => word !== '');
  const [first = '', rest = ''] = words;
  const kind = words.length < 2 ? undefined : kinds.map((one) => ({ one, score: scoreKind(one, first) })).sort((a, b) => b.score - a.score)[0];
  const target = kind !== undefined && kind.score > 1 ? kind.one : undefined;
  useEffect(() => {
    setObjects([]);
    if (target === undefined) return undefined;
    const controller = new AbortController();
    const timer = setTimeout(() => {
      findObjects(target, { text: rest, namespace: target.namespaced ? namespace : '', signal: controller.signal }).then(setObjects, () => {});
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [target, rest, namespace]);
  return useMemo(() => [
    ...objects, ...(words.length === 0 ? findKinds(kinds, [''], namespace) : findKinds(kinds, words, namespace)),
    ...(words.length === 1 ? findNamespaces(namespaces, first) : []),
  ].slice(0, MOST_SHOWN), [objects, kinds, namespaces, text]);
}

/** The palette. */
export function Palette({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useFound(text);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => setAt(0), [text]);
  useEffect(() => list.current?.children[at]?.scrollIntoView({ block: 'nearest' }), [at]);
  const open = (route: string | undefined): void => {
    if (route === undefined) return;
    onClose();
    openRoute(route);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (event.key === 'Enter') open(found[at]?.route);
    if (step === 0) return;
    event.preventDefault();
    setAt(Math.max(0, Math.min(found.length - 1, at + step)));
  };
  return (
    <Dialog label="Find" class="palette" onClose={onClose}>
      <input autofocus role="combobox" aria-label="Kind, namespace, or kind and name" aria-expanded="true" aria-controls="found" aria-autocomplete="list"
        {...(found.length > 0 && { 'aria-activedescendant': `found-${at}` })} placeholder="Kind, namespace, or kind and name: deploy web" spellcheck={false}
        value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={onKeyDown} />
      <ul id="found" role="listbox" aria-label="Found" ref={list}>
        {found.map(({ title, hint, route }, index) => (
          <li key={route} id={`found-${index}`} role="option" aria-selected={index === at} onClick={() => open(route)}>
            <span>{title}</span><span class="hint">{hint}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="hint" role="status">Nothing is found.</p>}
    </Dialog>
  );
}
