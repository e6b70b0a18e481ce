// core/v1 ResourceQuota: names of resources that can be counted, and the scopes that each may have.
import { type FieldError, type KubeObject, compareQuantities, invalidTyped, invalidValue, parseQuantity, required } from '../../apimachinery/index.ts';
import type { Column } from '../../registry/index.ts';
import { column, textOr, withNameAndAge } from '../common/columns/columns.ts';
import { readPointer, roundResources } from '../common/defaults.ts';
import { status } from '../common/subresources.ts';
import { type Errors, type Field, at } from '../common/validation/check.ts';
import { checkNatural, checkWhole, entriesOf } from '../common/validation/quantities.ts';
import { checkResourceName, computeNames, countNames, isStandardName } from '../common/validation/resource-names.ts';
import { readPath, toList, toObject, toObjects, toText } from '../common/values.ts';
import { type KindWarnings, type Warn, warnWith } from '../common/warnings/warnings.ts';
import type { KindSpec } from '../kind-spec.ts';
import { isExtendedName } from './pods/validation/resources.ts';

/** `name: used/hard` of the resources that are limits, or of the others, by name. */
function formatQuota(object: KubeObject, limits: boolean): string {
  const hard = toObject(readPath(object, 'status', 'hard'));
  const used = toObject(readPath(object, 'status', 'used'));
  const names = Object.keys(hard).filter((name) => name.startsWith('limits.') === limits).sort();
  return names.map((name) => `${name}: ${textOr(used[name], '0')}/${toText(hard[name])}`).join(', ');
}

/** Columns of resourcequotas. */
const resourceQuotaColumns: readonly Column[] = withNameAndAge(
  column('Request', (object) => formatQuota(object, false)),
  column('Limit', (object) => formatQuota(object, true)),
);

/** Defaults of resourcequotas. */
function applyResourceQuotaDefaults(quota: KubeObject): void {
  roundResources(readPointer(quota, 'spec'), 'hard');
  roundResources(readPointer(quota, 'status'), 'hard', 'used');
}

const isQuotaName = (name: string): boolean => isStandardName(name) && name !== 'storage';

/** The name of a resource of a quota. */
function checkQuotaName(path: string, name: string): Errors {
  const errors = checkResourceName(path, name);
  return name.includes('/') || isQuotaName(name) ? errors : [...errors, invalidTyped(path, name, 'must be a standard resource for quota')];
}

const isInteger = (name: string): boolean => countNames.includes(name) || isExtendedName(name);

function checkHard(list: Field): Errors {
  return entriesOf(list).flatMap((entry) => [
    ...checkQuotaName(entry.path, entry.name), ...checkNatural(entry), ...(isInteger(entry.name) ? checkWhole(entry) : []),
  ]);
}

const VOLUME_SCOPE = 'VolumeAttributesClass';
const podScopes = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'];
const isScope = (scope: string): boolean => scope === 'BestEffort' || scope === VOLUME_SCOPE || podScopes.includes(scope);
const conflictingScopes = [['BestEffort', 'NotBestEffort'], ['Terminating', 'NotTerminating']];

function coversResource(scope: string, name: string): boolean {
  if (scope === 'BestEffort') return name === 'pods';
  if (scope === VOLUME_SCOPE) return name === 'persistentvolumeclaims' || name === 'requests.storage';
  return name === 'pods' || computeNames.includes(name);
}

/** Errors of a resource repeat all scopes, up to this many characters. Quotas stay far below this. */
const MOST_SHOWN = 4 * 1024 * 1024;

const roomFor = (shown: unknown): number => Math.ceil(MOST_SHOWN / JSON.stringify(shown).length);

function checkScopes(quota: Field): Errors {
  const place = at(quota, 'scopes');
  const scopes = toList(place.value).map(toText);
  const names = entriesOf(at(quota, 'hard')).map(({ name }) => name).filter(isQuotaName);
  const errors: FieldError[] = [];
  let room = roomFor(scopes);
  const report = (text: string): void => {
    if (room-- > 0) errors.push(invalidValue(place.path, scopes, text));
  };
  for (const scope of scopes) {
    if (room <= 0) break;
    if (!isScope(scope)) report('unsupported scope');
    else for (const name of names) if (!coversResource(scope, name)) report('unsupported scope applied to resource');
  }
  for (const pair of conflictingScopes) {
    if (pair.every((scope) => scopes.includes(scope))) errors.push(invalidValue(place.path, scopes, 'conflicting scopes'));
  }
  return errors;
}

const existsOnly = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];

const EXISTS_TEXT = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
  + 'ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';

