// The list of a kind: the columns of the server's Table, live, filtered by the server (labels, fields) and by text.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type Arrangement, type Column, type Kind, type Row, apiVersionOf, createRoute, formatAge, formatCount, listRoute, measureColumns, objectRoute,
} from '../../model/index.ts';
import { Grid, type GridColumn, Icon, Notice, StatusWord, openRoute, useKey, useMedia, useNow } from '../../ui/index.ts';
import { type ListState, useList } from './use-list.ts';

interface ListViewProps {
  readonly kind: Kind;
  readonly query: ReadonlyMap<string, string>;
}

const NAMESPACE_COLUMN = -2;
const statusColumn = /status|phase|state|ready|available|established|synced|healthy|condition/i;
const NARROW_COLUMNS = 3;

/** How much room there is, and for what. */
interface Layout {
  readonly showsNamespace: boolean;
  readonly isNarrow: boolean;
  readonly isWide: boolean;
}

/** Widths are measured once enough rows are there, so that columns keep their place. */
function useColumns({ model }: ListState, { showsNamespace, isNarrow, isWide }: Layout): GridColumn[] {
  const sampled = Math.min(model.rows.length, 1);
  return useMemo(() => {
    const widths = measureColumns(model.columns, model.rows);
    const make = ({ name, description }: Column, id: number): GridColumn => ({ id, title: name, hint: description, width: widths[id] ?? 8 });
    const own = model.columns.map((column, id) => ({ column: make(column, id), priority: column.priority }))
      .filter(({ priority }) => isWide || priority === 0).map(({ column }) => column);
    const longest = model.rows.slice(0, 60).reduce((most, { namespace }) => Math.max(most, namespace.length), 9);
    const namespace = { id: NAMESPACE_COLUMN, title: 'Namespace', hint: 'Namespace of the object', width: longest };
    const [name, ...others] = own;
    const kept = isNarrow ? others.filter(({ title }) => statusColumn.test(title) || title === 'Age').slice(0, NARROW_COLUMNS - 1) : others;
    return [...(showsNamespace && !isNarrow ? [namespace] : []), ...(name === undefined ? [] : [name]), ...kept];
  }, [model.columns, sampled, showsNamespace, isNarrow, isWide]);
}

function readArrangement(query: ReadonlyMap<string, string>): Arrangement {
  const sort = /^(-?)(\d+|n)$/.exec(query.get('sort') ?? '');
  const column = sort === null ? -1 : sort[2] === 'n' ? NAMESPACE_COLUMN : Number(sort[2]);
  return { column, isDescending: sort?.[1] === '-', text: (query.get('q') ?? '').toLowerCase() };
}

/** The view of a list. */
export function ListView({ kind, query }: ListViewProps): JSX.Element {
  const [isNarrow, isWide] = [useMedia('(max-width: 640px)'), useMedia('(min-width: 1500px)')];
  const namespace = kind.namespaced ? query.get('namespace') ?? '' : '';
  const arrangement = readArrangement(query);
  const request = { kind, namespace, labels: query.get('labels') ?? '', fields: query.get('fields') ?? '', at: query.get('at') ?? '' };
  const state = useList(request, arrangement);
  const { model, phase, error } = state;
  const now = useNow();
  const showsNamespace = kind.namespaced && namespace === '';
  const columns = useColumns(state, { showsNamespace, isNarrow, isWide });
  const change = (next: Readonly<Record<string, string>>): void =>
    openRoute(listRoute(kind, { ...Object.fromEntries(query), ...next }), { replace: true });
  const onSort = (column: number): void => {
    const isSame = arrangement.column === column || (arrangement.column === -1 && column === 0);
    change({ sort: `${isSame && !arrangement.isDescending ? '-' : ''}${column === NAMESPACE_COLUMN ? 'n' : column}` });
  };
  const renderCell = (row: Row, { id }: GridColumn): ComponentChildren => {
    if (id === NAMESPACE_COLUMN) return row.namespace;
    if (id === 0) return <a href={objectRoute(kind, row)} tabIndex={-1}>{row.name}</a>;
    if (id === model.ageColumn) return formatAge(row.created, now);
    const cell = row.cells[id];
    const text = cell === null || cell === undefined ? '' : typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
    return statusColumn.test(model.columns[id]?.name ?? '') ? <StatusWord text={text} /> : <span title={text.length > 24 ? text : ''}>{text}</span>;
  };
  return (
    <div class="list">
      <ListHead kind={kind} state={state} />
      {request.at !== '' && (
        <Notice tone="plain">As it was at revision {request.at}. <button type="button" onClick={() => change({ at: '' })}>Show it as it is now</button></Notice>
      )}
      <Filters key={`${kind.group}/${kind.plural}`} query={query} onChange={change} />
      {error !== undefined && <Notice tone={phase === 'waiting' ? 'warn' : 'bad'}>{error.message}{phase === 'waiting' && ' — trying again'}</Notice>}
      {phase !== 'refused' && (
        <Grid label={kind.kind} columns={columns} rows={model.rows} keyOf={({ key }) => key} classOf={({ isEnding }) => (isEnding ? 'ending' : '')}
          renderCell={renderCell} onOpen={(row) => openRoute(objectRoute(kind, row))} onSort={onSort}
          sort={{ column: arrangement.column === -1 ? 0 : arrangement.column, isDescending: arrangement.isDescending }} />
      )}
      {phase === 'live' && model.rows.length === 0 && <p class="empty">{model.size === 0 ? 'There are none.' : 'The filter leaves none.'}</p>}
    </div>
  );
}

