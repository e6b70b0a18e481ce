// The versions of an object that the server keeps: their authors and times, differences between any two, and a way back.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type AuditedWrite, type Target, fetchHistory, fetchWriters } from '../../api/index.ts';
import { formatAge, listRoute } from '../../model/index.ts';
import { Notice, Waiting, useLoaded, useNow } from '../../ui/index.ts';
import { EditObject } from '../write/edit-object.tsx';
import { openDraft } from '../write/use-drop.ts';
import { toPlain } from '../write/plain-text.ts';
import type { KubeObject, ManagedFields } from './kube-object.ts';
import { YamlEditor } from './yaml-view.tsx';

interface Version {
  readonly revision: string;
  readonly object: KubeObject;
  readonly isDeleted: boolean;
}

const nameEntry = ({ manager = '', operation = '', time = '' }: ManagedFields): string => `${manager} ${operation} ${time}`;
const stampOf = (entry: ManagedFields): string => JSON.stringify(entry);

/**
 * Of each version the manager whose entry is new in it, before those that lost fields to it; one that writes again within a second leaves no trace
 * and is that of the version before.
 */
function findAuthors(versions: readonly Version[]): (ManagedFields | undefined)[] {
  const authors: (ManagedFields | undefined)[] = [];
  for (let index = versions.length - 1; index >= 0; index -= 1) {
    const [entries, before] = [index, index + 1].map((at) => versions[at]?.object.metadata.managedFields ?? []) as
      [readonly ManagedFields[], readonly ManagedFields[]];
    const [known, stamps] = [new Set(before.map(nameEntry)), new Set(before.map(stampOf))];
    const changed = entries.filter((entry) => !stamps.has(stampOf(entry)));
    authors[index] = changed.find((entry) => !known.has(nameEntry(entry))) ?? changed[0] ?? authors[index + 1];
  }
  return authors;
}

/** The time line, with the differences of the two versions that are chosen. Without an object there is none now: what is restored is a new one. */
export function History({ target, object }: { readonly target: Target; readonly object: KubeObject | undefined }): JSX.Element {
  const now = useNow();
  const loaded = useLoaded(async (signal) => {
    const history = await fetchHistory(target, signal);
    return { ...history, writers: await fetchWriters(target.kind, history.versions.map(({ revision }) => revision), signal) };
  }, []);
  const [chosen, setChosen] = useState(0);
  const [against, setAgainst] = useState(1);
  const [restored, setRestored] = useState<string | undefined>();
  if (loaded.type === 'waiting') return <Waiting what="Reading the versions that are kept" />;
  if (loaded.type === 'failed') return <Notice tone="bad">{loaded.error.message}</Notice>;
  if (restored !== undefined && object !== undefined) return <EditObject target={target} object={object} text={restored} />;
  const { isCut, writers } = loaded.value;
  const versions = loaded.value.versions as readonly Version[];
  const authors = findAuthors(versions);
  const version = versions[chosen];
  const choose = (index: number): void => {
    setChosen(index);
    setAgainst(index + 1);
  };
  const restore = async (wanted: Version): Promise<void> => {
    const { formatYaml } = await import('../../editor/index.ts');
    const text = formatYaml(toPlain(wanted.object));
    if (object === undefined) openDraft(text);
    else setRestored(text);
  };
  return (
    <div class="history">
      <ol class="versions" aria-label="Versions">
        {versions.map((one, index) => {
          const author = one.isDeleted ? undefined : authors[index];
          const write = writers.get(one.revision);
          const time = write?.time ?? author?.time;
          return (
            <li key={one.revision}>
              <button type="button" aria-pressed={index === chosen} onClick={() => choose(index)}>
                <strong>{one.revision}</strong>
                <span>{one.isDeleted ? 'deleted' : author?.manager ?? ''}</span>
                {write !== undefined && <span>by {nameUser(write)}</span>}
                <span class="hint">{time === undefined ? '' : `${formatAge(time, now)} ago`}</span>
              </button>
            </li>
          );
        })}
      </ol>
      <p class="hint">{isCut ? 'The server has forgotten the versions before these.' : 'These are all its versions.'}</p>
      {version !== undefined && (
        <>
          <Write write={writers.get(version.revision)} />
          <div class="bar">
            <label>Compared with
              <select value={String(against)} onChange={(event) => setAgainst(Number(event.currentTarget.value))}>
                {versions.map((one, index) => <option key={one.revision} value={String(index)}>{one.revision}</option>)}
                <option value={String(versions.length)}>nothing</option>
              </select>
            </label>
            <span class="buttons">
              <a class="button" href={listRoute(target.kind, { namespace: target.namespace, at: version.revision })}>All as they were then</a>
              {!version.isDeleted && <button type="button" onClick={() => void restore(version)}>Restore this version</button>}
            </span>
          </div>
          <Difference key={`${version.revision} ${versions[against]?.revision ?? ''}`} before={versions[against]?.object} after={version.object} />
        </>
      )}
    </div>
  );
}

const nameUser = ({ user, impersonatedUser }: AuditedWrite): string => impersonatedUser ?? (user || 'a user without a name');

/** What the audit says of the request that made a version. */
function Write({ write }: { readonly write: AuditedWrite | undefined }): JSX.Element | null {
  if (write === undefined) return null;
  const { user, impersonatedUser, verb, subresource, time, sourceIPs, userAgent, auditID } = write;
  const facts: readonly (readonly [name: string, text: string | undefined])[] = [
    ['User', user], ['Speaks as', impersonatedUser], ['Verb', subresource === undefined ? verb : `${verb} (${subresource})`], ['Time', time],
    ['From', sourceIPs.join(', ')], ['Program', userAgent], ['Audit ID', auditID],
  ];
  return (
    <section aria-label="The request that made this version">
      <dl class="facts">
        {facts.map(([name, text]) => (text === undefined || text === '' ? null : <div class="fact" key={name}><dt>{name}</dt><dd>{text}</dd></div>))}
      </dl>
    </section>
  );
}

interface DifferenceProps {
  readonly before: KubeObject | undefined;
  readonly after: KubeObject;
}

function Difference({ before, after }: DifferenceProps): JSX.Element {
  const loaded = useLoaded(async () => {
    const { formatYaml, showChanges } = await import('../../editor/index.ts');
    const [old, text] = [before, after].map((one) => (one === undefined ? '' : formatYaml(toPlain(one, { keepsStatus: true })))) as [string, string];
    return { text, extensions: [showChanges(old)], isSame: old === text };
  }, []);
  if (loaded.type !== 'there') return <Waiting what="Comparing" />;
  if (loaded.value.isSame) return <Notice tone="plain">Only what the server itself keeps is different.</Notice>;
  return <YamlEditor options={{ ...loaded.value, label: 'Changes of this version', isReadOnly: true }} />;
}
