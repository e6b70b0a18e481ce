// A form for an object, made by its schema: required fields first, others when they are added, lists and maps by their members.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Schema, beginValue, describeBounds, describeType, findEntry, isShownAtFirst, listFields, readText } from '../../model/index.ts';

interface FieldProps {
  readonly name: string;
  readonly schema: Schema;
  readonly value: unknown;
  readonly steps: readonly string[];
  readonly isRequired: boolean;
  readonly onChange: (value: unknown) => void;
  /** Takes the field away; absent where it stays. */
  readonly onRemove?: (() => void) | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

const asFields = (value: unknown): Fields => (value instanceof Object && !Array.isArray(value) ? value as Fields : {});
const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const without = (fields: Fields, name: string): Fields => Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name));
const removeFrom = (name: string, onRemove: (() => void) | undefined): JSX.Element | false => onRemove !== undefined
  && <button type="button" class="quiet" aria-label={`Remove ${name}`} onClick={onRemove}>×</button>;

/** One field with everything below it. */
function Field(props: FieldProps): JSX.Element {
  const { name, schema, isRequired, onRemove } = props;
  const entry = findEntry(schema);
  const about = <span class="hint"> {describeType(schema)}{isRequired && ', required'}{describeBounds(schema).slice(0, 2).map((bound) => `, ${bound}`)}</span>;
  if (entry === 'object' || entry === 'map' || entry === 'list') {
    return (
      <fieldset>
        <legend>{name}{about}{removeFrom(name, onRemove)}</legend>
        {schema.description !== undefined && <p class="hint">{schema.description.slice(0, 300)}</p>}
        {entry === 'object' ? <ObjectFields {...props} /> : entry === 'map' ? <MapFields {...props} /> : <ListFields {...props} />}
      </fieldset>
    );
  }
  return (
    <div class="field">
      <label><span class="name">{name}{about}</span><Input {...props} /></label>
      {removeFrom(name, onRemove)}
    </div>
  );
}

function Input({ schema, value, isRequired, onChange }: FieldProps): JSX.Element {
  switch (findEntry(schema)) {
    case 'choice': return (
      <select value={String(value ?? '')} onChange={(event) => onChange(schema.enum?.find((one) => String(one) === event.currentTarget.value))}>
        {value === undefined && <option value="" />}
        {schema.enum?.map((one) => <option key={String(one)}>{String(one)}</option>)}
      </select>
    );
    case 'truth': return <input type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />;
    case 'number': return (
      <input type="number" required={isRequired} value={String(value ?? '')} step={schema.type === 'integer' ? 1 : 'any'}
        onInput={(event) => onChange(event.currentTarget.value === '' ? undefined : event.currentTarget.valueAsNumber)} />
    );
    case 'any': return <span class="hint">any value: the text has it</span>;
    default: return (
      <input required={isRequired} spellcheck={false} value={typeof value === 'string' || typeof value === 'number' ? String(value) : ''}
        onInput={(event) => onChange(readText(schema, event.currentTarget.value))} />
    );
  }
}

type PartProps = Pick<FieldProps, 'name' | 'schema' | 'value' | 'steps' | 'onChange'>;

function ObjectFields({ name: own, schema, value, steps, onChange }: PartProps): JSX.Element {
  const fields = asFields(value);
  const all = listFields(schema, steps);
  const isShown = (name: string): boolean => Object.hasOwn(fields, name) || isShownAtFirst(schema, name, steps);
  const change = (name: string, next: unknown): void => onChange(next === undefined ? without(fields, name) : { ...fields, [name]: next });
  const hidden = all.filter(([name]) => !isShown(name));
  return (
    <>
      {all.filter(([name]) => isShown(name)).map(([name, below]) => {
        const isKept = isShownAtFirst(schema, name, steps);
        return (
          <Field key={name} name={name} schema={below} value={fields[name]} steps={[...steps, name]} isRequired={schema.required?.includes(name) === true}
            onChange={(next) => change(name, next)} onRemove={isKept ? undefined : () => change(name, undefined)} />
        );
      })}
      {hidden.length > 0 && (
        <select aria-label={`Add a field${own === '' ? '' : ` of ${own}`}`} value="" onChange={(event) => {
          const name = event.currentTarget.value;
          const below = schema.properties?.[name];
          event.currentTarget.value = '';
          if (below !== undefined) change(name, beginValue(below));
        }}>
          <option value="">Add a field…</option>
          {hidden.map(([name]) => <option key={name}>{name}</option>)}
        </select>
      )}
    </>
  );
}

function ListFields({ name, schema, value, steps, onChange }: PartProps): JSX.Element {
  const items = asList(value);
  const member = schema.items ?? {};
  return (
    <>
      {items.map((item, index) => (
        <Field key={index} name={`${name} ${index + 1}`} schema={member} value={item} steps={[...steps, '[]']} isRequired={false}
          onChange={(next) => onChange(items.map((one, at) => (at === index ? next : one)))}
          onRemove={() => onChange(items.filter((_one, at) => at !== index))} />
      ))}
      <button type="button" onClick={() => onChange([...items, beginValue(member)])}>Add to {name}</button>
    </>
  );
}

function MapFields({ name, schema, value, steps, onChange }: PartProps): JSX.Element {
  const fields = asFields(value);
  const [key, setKey] = useState('');
  const below = schema.additionalProperties as Schema;
  const add = (): void => {
    onChange({ ...fields, [key]: beginValue(below) });
    setKey('');
  };
  return (
    <>
      {Object.entries(fields).map(([one, item]) => (
        <Field key={one} name={one} schema={below} value={item} steps={[...steps, one]} isRequired={false}
          onChange={(next) => onChange({ ...fields, [one]: next })} onRemove={() => onChange(without(fields, one))} />
      ))}
      <div class="field">
        <input aria-label={`New name in ${name}`} placeholder="Name" spellcheck={false} value={key} onInput={(event) => setKey(event.currentTarget.value)} />
        <button type="button" disabled={key === '' || Object.hasOwn(fields, key)} onClick={add}>Add to {name}</button>
      </div>
    </>
  );
}

interface SchemaFormProps {
  readonly schema: Schema;
  readonly value: object;
  readonly onChange: (value: object) => void;
}

/** The form. */
export const SchemaForm = ({ schema, value, onChange }: SchemaFormProps): JSX.Element => (
  <div class="form" role="group" aria-label="Form">
    <ObjectFields name="" schema={schema} value={value} steps={[]} onChange={(next) => onChange(next as object)} />
  </div>
);
