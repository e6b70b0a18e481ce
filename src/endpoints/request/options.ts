// The options of each verb, from the query (or, for deletes, the body): parsed as Go's conversions do, validated with the reference's texts.
import {
  badRequest, byteLength, type FieldError, forbiddenField, invalidValue, notSupported, notSupportedText, quoteGo, required, tooLong,
} from '../../apimachinery/index.ts';
import { int64Range, readInteger } from '../../base/index.ts';
import { type DeleteOptions, deleteProblems, listProblems, refuseOptions } from '../../registry/index.ts';
import { isTrue } from './request-info.ts';

/** ListOptions of a list, a watch or a deletecollection. */
export interface ListQuery {
  readonly labelSelector: string;
  readonly fieldSelector: string;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  readonly timeoutSeconds: number | undefined;
  readonly limit: number;
  readonly continue: string;
  readonly sendInitialEvents: boolean | undefined;
  /** '' unless the feature gate ShardedListAndWatch is on. */
  readonly shardSelector: string;
}

/** CreateOptions, UpdateOptions and PatchOptions of the query. */
export interface WriteQuery {
  readonly dryRun: readonly string[];
  readonly fieldManager: string;
  readonly fieldValidation: string;
  /** Patches only. */
  readonly force: boolean | undefined;
}

type WriteKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions';
type Level = 'Ignore' | 'Warn' | 'Strict';

const levels = ['', 'Ignore', 'Strict', 'Warn'];

