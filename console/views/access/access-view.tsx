// Access: the rules of a user, the subjects of an action, and the server's own answer. Another user can be tried.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { askServer, fetchPolicy } from '../../api/index.ts';
import { type Action, type Caller, type Grant, type Policy, findCaller, grantsFor, grantsOf, objectRoute, subjectsFor } from '../../model/index.ts';
import { Notice, Waiting, useLoaded } from '../../ui/index.ts';
import { useSession } from '../context.ts';

const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const;
const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;

const readGroups = (text: string): string[] => text.split(',').map((group) => group.trim()).filter((group) => group !== '');

/** The page. */
export function AccessView(): JSX.Element {
  const { self } = useSession();
  const policy = useLoaded(fetchPolicy, []);
  const [user, setUser] = useState(self.name);
  const [groups, setGroups] = useState(self.groups.filter((group) => group !== 'system:authenticated').join(', '));
  const [question, setQuestion] = useState<'user' | 'action'>('user');
  const caller = findCaller(user.trim(), readGroups(groups));
  return (
    <div class="object access">
      <div class="list-head"><h1>Who can</h1><span class="hint">what the roles and bindings of RBAC permit</span></div>
      <nav class="tabs" aria-label="Questions">
        <button type="button" aria-pressed={question === 'user'} onClick={() => setQuestion('user')}>What may a user do?</button>
        <button type="button" aria-pressed={question === 'action'} onClick={() => setQuestion('action')}>Which subjects may do something?</button>
      </nav>
      {policy.type === 'waiting' && <Waiting what="Reading roles and bindings" />}
      {policy.type === 'failed' && <Notice tone="bad">{policy.error.message}</Notice>}
      {question === 'user' && (
        <div class="filters">
          <label>User <input value={user} spellcheck={false} onInput={(event) => setUser(event.currentTarget.value)} /></label>
          <label>Groups <input value={groups} spellcheck={false} onInput={(event) => setGroups(event.currentTarget.value)} /></label>
          <TryButton caller={caller} />
        </div>
      )}
      {policy.type === 'there' && question === 'user' && <UserRights policy={policy.value} caller={caller} />}
      {policy.type === 'there' && question === 'action' && <ActionSubjects policy={policy.value} />}
    </div>
  );
}

/** Makes the requests of the whole page as the caller. */
function TryButton({ caller: { user, groups } }: { readonly caller: Caller }): JSX.Element {
  const { self, tryUser } = useSession();
  const others = groups.filter((group) => group !== 'system:authenticated');
  return <button type="button" disabled={user === '' || user === self.name} onClick={() => tryUser(user, others)}>Try as this user</button>;
}

