// A place to try expressions on an object, with the engine of the server: the rules of a definition, and any expression on any part of the object.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Target, readObject } from '../../api/index.ts';
import type { PlaceResult, Trial } from '../../cel/index.ts';
import { type Schema, type SchemaRule, listPlaces } from '../../model/index.ts';
import { Notice } from '../../ui/index.ts';

interface CelTrialProps {
  readonly schema: Schema;
  readonly rules: readonly SchemaRule[];
  /** The text with which the page begins. */
  readonly sample: object;
  /** The kind whose objects can be taken; undefined where the server does not serve it yet. */
  readonly target: ((namespace: string, name: string) => Target) | undefined;
  readonly isNamespaced: boolean;
}

type Outcome =
  | { readonly type: 'problem'; readonly message: string }
  | { readonly type: 'values'; readonly places: readonly PlaceResult[] }
  | { readonly type: 'rules'; readonly failures: readonly string[] };

const ROOT = 'self';

async function readTrial(schema: Schema, texts: { readonly object: string; readonly old: string }): Promise<Trial> {
  const { parseYaml } = await import('../../editor/index.ts');
  const read = (text: string, name: string): unknown => {
    const { value, problems: [problem] } = parseYaml(text);
    if (problem !== undefined) throw new Error(`${name}: ${problem.message}`);
    return value;
  };
  return { schema, object: read(texts.object, 'the object'), old: texts.old.trim() === '' ? undefined : read(texts.old, 'the old object') };
}

/** The place. */
export function CelTrial({ schema, rules, sample, target, isNamespaced }: CelTrialProps): JSX.Element {
  const [object, setObject] = useState(() => JSON.stringify(sample, undefined, 2));
  const [old, setOld] = useState('');
  const [place, setPlace] = useState(ROOT);
  const [expression, setExpression] = useState(rules[0]?.rule ?? 'has(self.spec)');
  const [outcome, setOutcome] = useState<Outcome | undefined>();
  const [from, setFrom] = useState('');
  const places = listPlaces(schema);
  const attempt = (work: () => Promise<Outcome | undefined>): void =>
    void work().catch((error: Error): Outcome => ({ type: 'problem', message: error.message })).then(setOutcome);
  const evaluate = (event: Event): void => {
    event.preventDefault();
    attempt(async () => {
      const [{ tryExpression }, trial] = await Promise.all([import('../../cel/index.ts'), readTrial(schema, { object, old })]);
      const found = await tryExpression(trial, expression, places.find(({ path }) => path === place)?.steps ?? []);
      return typeof found === 'string' ? { type: 'problem', message: found } : { type: 'values', places: found };
    });
  };
  const runRules = (): void => attempt(async () => {
    const [{ tryRules }, trial] = await Promise.all([import('../../cel/index.ts'), readTrial(schema, { object, old })]);
    return { type: 'rules', failures: await tryRules(trial) };
  });
  const take = (): void => attempt(async () => {
    const [namespace, name] = from.includes('/') ? from.split('/') as [string, string] : ['', from];
    const { formatYaml } = await import('../../editor/index.ts');
    setObject(formatYaml(await readObject((target as NonNullable<typeof target>)(namespace, name))));
    return undefined;
  });
  return (
    <section class="card" aria-label="Try expressions">
      <h2>Try expressions <span class="hint">by the engine of the server, in this page: nothing is sent or stored</span></h2>
      <form class="cel" onSubmit={evaluate}>
        <label>Object <textarea rows={10} spellcheck={false} value={object} onInput={(event) => setObject(event.currentTarget.value)} /></label>
        <label>Old object, for oldSelf <textarea rows={3} spellcheck={false} value={old} onInput={(event) => setOld(event.currentTarget.value)} /></label>
        {target !== undefined && (
          <div class="bar">
            <label>Stored object <input spellcheck={false} placeholder={isNamespaced ? 'namespace/name' : 'name'} value={from}
              onInput={(event) => setFrom(event.currentTarget.value)} /></label>
            <button type="button" disabled={from === ''} onClick={take}>Take it</button>
          </div>
        )}
        <div class="bar">
          <label>self is <select value={place} onChange={(event) => setPlace(event.currentTarget.value)}>
            {places.map(({ path }) => <option key={path} value={path}>{path === ROOT ? 'the object' : path}</option>)}
          </select></label>
          {rules.length > 0 && (
            <label>Rule <select value="" onChange={(event) => {
              const chosen = rules[Number(event.currentTarget.value)];
              if (chosen === undefined) return;
              setPlace(chosen.path);
              setExpression(chosen.rule);
            }}>
              <option value="">Choose one…</option>
              {rules.map(({ path, rule }, index) => <option key={`${path} ${rule}`} value={index}>{`${path}: ${rule}`.slice(0, 80)}</option>)}
            </select></label>
          )}
        </div>
        <label>Expression <textarea rows={2} spellcheck={false} value={expression} onInput={(event) => setExpression(event.currentTarget.value)} /></label>
        <div class="bar"><span class="buttons">
          {rules.length > 0 && <button type="button" onClick={runRules}>Run all rules</button>}
          <button class="primary" disabled={expression.trim() === ''}>Evaluate</button>
        </span></div>
      </form>
      <div role="status" aria-label="Result">{outcome !== undefined && <Shown outcome={outcome} />}</div>
    </section>
  );
}

function Shown({ outcome }: { readonly outcome: Outcome }): JSX.Element {
  if (outcome.type === 'problem') return <Notice tone="warn"><pre class="rule">{outcome.message}</pre></Notice>;
  if (outcome.type === 'rules') {
    return outcome.failures.length === 0 ? <p class="good">All rules hold.</p>
      : <ul class="tree">{outcome.failures.map((failure) => <li key={failure} class="bad">{failure}</li>)}</ul>;
  }
  if (outcome.places.length === 0) return <p class="hint">The object has no value there.</p>;
  return (
    <ul class="tree">
      {outcome.places.map(({ place, text, isProblem, cost }) => (
        <li key={place}><code>{place}</code> <span class="hint">cost {cost}</span><pre class={isProblem ? 'rule bad' : 'rule'}>{text}</pre></li>
      ))}
    </ul>
  );
}
