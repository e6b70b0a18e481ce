// Definitions and aggregated APIs with their health, as their conditions say.
import type { JSX } from 'preact';
import { type Extension, fetchExtensions } from '../../api/index.ts';
import { type KindPath, objectRoute } from '../../model/index.ts';
import { Notice, StatusWord, Waiting, useLoaded } from '../../ui/index.ts';

const definitions = { group: 'apiextensions.k8s.io', version: 'v1', plural: 'customresourcedefinitions', namespaced: false } as const satisfies KindPath;
const services = { group: 'apiregistration.k8s.io', version: 'v1', plural: 'apiservices', namespaced: false } as const satisfies KindPath;

/** Conditions that are bad when they hold. */
const bad: ReadonlySet<string> = new Set(['NonStructuralSchema', 'Terminating']);

function findProblems({ conditions }: Extension): string[] {
  const wrong = conditions.filter(({ type, status }) => (bad.has(type) ? status === 'True' : status !== 'True'));
  return wrong.map(({ type, reason = '', message = '' }) => `${type}: ${reason} ${message}`);
}

function Health({ kind, title }: { readonly kind: KindPath; readonly title: string }): JSX.Element {
  const loaded = useLoaded((signal) => fetchExtensions(kind, signal), []);
  const rows = loaded.type !== 'there' ? [] : loaded.value.map((one) => ({ ...one, problems: findProblems(one) }))
    .sort((a, b) => b.problems.length - a.problems.length || a.name.localeCompare(b.name));
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      {loaded.type === 'waiting' && <Waiting what="Reading" />}
      {loaded.type === 'failed' && <Notice tone="bad">{loaded.error.message}</Notice>}
      {loaded.type === 'there' && rows.length === 0 && <p class="hint">There are none.</p>}
      {rows.length > 0 && (
        <div class="short" tabIndex={0} role="region" aria-label={`List of ${title.toLowerCase()}`}>
          <table class="plain">
            <thead><tr><th>Name</th><th>Health</th><th>Why</th></tr></thead>
            <tbody>
              {rows.map(({ name, problems }) => (
                <tr key={name}>
                  <td><a href={objectRoute(kind, { name })}>{name}</a></td>
                  <td><StatusWord text={problems.length === 0 ? 'Healthy' : 'Failed'} /></td>
                  <td class="long">{problems.join('; ')}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Both sorts. */
export const Definitions = (): JSX.Element => <><Health kind={definitions} title="Definitions" /><Health kind={services} title="API services" /></>;