/** A matrix of kinds and verbs, with the rules behind it. */
function UserRights({ policy, caller }: { readonly policy: Policy; readonly caller: Caller }): JSX.Element {
  const { kinds, namespace } = useSession();
  const grants = grantsFor(policy, caller);
  const may = (group: string, resource: string, verb: string): boolean => grantsOf(grants, { verb, group, resource, namespace, name: '' }).length > 0;
  const rows = kinds.filter(({ group, plural }) => verbs.some((verb) => may(group, plural, verb)));
  return (
    <>
      <h2>{caller.user} in {namespace === '' ? 'all namespaces' : `the namespace ${namespace}`}</h2>
      {rows.length === 0 && <p class="empty">RBAC permits nothing here; another namespace can be chosen above.</p>}
      {rows.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Rights">
          <table class="plain matrix">
            <thead><tr><th>Kind</th>{verbs.map((verb) => <th key={verb}>{verb}</th>)}</tr></thead>
            <tbody>
              {rows.map(({ group, plural, kind }) => (
                <tr key={`${group}/${plural}`}>
                  <th scope="row">{kind} <span class="hint">{group}</span></th>
                  {verbs.map((verb) => <td key={verb}>{may(group, plural, verb) ? <span class="good">yes</span> : <span class="hint">–</span>}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <h2>Rules</h2>
      <Grants grants={grants.slice(0, 200)} />
    </>
  );
}

/** Rules with the binding and the role behind each. */
function Grants({ grants }: { readonly grants: readonly Grant[] }): JSX.Element {
  if (grants.length === 0) return <p class="empty">There are none.</p>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Rules">
      <table class="plain">
        <thead><tr><th>Subject</th><th>Verbs</th><th>Resources</th><th>Where</th><th>By binding</th><th>Of role</th></tr></thead>
        <tbody>
          {grants.map(({ rule, namespace, binding, subject }, index) => {
            const { kind, name } = binding.roleRef;
            const [isCluster, isClusterRole] = [namespace === '', kind === 'ClusterRole'];
            const place = isClusterRole ? {} : { namespace };
            return (
              <tr key={index}>
                <td>{subject.kind} {subject.name}</td>
                <td>{rule.verbs?.join(', ')}</td>
                <td class="long">{describeTargets(rule)}</td>
                <td>{isCluster ? 'everywhere' : namespace}</td>
                <td>
                  <a href={objectRoute({ ...rbac, plural: isCluster ? 'clusterrolebindings' : 'rolebindings' }, binding.metadata)}>{binding.metadata.name}</a>
                </td>
                <td><a href={objectRoute({ ...rbac, plural: isClusterRole ? 'clusterroles' : 'roles' }, { name, ...place })}>{name}</a></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function describeTargets({ apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] }: Grant['rule']): string {
  const groups = apiGroups.filter((group) => group !== '').join(', ');
  return [
    resources.join(', '), groups === '' ? '' : `of ${groups}`, resourceNames.length > 0 ? `named ${resourceNames.join(', ')}` : '', nonResourceURLs.join(', '),
  ].filter((part) => part !== '').join(' ');
}

/** The subjects of an action, and the server's answer for one of them. */
function ActionSubjects({ policy }: { readonly policy: Policy }): JSX.Element {
  const { kinds, namespace } = useSession();
  const [verb, setVerb] = useState('get');
  const [resource, setResource] = useState('pods');
  const [name, setName] = useState('');
  const [plural = ''] = resource.split('/');
  const kind = kinds.find((one) => one.plural === plural);
  const action: Action = { verb, group: kind?.group ?? '', resource, namespace: kind?.namespaced === true ? namespace : '', name };
  return (
    <>
      <div class="filters">
        <label>Verb <select value={verb} onChange={(event) => setVerb(event.currentTarget.value)}>
          {[...verbs, 'impersonate', 'bind', 'escalate'].map((one) => <option key={one}>{one}</option>)}
        </select></label>
        <label>Resource <input value={resource} list="plurals" spellcheck={false} onInput={(event) => setResource(event.currentTarget.value.trim())} /></label>
        <datalist id="plurals">{kinds.map((one) => <option key={`${one.group}/${one.plural}`} value={one.plural} />)}</datalist>
        <label>Name <input value={name} placeholder="any" spellcheck={false} onInput={(event) => setName(event.currentTarget.value.trim())} /></label>
      </div>
      <Grants grants={subjectsFor(policy, action)} />
      <AskServer action={action} />
    </>
  );
}

/** All authorizers decide, RBAC is one of them: the server knows. */
function AskServer({ action }: { readonly action: Action }): JSX.Element {
  const { self } = useSession();
  const [user, setUser] = useState(self.name);
  const [answer, setAnswer] = useState('');
  const ask = async (event: Event): Promise<void> => {
    event.preventDefault();
    const caller = user === self.name ? { user, groups: self.groups } : findCaller(user, []);
    setAnswer(await askServer(caller, action).then(({ allowed, reason }) =>
      `${user} ${allowed ? 'may' : 'may not'}${reason === '' ? '.' : `: ${reason}`}`, (error: Error) => error.message));
  };
  return (
    <form class="filters" onSubmit={(event) => void ask(event)}>
      <label>Ask the server about <input value={user} spellcheck={false} onInput={(event) => setUser(event.currentTarget.value.trim())} /></label>
      <button>Ask</button>
      <span role="status">{answer}</span>
    </form>
  );
}
