// The options of a collection request, checked in upstream's order: numbers, rules between options, selectors, the name of old watch paths.
import { badRequest } from '../apimachinery/index.ts';
import { buildPredicate, type Predicate } from '../registry/index.ts';
import type { Call } from './dependencies.ts';
import { defaultListQuery, type ListQuery, parseListQuery, validateListQuery } from './options.ts';

/** Options with the predicate that their selectors make. */
export interface CollectionOptions extends ListQuery {
  readonly predicate: Predicate;
}

/** A name in the path of an old watch is a field selector that must not contradict the one given. */
function selectName(fieldSelector: string, name: string): string {
  if (fieldSelector === '') return `metadata.name=${name}`;
  const exact = fieldSelector.split(',').some((term) => term === `metadata.name=${name}` || term === `metadata.name==${name}`);
  if (!exact) throw badRequest("fieldSelector metadata.name doesn't match requested name");
  return fieldSelector;
}

/** Reads and validates the options of a collection request. */
export function readCollectionOptions({ exchange, resource, target, name }: Call): CollectionOptions {
  const options = defaultListQuery(parseListQuery(exchange.query));
  validateListQuery(options);
  const predicate = buildPredicate(resource, {
    version: target.version, labelSelector: options.labelSelector, fieldSelector: name === '' ? options.fieldSelector : selectName(options.fieldSelector, name),
  });
  return { ...options, predicate };
}
