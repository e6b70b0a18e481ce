// What list and delete options may say, and resource versions as text: upstream's ValidateListOptions, ValidateDeleteOptions and
// the versioner's parsing, in the reference's words. Reads answer a malformed version differently: a list with 400, get and watch with 500.
import { readInteger, uint64Range } from '../base/index.ts';
import { type FieldError, type StatusError, badRequest, failure, forbiddenField, invalid, invalidValue, notSupported } from '../apimachinery/index.ts';
import type { DeleteOptions, ListOptions } from './contract.ts';

const MATCH_PATH = 'resourceVersionMatch';

/** The errors of list options that contradict each other. */
export function listProblems(options: Pick<ListOptions, 'resourceVersion' | 'resourceVersionMatch' | 'continue'>): FieldError[] {
  const errors: FieldError[] = [];
  const match = options.resourceVersionMatch ?? '';
  if (match === '') return errors;
  if (!options.resourceVersion) errors.push(forbiddenField(MATCH_PATH, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (options.continue) errors.push(forbiddenField(MATCH_PATH, 'resourceVersionMatch is forbidden when continue is provided'));
  if (match !== 'Exact' && match !== 'NotOlderThan') errors.push(notSupported(MATCH_PATH, match, ['Exact', 'NotOlderThan', ''], true));
  if (match === 'Exact' && options.resourceVersion === '0') {
    errors.push(forbiddenField(MATCH_PATH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  return errors;
}

const policies = ['Foreground', 'Background', 'Orphan'];
/** As the reference lists them. */
const shownPolicies = [...policies, 'nil'];

/** The errors of a deletion policy: one that is unknown, or is set beside the older option for the same. */
export function deleteProblems({ propagationPolicy: policy, orphanDependents }: DeleteOptions): FieldError[] {
  const errors: FieldError[] = [];
  if (policy === undefined) return errors;
  if (orphanDependents !== undefined) {
    errors.push(invalidValue('propagationPolicy', policy, 'orphanDependents and deletionPropagation cannot be both set'));
  }
  if (!policies.includes(policy)) errors.push(notSupported('propagationPolicy', policy, shownPolicies, true));
  return errors;
}

/** Throws the 422 of options with errors. */
export function refuseOptions(kind: `${'List' | 'Create' | 'Update' | 'Patch' | 'Delete'}Options`, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors);
}

/** The problem of a text that is no resource version, as strconv.ParseUint words it; undefined for good ones. */
export function resourceVersionProblem(text: string): string | undefined {
  const version = /^[+-]/.test(text) ? 'invalid syntax' : readInteger(text, uint64Range);
  return typeof version === 'string' ? `strconv.ParseUint: parsing ${JSON.stringify(text)}: ${version}` : undefined;
}

/** 400 for lists. */
export const listVersionError = (message: string): StatusError => badRequest(`invalid resource version: ${message}`);

/** The reference answers get and watch, and writes, with a bare 500. */
export const plainError = (message: string): StatusError => failure(500, '', message);

/** Reads a resource version: undefined for '' and absent; throws what `refuse` makes of the reference's text. */
export function parseResourceVersion(text: string | undefined, refuse: (message: string) => StatusError): number | undefined {
  if (text === undefined || text === '') return undefined;
  const problem = resourceVersionProblem(text);
  if (problem !== undefined) throw refuse(`resourceVersion: Invalid value: ${JSON.stringify(text)}: ${problem}`);
  return Number(text);
}