/** An integer of the query as strconv.ParseInt reads it; undefined when absent. */
export function parseInteger(query: URLSearchParams, key: string): number | undefined {
  const text = query.get(key);
  if (text === null) return undefined;
  const value = readInteger(text, int64Range);
  if (typeof value === 'string') throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${value}`);
  return Number(value);
}

function parseBoolean(query: URLSearchParams, key: string): boolean | undefined {
  return query.has(key) ? isTrue(query.getAll(key)) : undefined;
}

/** Reads ListOptions; throws the 400 of a malformed number. */
export function parseListQuery(query: URLSearchParams, readsShards = false): ListQuery {
  const text = (key: string): string => query.get(key) ?? '';
  return {
    labelSelector: text('labelSelector'), fieldSelector: text('fieldSelector'), watch: parseBoolean(query, 'watch') ?? false,
    allowWatchBookmarks: parseBoolean(query, 'allowWatchBookmarks') ?? false, resourceVersion: text('resourceVersion'),
    resourceVersionMatch: text('resourceVersionMatch'), timeoutSeconds: parseInteger(query, 'timeoutSeconds'),
    limit: parseInteger(query, 'limit') ?? 0, continue: text('continue'), sendInitialEvents: parseBoolean(query, 'sendInitialEvents'),
    shardSelector: readsShards ? text('shardSelector') : '',
  };
}

/** A watch from "" or "0" without other options starts with the initial events, by upstream's WatchList defaults. */
export function defaultListQuery(options: ListQuery): ListQuery {
  if (options.sendInitialEvents !== undefined || options.resourceVersionMatch !== '' || !options.watch) return options;
  if (options.resourceVersion !== '' && options.resourceVersion !== '0') return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

const MATCH = 'resourceVersionMatch';

function listErrors(options: ListQuery): FieldError[] {
  const errors = listProblems(options);
  if (options.sendInitialEvents !== undefined) errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  return errors;
}

function watchErrors({ resourceVersionMatch: match, continue: token, sendInitialEvents }: ListQuery): FieldError[] {
  const errors: FieldError[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbiddenField(MATCH, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  }
  if (match === '') return errors;
  if (sendInitialEvents === undefined) {
    errors.push(forbiddenField(MATCH, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'));
  }
  if (match !== 'NotOlderThan') errors.push(notSupported(MATCH, match, ['NotOlderThan'], true));
  if (token !== '') errors.push(forbiddenField(MATCH, 'resourceVersionMatch is forbidden when continue is provided'));
  return errors;
}

/** Throws the 422 of options that contradict each other. */
export function validateListQuery(options: ListQuery): void {
  refuseOptions('ListOptions', options.watch ? watchErrors(options) : listErrors(options));
}

/** Reads the options of a write. */
export function parseWriteQuery(query: URLSearchParams): WriteQuery {
  return {
    dryRun: query.getAll('dryRun'), fieldManager: query.get('fieldManager') ?? '', fieldValidation: query.get('fieldValidation') ?? '',
    force: parseBoolean(query, 'force'),
  };
}

const MANAGER_MAX_BYTES = 128;
/** Managers are short and printable; the first other character is reported with its position in bytes. */
function managerErrors(manager: string): FieldError[] {
  if (byteLength(manager) > MANAGER_MAX_BYTES) return [tooLong('fieldManager', MANAGER_MAX_BYTES)];
  let at = 0;
  for (const char of manager) {
    if (!/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u.test(char)) {
      const code = (char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
      const message = `Invalid value: ${quoteGo(manager)}: invalid character U+${code} (at position ${at})`;
      return [{ reason: 'FieldValueInvalid', field: 'fieldManager', message }];
    }
    at += byteLength(char);
  }
  return [];
}

function dryRunErrors(dryRun: readonly string[]): FieldError[] {
  return dryRun.some((value) => value !== 'All') ? [notSupported('dryRun', dryRun, ['All'])] : [];
}

/** Throws the 422 of invalid options of a write; `apply` is true for a server-side apply. */
export function validateWriteQuery(kind: WriteKind, options: WriteQuery, apply = false): void {
  const errors: FieldError[] = [];
  if (kind === 'PatchOptions') {
    if (!apply && options.force !== undefined) errors.push(forbiddenField('force', 'may not be specified for non-apply patch'));
    if (apply && options.fieldManager === '') errors.push(required('fieldManager', 'is required for apply patch'));
  }
  errors.push(...managerErrors(options.fieldManager), ...dryRunErrors(options.dryRun));
  if (!levels.includes(options.fieldValidation)) errors.push(notSupportedText('fieldValidation', options.fieldValidation, levels, true));
  refuseOptions(kind, errors);
}

/** The `fieldValidation` of a write; Warn is the default. */
export function validationLevel(options: WriteQuery): Level {
  return options.fieldValidation === '' ? 'Warn' : (options.fieldValidation as Level);
}

/** DeleteOptions with the dry run, which only endpoints read. */
export interface DeleteQuery extends DeleteOptions {
  readonly dryRun: readonly string[];
}

/** Reads DeleteOptions from the query, which counts only when there is no body. */
export function parseDeleteQuery(query: URLSearchParams): DeleteQuery {
  const gracePeriodSeconds = parseInteger(query, 'gracePeriodSeconds');
  const orphanDependents = parseBoolean(query, 'orphanDependents');
  const propagationPolicy = query.get('propagationPolicy');
  const ignoreStoreReadErrorWithClusterBreakingPotential = parseBoolean(query, UNSAFE);
  // Empty ones are no preconditions.
  const uid = query.get('uid') || undefined;
  const resourceVersion = query.get('resourceVersion') || undefined;
  const preconditions = { ...(uid !== undefined && { uid }), ...(resourceVersion !== undefined && { resourceVersion }) };
  return {
    dryRun: query.getAll('dryRun'),
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }), ...(orphanDependents !== undefined && { orphanDependents }),
    ...(ignoreStoreReadErrorWithClusterBreakingPotential !== undefined && { ignoreStoreReadErrorWithClusterBreakingPotential }),
    ...(propagationPolicy !== null && { propagationPolicy }), ...(Object.keys(preconditions).length > 0 && { preconditions }),
  };
}

const UNSAFE = 'ignoreStoreReadErrorWithClusterBreakingPotential';

/** Options that need the object to be read exclude a deletion of unreadable objects. */
function unsafeErrors(options: DeleteQuery): FieldError[] {
  if (options[UNSAFE] !== true) return [];
  const fields = ['dryRun', 'propagationPolicy', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'] as const;
  const given = fields.filter((field) => options[field] !== undefined && (field !== 'dryRun' || options.dryRun.length > 0));
  return given.map((field) => invalidValue(UNSAFE, true, `cannot be set together with .${field}`));
}

/** Throws the 422 of DeleteOptions. */
export function validateDeleteOptions(options: DeleteQuery): void {
  refuseOptions('DeleteOptions', [...deleteProblems(options), ...dryRunErrors(options.dryRun), ...unsafeErrors(options)]);
}