const phases = { loading: 'loading', live: 'live', waiting: 'not connected', refused: 'refused' } as const;

function ListHead({ kind, state: { model, phase, remaining } }: { readonly kind: Kind; readonly state: ListState }): JSX.Element {
  const [shown, all] = [model.rows.length, model.size];
  const isLoading = phase === 'loading' && remaining > 0;
  const [some, whole] = isLoading ? [all, all + remaining] : [shown, all];
  const count = some === whole ? formatCount(all) : `${formatCount(some)} of ${formatCount(whole)}`;
  return (
    <div class="list-head">
      <h1>{kind.kind}</h1>
      <span class="hint">{apiVersionOf(kind)}</span>
      <span class="count" data-count={shown}>{count}</span>
      <span class={`live ${phase}`} role="status">{phases[phase]}</span>
      {kind.verbs.includes('create') && (
        <a class="button" href={createRoute(kind)}><Icon name="plus" />Create</a>
      )}
    </div>
  );
}

interface FiltersProps {
  readonly query: ReadonlyMap<string, string>;
  readonly onChange: (next: Readonly<Record<string, string>>) => void;
}

/** The text filters as one types; selectors are sent to the server when they are complete. */
function Filters({ query, onChange }: FiltersProps): JSX.Element {
  const text = useRef<HTMLInputElement>(null);
  useKey('/', (event) => {
    event.preventDefault();
    text.current?.focus();
  });
  const [labels, setLabels] = useState(query.get('labels') ?? '');
  const [fields, setFields] = useState(query.get('fields') ?? '');
  useEffect(() => setLabels(query.get('labels') ?? ''), [query.get('labels')]);
  useEffect(() => setFields(query.get('fields') ?? ''), [query.get('fields')]);
  const submit = (event: Event): void => {
    event.preventDefault();
    onChange({ labels: labels.trim(), fields: fields.trim() });
  };
  return (
    <form class="filters" role="search" onSubmit={submit}>
      <span class="field">
        <Icon name="search" />
        <input ref={text} aria-label="Filter by text" placeholder="Filter by text" spellcheck={false} value={query.get('q') ?? ''}
          onInput={(event) => onChange({ q: event.currentTarget.value })} />
      </span>
      <input aria-label="Label selector" placeholder="Labels: app=web,tier!=db" spellcheck={false} value={labels} onBlur={submit}
        onInput={(event) => setLabels(event.currentTarget.value)} />
      <input aria-label="Field selector" placeholder="Fields: metadata.name=web" spellcheck={false} value={fields} onBlur={submit}
        onInput={(event) => setFields(event.currentTarget.value)} />
      <button type="submit" class="visually-hidden">Apply</button>
    </form>
  );
}
