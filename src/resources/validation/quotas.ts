// Validation of resourcequotas: names of resources that can be counted, and scopes that they have.
import { type FieldError, type KubeObject, invalidValue, required } from '../../apimachinery/index.ts';
import { readPath, toList, toObjects, toText } from '../columns/common.ts';
import { type Errors, type Field, at } from './check.ts';
import { checkNatural, checkWhole, entriesOf } from './quantities.ts';
import { checkResourceName, computeNames, countNames, isStandardName } from './resource-names.ts';

const isQuotaName = (name: string): boolean => isStandardName(name) && name !== 'storage';

/** The name of a resource of a quota. */
function checkQuotaName(path: string, name: string): Errors {
  const errors = checkResourceName(path, name);
  return name.includes('/') || isQuotaName(name) ? errors : [...errors, invalidValue(path, name, 'must be a standard resource for quota')];
}

function checkHard(list: Field): Errors {
  return entriesOf(list).flatMap((entry) => [
    ...checkQuotaName(entry.path, entry.name), ...checkNatural(entry), ...(countNames.includes(entry.name) ? checkWhole(entry) : []),
  ]);
}

const isScope = (scope: string): boolean => scope === 'BestEffort' || scope === volumeScope || podScopes.includes(scope);
const conflictingScopes = [['BestEffort', 'NotBestEffort'], ['Terminating', 'NotTerminating']];
const podScopes = ['Terminating', 'NotTerminating', 'NotBestEffort', 'PriorityClass', 'CrossNamespacePodAffinity'];
const volumeScope = 'VolumeAttributesClass';

function coversResource(scope: string, name: string): boolean {
  if (scope === 'BestEffort') return name === 'pods';
  if (scope === volumeScope) return name === 'persistentvolumeclaims' || name === 'requests.storage';
  return name === 'pods' || computeNames.includes(name);
}

/** What is wrong with a resource is told with all scopes: so many characters of them at most, which no quota that is meant comes near. */
const mostShown = 4 * 1024 * 1024;
const roomFor = (shown: unknown): number => Math.ceil(mostShown / JSON.stringify(shown).length);

function checkScopes(quota: Field): Errors {
  const place = at(quota, 'scopes');
  const scopes = toList(place.value).map(toText);
  const names = entriesOf(at(quota, 'hard')).map(({ name }) => name).filter(isQuotaName);
  const errors: FieldError[] = [];
  let room = roomFor(scopes);
  const tell = (text: string): void => {
    if (room-- > 0) errors.push(invalidValue(place.path, scopes, text));
  };
  for (const scope of scopes) {
    if (room <= 0) break;
    if (!isScope(scope)) tell('unsupported scope');
    else for (const name of names) if (!coversResource(scope, name)) tell('unsupported scope applied to resource');
  }
  for (const pair of conflictingScopes) {
    if (pair.every((scope) => scopes.includes(scope))) errors.push(invalidValue(place.path, scopes, 'conflicting scopes'));
  }
  return errors;
}

const existsOnly = ['BestEffort', 'NotBestEffort', 'Terminating', 'NotTerminating', 'CrossNamespacePodAffinity'];
const existsText = "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
  + 'ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity';

function checkScopeOperator(list: Field, { scope, operator, values }: { readonly scope: string; readonly operator: string; readonly values: unknown }): Errors {
  const [operatorPath, valuesPath] = [`${list.path}.operator`, `${list.path}.values`];
  const count = toList(values).length;
  const errors: FieldError[] = existsOnly.includes(scope) && operator !== 'Exists' ? [invalidValue(operatorPath, operator, existsText)] : [];
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) errors.push(required(valuesPath, "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) errors.push(invalidValue(valuesPath, values, "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"));
  } else errors.push(invalidValue(operatorPath, operator, 'not a valid selector operator'));
  return errors;
}

/** Scopes that are selected; their paths have no indexes. */
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
export function validateResourceQuota(quota: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: quota['spec'] };
  return [...checkHard(at(spec, 'hard')), ...checkScopes(spec), ...checkScopeSelector(spec)];
}

/** Validates updates of resourcequotas: the scopes stay, in any order. */
export function validateResourceQuotaUpdate(quota: KubeObject, old: KubeObject): Errors {
  const scopes = at({ path: 'spec', value: quota['spec'] }, 'scopes');
  const [now, before] = [scopes.value, readPath(old, 'spec', 'scopes')].map((list) => new Set(toList(list).map(toText))) as [Set<string>, Set<string>];
  const isKept = now.size === before.size && [...now].every((scope) => before.has(scope));
  return [...validateResourceQuota(quota), ...(isKept ? [] : [invalidValue(scopes.path, scopes.value ?? null, 'field is immutable')])];
}

/** Validates what the status path of resourcequotas writes. */
export function validateResourceQuotaStatus(quota: KubeObject): Errors {
  const status: Field = { path: 'status', value: quota['status'] };
  return [...checkHard(at(status, 'hard')), ...checkHard(at(status, 'used'))];
}