function checkScopeOperator(list: Field, { scope, operator, values }: { readonly scope: string; readonly operator: string; readonly values: unknown }): Errors {
  const [operatorPath, valuesPath] = [`${list.path}.operator`, `${list.path}.values`];
  const count = toList(values).length;
  const errors: FieldError[] = existsOnly.includes(scope) && operator !== 'Exists' ? [invalidValue(operatorPath, operator, EXISTS_TEXT)] : [];
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) errors.push(required(valuesPath, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) errors.push(invalidValue(valuesPath, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
  } else errors.push(invalidTyped(operatorPath, toText(operator), 'not a valid selector operator'));
  return errors;
}

/** Validates scopeSelector; its paths have no indexes. */
function checkScopeSelector(quota: Field): Errors {
  const selector = at(quota, 'scopeSelector');
  const list = at(selector, 'matchExpressions');
  const names = entriesOf(at(quota, 'hard')).map(({ name }) => name).filter(isQuotaName);
  const wanted = toObjects(list.value).map(({ scopeName, operator, values }) => ({ scope: toText(scopeName), operator: toText(operator), values }));
  const shown = { MatchExpressions: wanted.map(({ scope, operator, values }) => ({ ScopeName: scope, Operator: operator, Values: values ?? null })) };
  let room = roomFor(shown);
  const errors = wanted.flatMap((one): FieldError[] => [
    ...(isScope(one.scope) ? [] : [invalidValue(`${list.path}.scopeName`, one.scope, 'unsupported scope')]),
    ...(isScope(one.scope) && room > 0 ? names : []).filter((name) => !coversResource(one.scope, name) && room-- > 0)
      .map(() => invalidValue(list.path, shown, 'unsupported scope applied to resource')),
    ...checkScopeOperator(list, one),
  ]);
  const isConflict = conflictingScopes.filter((pair) => pair.every((scope) => wanted.some((one) => one.scope === scope)));
  return [...errors, ...isConflict.map(() => invalidValue(list.path, at(quota, 'scopes').value ?? null, 'conflicting scopes'))];
}

/** Validates resourcequotas. */
function validateResourceQuota(quota: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: quota['spec'] };
  return [...checkHard(at(spec, 'hard')), ...checkScopes(spec), ...checkScopeSelector(spec)];
}

/** Validates updates of resourcequotas: the scopes stay, in any order. */
function validateResourceQuotaUpdate(quota: KubeObject, old: KubeObject): Errors {
  const scopes = at({ path: 'spec', value: quota['spec'] }, 'scopes');
  const [now, before] = [scopes.value, readPath(old, 'spec', 'scopes')].map((list) => new Set(toList(list).map(toText))) as [Set<string>, Set<string>];
  const isKept = now.size === before.size && [...now].every((scope) => before.has(scope));
  return [...validateResourceQuota(quota), ...(isKept ? [] : [invalidValue(scopes.path, scopes.value ?? null, 'field is immutable')])];
}

/** Validates what the status path of resourcequotas writes. */
function validateResourceQuotaStatus(quota: KubeObject): Errors {
  const status: Field = { path: 'status', value: quota['status'] };
  return [...checkHard(at(status, 'hard')), ...checkHard(at(status, 'used'))];
}

/** Warnings of new objects alone. */
const onCreate = (warn: Warn): KindWarnings => warnWith((root, old) => (old === undefined ? warn(root) : []));

/** Warns of quotas whose request exceeds the limit. */
function warnOfQuota(root: Field): readonly string[] {
  const hard = toObject(readPath(root.value, 'spec', 'hard'));
  const has = (name: string): boolean => typeof hard[name] === 'string';
  return ['cpu', 'memory', 'storage', 'ephemeral-storage'].flatMap((name) => {
    const isShort = !has(`requests.${name}`) && (name === 'cpu' || name === 'memory');
    const [request, limit] = [isShort ? name : `requests.${name}`, `limits.${name}`];
    if (!has(request) || !has(limit)) return [];
    const [asked, used] = [toText(hard[request]), toText(hard[limit])];
    if (compareQuantities(parseQuantity(asked), parseQuantity(used)) <= 0) return [];
    return [`ResourceQuota ${request} (${asked}) should be less than ${limit} (${used})`];
  });
}

/** The spec of ResourceQuota. */
export const resourceQuotaKind: KindSpec = {
  kind: 'ResourceQuota', plural: 'resourcequotas', shortNames: ['quota'],
  returnsDeleted: true,
  subresources: [status],
  metadataChecks: ['update', 'kind'],
  columns: resourceQuotaColumns,
  applyDefaults: applyResourceQuotaDefaults,
  validation: { object: validateResourceQuota, update: validateResourceQuotaUpdate, status: validateResourceQuotaStatus },
  warnings: onCreate(warnOfQuota),
};
