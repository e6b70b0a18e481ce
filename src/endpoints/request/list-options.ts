// The options of a collection request, checked in upstream's order: numbers, the grammar of selectors, rules between options, fields that may be
// selected by, the name of old watch paths.
import { badRequest, type FieldRequirement, parseFieldSelector, parseLabelSelector } from '../../apimachinery/index.ts';
import { buildPredicate, type Predicate } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import { defaultListQuery, type ListQuery, parseListQuery, validateListQuery } from './options.ts';

/** The options of a collection request, and the predicate of their selectors. */
export interface CollectionOptions extends ListQuery {
  readonly predicate: Predicate;
}

/** The name in an old watch path acts as a field selector, which must not contradict the one in the query. */
function checkName(fields: readonly FieldRequirement[], name: string): void {
  const isExact = fields.some(({ field, operator, value }) => field === 'metadata.name' && operator === '=' && value === name);
  if (fields.length > 0 && !isExact) throw badRequest("fieldSelector metadata.name doesn't match requested name");
}

/** Reads and validates the options of a collection request. */
export function readCollectionOptions({ exchange, resource, target, name }: ResourceRequest, isForDeletion = false): CollectionOptions {
  const query = parseListQuery(exchange.query);
  // Deletes never watch, even with `watch=true`.
  const options = isForDeletion ? { ...query, watch: false } : defaultListQuery(query);
  const labels = options.labelSelector === '' ? undefined : parseLabelSelector(options.labelSelector);
  const given = options.fieldSelector === '' ? [] : parseFieldSelector(options.fieldSelector).requirements;
  validateListQuery(options);
  const ofName: FieldRequirement = { field: 'metadata.name', operator: '=', value: name };
  const fields = name === '' || given.length > 0 ? given : [ofName];
  const predicate = buildPredicate(resource, { version: target.version, labels, fields });
  if (name !== '') checkName(given, name);
  return { predicate, ...options };
}
