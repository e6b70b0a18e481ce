// The options of a collection request, checked in upstream's order: numbers, the grammar of selectors, rules between options, fields that may be
// selected by, the name of old watch paths.
import {
  badRequest, failure, type FieldRequirement, parseFieldSelectorSteps, parseLabelSelectorSteps, parseShardSelector, type ShardSelector, ShardSelectorError,
} from '../../apimachinery/index.ts';
import { type Steps, createTimeSlice, finishSteps, runStepsInSlices } from '../../base/index.ts';
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

/** Selectors of so many characters are read in turns of at most so many milliseconds. */
const LONG_SELECTOR = 32_768;
const TURN_MS = 8;

/** Reads and validates the options of a collection request. */
export async function readCollectionOptions(request: ResourceRequest, isForDeletion = false): Promise<CollectionOptions> {
  const query = parseListQuery(request.exchange.query, request.dependencies.readsShards);
  // Deletes never watch, even with `watch=true`.
  const options = isForDeletion ? { ...query, watch: false } : defaultListQuery(query);
  const steps = readSelectors(request, options);
  if (options.labelSelector.length + options.fieldSelector.length + options.shardSelector.length < LONG_SELECTOR) return finishSteps(steps);
  return runStepsInSlices(steps, createTimeSlice(request.exchange.clock, TURN_MS));
}

function* readSelectors({ resource, target, name }: ResourceRequest, options: ListQuery): Steps<CollectionOptions> {
  const labels = options.labelSelector === '' ? undefined : yield* parseLabelSelectorSteps(options.labelSelector);
  const given = options.fieldSelector === '' ? [] : (yield* parseFieldSelectorSteps(options.fieldSelector)).requirements;
  yield;
  validateListQuery(options);
  const ofName: FieldRequirement = { field: 'metadata.name', operator: '=', value: name };
  const fields = name === '' || given.length > 0 ? given : [ofName];
  const shard = options.shardSelector === '' ? undefined : readShard(options.shardSelector);
  const predicate = buildPredicate(resource, { version: target.version, labels, fields, shard });
  if (name !== '') checkName(given, name);
  return { predicate, ...options };
}

/** Upstream finds bad shards inside of its store, so that they are no bad request there. */
function readShard(text: string): ShardSelector {
  try {
    return parseShardSelector(text);
  } catch (error) {
    throw error instanceof ShardSelectorError ? failure(500, '', `invalid shard selector: ${error.message}`) : error;
  }
}
