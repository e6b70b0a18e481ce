// What a text has that its schema does not allow: unknown fields, wrong types, choices and bounds, fields that are missing. The server has the last word.
import { type Document, type Node, type YAMLMap, isAlias, isMap, isScalar, isSeq } from 'yaml';
import { type Schema, describeType, typesOf } from '../model/index.ts';

/** One of them, and where. */
export interface SchemaProblem {
  readonly message: string;
  readonly severity: 'error' | 'warning';
  /** Offsets of the text. */
  readonly from: number;
  readonly to: number;
}

const MOST = 100;

/** The problems of a document. */
export function checkSchema({ contents }: Document, schema: Schema): SchemaProblem[] {
  const problems: SchemaProblem[] = [];
  if (contents !== null) checkNode(contents, schema, { problems, at: contents });
  return problems;
}

interface Checking {
  readonly problems: SchemaProblem[];
  /** Where a problem of the value as a whole is marked. */
  readonly at: Node;
}

function complain({ problems, at }: Checking, message: string, severity: SchemaProblem['severity'] = 'error'): void {
  const [from = 0, to = 0] = at.range ?? [];
  if (problems.length < MOST) problems.push({ message, severity, from, to });
}

const isType: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string', boolean: (value) => typeof value === 'boolean', number: (value) => typeof value === 'number',
  integer: (value) => typeof value === 'number' && Number.isInteger(value), object: () => false, array: () => false,
};

function checkNode(node: Node, schema: Schema, checking: Checking): void {
  const types = typesOf(schema);
  const fits = (type: string): boolean => types.length === 0 || types.includes(type);
  if (isAlias(node)) return;
  if (isMap(node)) {
    if (fits('object')) checkMap(node, schema, checking);
    else complain(checking, `${describeType(schema)} is wanted, not an object`);
  } else if (isSeq(node)) {
    if (!fits('array')) return complain(checking, `${describeType(schema)} is wanted, not a list`);
    checkSize(node.items.length, schema, checking);
    for (const item of node.items as Node[]) checkNode(item, schema.items ?? {}, { ...checking, at: item });
  } else if (isScalar(node)) {
    const { value } = node;
    if (value === null) return undefined;
    if (types.length > 0 && !types.some((type) => isType[type]?.(value) === true)) return complain(checking, `${describeType(schema)} is wanted`);
    checkScalar(value, schema, checking);
  }
  return undefined;
}

function checkScalar(value: unknown, schema: Schema, at: Checking): void {
  const { enum: choices, minimum = -Infinity, maximum = Infinity, minLength = 0, maxLength = Infinity } = schema;
  if (choices !== undefined && !choices.includes(value)) complain(at, `one of ${choices.map((one) => JSON.stringify(one)).join(', ')} is wanted`);
  if (typeof value === 'number' && value < minimum) complain(at, `at least ${minimum} is wanted`);
  if (typeof value === 'number' && value > maximum) complain(at, `at most ${maximum} is wanted`);
  if (typeof value !== 'string') return;
  if (value.length < minLength) complain(at, `at least ${minLength} characters are wanted`);
  if (value.length > maxLength) complain(at, `at most ${maxLength} characters are wanted`);
}

function checkSize(count: number, { minItems = 0, maxItems = Infinity }: Schema, at: Checking): void {
  if (count < minItems) complain(at, `at least ${minItems} items are wanted`);
  if (count > maxItems) complain(at, `at most ${maxItems} items are wanted`);
}

function checkMap(map: YAMLMap, schema: Schema, checking: Checking): void {
  const { properties = {}, additionalProperties, required = [] } = schema;
  const isOpen = schema['x-kubernetes-preserve-unknown-fields'] === true || additionalProperties === true || schema.properties === undefined;
  const names = new Set<string>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : '';
    names.add(name);
    const known = Object.hasOwn(properties, name) ? properties[name] : typeof additionalProperties === 'object' ? additionalProperties : undefined;
    const at = { ...checking, at: key as Node };
    if (known === undefined && !isOpen) complain(at, `the field ${name} is unknown here`, 'warning');
    if (known !== undefined && value !== null) checkNode(value as Node, known, isScalar(value) && value.value !== null ? { ...checking, at: value } : at);
  }
  for (const name of required) if (!names.has(name)) complain(checking, `the field ${name} is missing`, 'warning');
}
