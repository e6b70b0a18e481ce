// Validation of where a pod may run: node selectors, affinities, tolerations, spread.
import {
  type FieldError, checkLabelValue, checkQualifiedName, duplicate, forbiddenField, invalidValue, notSupported, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toText } from '../columns/common.ts';
import { type Errors, type Place, at, checkNotNegative, checkOneOf, checkSelector, checkText, each } from './check.ts';

const isGiven = ({ value }: Place): boolean => value !== undefined && value !== null;

/** Labels that nodes must have. */
export function checkNodeSelector({ path, value }: Place): Errors {
  return Object.entries(toObject(value)).sort(([a], [b]) => (a < b ? -1 : 1)).flatMap(([key, label]) => [
    ...checkText({ path, value: key }, checkQualifiedName), ...checkText({ path, value: label }, checkLabelValue),
  ]);
}

const operators: Readonly<Record<string, 'some' | 'none' | 'one'>> = { In: 'some', NotIn: 'some', Exists: 'none', DoesNotExist: 'none', Gt: 'one', Lt: 'one' };

function checkNodeRequirement(requirement: Place): Errors {
  const operator = at(requirement, 'operator');
  const values = at(requirement, 'values');
  const count = toList(values.value).length;
  const text = toText(operator.value);
  const wants = Object.hasOwn(operators, text) ? operators[text] : undefined;
  const errors: FieldError[] = [];
  if (wants === undefined) errors.push(invalidValue(operator.path, text, 'not a valid selector operator'));
  if (wants === 'some' && count === 0) errors.push(required(values.path, "must be specified when `operator` is 'In' or 'NotIn'"));
  if (wants === 'none' && count > 0) errors.push(forbiddenField(values.path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  if (wants === 'one' && count !== 1) errors.push(required(values.path, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  return [...errors, ...checkText(at(requirement, 'key'), checkQualifiedName)];
}

const checkTerm = (term: Place): Errors => each(at(term, 'matchExpressions')).flatMap(checkNodeRequirement);

function checkWeight(preferred: Place): Errors {
  const weight = at(preferred, 'weight');
  const number = toNumber(weight.value ?? 0);
  return number <= 0 || number > 100 ? [invalidValue(weight.path, number, 'must be in the range 1-100')] : [];
}

/** Validates the node affinity of a pod. */
function checkNodeAffinity(affinity: Place): Errors {
  const wanted = at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = at(wanted, 'nodeSelectorTerms');
  const isEmpty = isGiven(wanted) && toList(terms.value).length === 0;
  return [
    ...(isEmpty ? [required(terms.path, 'must have at least one node selector term')] : each(terms).flatMap(checkTerm)),
    ...each(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).flatMap((one) => [...checkWeight(one), ...checkTerm(at(one, 'preference'))]),
  ];
}

function checkPodTerm(term: Place): Errors {
  const key = at(term, 'topologyKey');
  const selectors = [at(term, 'labelSelector'), at(term, 'namespaceSelector')].filter(isGiven);
  return [
    ...selectors.flatMap(checkSelector), ...(toText(key.value) === '' ? [required(key.path, 'can not be empty')] : []), ...checkText(key, checkQualifiedName),
  ];
}

function checkPodAffinity(affinity: Place): Errors {
  return [
    ...each(at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution')).flatMap(checkPodTerm),
    ...each(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).flatMap((one) => [
      ...checkWeight(one), ...checkPodTerm(at(one, 'podAffinityTerm')),
    ]),
  ];
}

/** Validates the affinity of a pod. */
export function checkAffinity(affinity: Place): Errors {
  return [
    ...checkNodeAffinity(at(affinity, 'nodeAffinity')), ...checkPodAffinity(at(affinity, 'podAffinity')), ...checkPodAffinity(at(affinity, 'podAntiAffinity')),
  ];
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const everyKey = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

function checkToleration(toleration: Place): Errors {
  const [key, operator, effect] = [at(toleration, 'key'), at(toleration, 'operator'), at(toleration, 'effect')];
  const value = toText(readPath(toleration.value, 'value'));
  const kind = toText(operator.value);
  const errors: FieldError[] = toText(key.value) === '' ? [] : [...checkText(key, checkQualifiedName)];
  if (toText(key.value) === '' && kind !== 'Exists') errors.push(invalidValue(operator.path, kind, everyKey));
  if (isGiven(at(toleration, 'tolerationSeconds')) && effect.value !== 'NoExecute') {
    errors.push(invalidValue(effect.path, toText(effect.value), "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (kind === '' || kind === 'Equal') {
    const problems = checkLabelValue(value);
    if (problems.length > 0) errors.push(invalidValue(operator.path, value, problems.join(';')));
  } else if (kind !== 'Exists') errors.push(notSupported(operator.path, kind, ['Equal', 'Exists'], true));
  else if (value !== '') errors.push(invalidValue(operator.path, value, "value must be empty when `operator` is 'Exists'"));
  return toText(effect.value) === '' ? errors : [...errors, ...checkOneOf(effect, effects, true)];
}

/** Validates the tolerations of a pod. */
export const checkTolerations = (list: Place): Errors => each(list).flatMap(checkToleration);

/** Validates the spread constraints of a pod. */
export function checkSpread(list: Place): Errors {
  const known = new Set<string>();
  return each(list).flatMap((constraint): Errors => {
    const [skew, key, action] = [at(constraint, 'maxSkew'), at(constraint, 'topologyKey'), at(constraint, 'whenUnsatisfiable')];
    const id = `{${toText(key.value)}, ${toText(action.value)}}`;
    const selector = at(constraint, 'labelSelector');
    const errors: FieldError[] = toNumber(skew.value ?? 0) <= 0 ? [invalidValue(skew.path, skew.value ?? 0, 'must be greater than zero')] : [];
    errors.push(...(toText(key.value) === '' ? [required(key.path, 'can not be empty')] : checkText(key, checkQualifiedName)));
    errors.push(...checkOneOf(action, ['DoNotSchedule', 'ScheduleAnyway']));
    if (known.has(id)) errors.push(duplicate(`${constraint.path}.{topologyKey, whenUnsatisfiable}`, id));
    known.add(id);
    return [...errors, ...checkNotNegative(at(constraint, 'minDomains')), ...(isGiven(selector) ? checkSelector(selector) : [])];
  });
}
