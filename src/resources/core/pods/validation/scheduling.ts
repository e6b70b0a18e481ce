// Validation of node selectors, affinity, tolerations and topology spread.
import {
  type FieldError, checkDnsLabel, checkDnsSubdomain, checkLabelValue, checkQualifiedName, duplicate, forbiddenField, invalidTyped, invalidValue,
  notSupported, quoteGo, required,
} from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isEmptyText, isGiven, isWrong } from '../../../common/validation/check.ts';
import { checkSelector } from '../../../common/validation/selectors.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../../common/values.ts';
import { COMPARISON_GATE } from '../gated-fields.ts';

const operators: Readonly<Record<string, 'some' | 'none' | 'one'>> = { In: 'some', NotIn: 'some', Exists: 'none', DoesNotExist: 'none', Gt: 'one', Lt: 'one' };

function checkNodeRequirement(requirement: Field, checksValues: boolean): Errors {
  const operator = at(requirement, 'operator');
  const values = at(requirement, 'values');
  const count = toList(values.value).length;
  const text = toText(operator.value);
  const wants = Object.hasOwn(operators, text) ? operators[text] : undefined;
  const errors: FieldError[] = [];
  if (wants === undefined) errors.push(invalidTyped(operator.path, text, 'not a valid selector operator'));
  if (wants === 'some' && count === 0) errors.push(required(values.path, "must be specified when `operator` is 'In' or 'NotIn'"));
  if (wants === 'none' && count > 0) errors.push(forbiddenField(values.path, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  if (wants === 'one' && count !== 1) errors.push(required(values.path, "must be specified single value when `operator` is 'Lt' or 'Gt'"));
  errors.push(...checkText(at(requirement, 'key'), checkQualifiedName));
  return checksValues ? [...errors, ...each(values).flatMap((value) => checkText(value, checkLabelValue))] : errors;
}

/** matchFields: the name of the node is the only field, with exactly one value. */
function checkNodeField(requirement: Field): Errors {
  const [key, operator, values] = [at(requirement, 'key'), at(requirement, 'operator'), at(requirement, 'values')];
  const isSet = operator.value === 'In' || operator.value === 'NotIn';
  const errors: FieldError[] = isSet ? [] : [invalidTyped(operator.path, toText(operator.value), 'not a valid selector operator')];
  if (isSet && toList(values.value).length !== 1) {
    errors.push(required(values.path, "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"));
  }
  if (key.value !== 'metadata.name') return [...errors, invalidValue(key.path, toText(key.value), 'not a valid field selector key')];
  return [...errors, ...each(values).flatMap((value) => checkText(value, checkDnsSubdomain))];
}

/** Validates a term of a node selector; preferred terms may have values that no label can have. */
function checkTerm(term: Field, checksValues: boolean): Errors {
  const expressions = each(at(term, 'matchExpressions'));
  return [...expressions.flatMap((expression) => checkNodeRequirement(expression, checksValues)), ...each(at(term, 'matchFields')).flatMap(checkNodeField)];
}

function checkWeight(preferred: Field): Errors {
  const weight = at(preferred, 'weight');
  const number = toNumber(weight.value ?? 0);
  return number <= 0 || number > 100 ? [invalidValue(weight.path, number, 'must be in the range 1-100')] : [];
}

/** Validates a selector of nodes. */
export function checkNodeSelector(selector: Field): Errors {
  const terms = at(selector, 'nodeSelectorTerms');
  if (!isGiven(selector)) return [];
  if (toList(terms.value).length === 0) return [required(terms.path, 'must have at least one node selector term')];
  return each(terms).flatMap((term) => checkTerm(term, true));
}

/** Validates the node affinity of a pod. */
function checkNodeAffinity(affinity: Field): Errors {
  return [
    ...checkNodeSelector(at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution')),
    ...each(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).flatMap((one) => [
      ...checkWeight(one), ...checkTerm(at(one, 'preference'), false),
    ]),
  ];
}

function checkLabelKeys(keys: Field, selector: Field): Errors {
  if (toList(keys.value).length === 0) return [];
  if (!isGiven(selector)) return [forbiddenField(keys.path, 'must not be specified when labelSelector is not set')];
  return each(keys).flatMap((key) => checkText(key, checkQualifiedName));
}

/** matchLabelKeys: the server adds their values to the selector, so the keys cannot be in it already. */
function checkMatchKeys(parent: Field): Errors {
  const [selector, matching, others] = [at(parent, 'labelSelector'), at(parent, 'matchLabelKeys'), at(parent, 'mismatchLabelKeys')];
  const seen = new Set(Object.keys(toObject(readPath(selector.value, 'matchLabels'))));
  const places = new Map(toList(matching.value).map((key, index) => [toText(key), index]));
  const mismatching = new Set(toList(others.value).map(toText));
  const repeated = toObjects(readPath(selector.value, 'matchExpressions')).flatMap((expression): Errors => {
    const key = toText(expression['key']);
    const index = places.get(key);
    const isRepeated = index !== undefined && seen.has(key);
    seen.add(key);
    return isRepeated ? [invalidValue(`${parent.path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector')] : [];
  });
  const shared = each(matching).filter(({ value }) => mismatching.has(toText(value)))
    .map((key) => isWrong(key, 'exists in both matchLabelKeys and mismatchLabelKeys'));
  return [...checkLabelKeys(matching, selector), ...checkLabelKeys(others, selector), ...(isGiven(selector) ? repeated : []), ...shared];
}

function checkPodTerm(term: Field): Errors {
  const key = at(term, 'topologyKey');
  const selectors = [at(term, 'labelSelector'), at(term, 'namespaceSelector')].filter(isGiven);
  const names = each(at(term, 'namespaces')).map(({ value }) => ({ path: `${term.path}.namespace`, value: toText(value) }));
  return [
    ...selectors.flatMap(checkSelector), ...names.flatMap((name) => checkText(name, checkDnsLabel)), ...checkMatchKeys(term),
    ...(toText(key.value) === '' ? [required(key.path, 'can not be empty')] : []), ...checkText(key, checkQualifiedName),
  ];
}

function checkPodAffinity(affinity: Field): Errors {
  return [
    ...each(at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution')).flatMap(checkPodTerm),
    ...each(at(affinity, 'preferredDuringSchedulingIgnoredDuringExecution')).flatMap((one) => [
      ...checkWeight(one), ...checkPodTerm(at(one, 'podAffinityTerm')),
    ]),
  ];
}

/** Validates the affinity of a pod. */
export function checkAffinity(affinity: Field): Errors {
  return [
    ...checkNodeAffinity(at(affinity, 'nodeAffinity')), ...checkPodAffinity(at(affinity, 'podAffinity')), ...checkPodAffinity(at(affinity, 'podAntiAffinity')),
  ];
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
const EVERY_KEY = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';

function checkToleration(toleration: Field): Errors {
  const [key, operator, effect] = [at(toleration, 'key'), at(toleration, 'operator'), at(toleration, 'effect')];
  const value = toText(readPath(toleration.value, 'value'));
  const kind = toText(operator.value);
  const errors: FieldError[] = toText(key.value) === '' ? [] : [...checkText(key, checkQualifiedName)];
  if (toText(key.value) === '' && kind !== 'Exists') errors.push(invalidValue(operator.path, kind, EVERY_KEY));
  if (isGiven(at(toleration, 'tolerationSeconds')) && effect.value !== 'NoExecute') {
    errors.push(invalidTyped(effect.path, toText(effect.value), "effect must be 'NoExecute' when `tolerationSeconds` is set"));
  }
  if (kind === '' || kind === 'Equal') {
    const problems = checkLabelValue(value);
    if (problems.length > 0) errors.push(invalidValue(operator.path, value, problems.join(';')));
  } else if (kind === 'Lt' || kind === 'Gt') {
    errors.push({ ...notSupported(operator.path, kind, ['Equal', 'Exists', 'Lt', 'Gt'], true), when: `!${COMPARISON_GATE}` });
    errors.push(...checkNumber(at(toleration, 'value')).map((error) => ({ ...error, when: COMPARISON_GATE })));
  } else if (kind !== 'Exists') errors.push(notSupported(operator.path, kind, ['Equal', 'Exists'], true));
  else if (value !== '') errors.push(invalidValue(operator.path, value, "value must be empty when `operator` is 'Exists'"));
  return toText(effect.value) === '' ? errors : [...errors, ...checkOneOf(effect, effects, true)];
}

/** Numbers with more digits have more than 64 bits. */
const MAX_DIGITS = 19;

/** A value that taints are compared with: an integer as people write it, in 64 bits. The reference parses texts that are no integer all the same. */
function checkNumber({ path, value }: Field): Errors {
  const text = toText(value);
  const problem = text === '' ? 'must be non-empty' : /^(?:0|-?[1-9][0-9]*)$/.test(text) ? undefined : 'must be a valid decimal integer in canonical form';
  const isWhole = /^[+-]?[0-9]+$/.test(text);
  const digits = text.replace(/^[+-]/, '').replace(/^0+/, '');
  const number = isWhole && digits.length <= MAX_DIGITS ? BigInt(`${text.startsWith('-') ? '-' : ''}${digits || '0'}`) : undefined;
  const isInRange = number !== undefined && BigInt.asIntN(64, number) === number;
  const why = !isWhole ? 'invalid syntax' : isInRange ? undefined : 'value out of range';
  const parsing = `strconv.ParseInt: parsing ${quoteGo(text)}: ${why}`;
  return [...(problem === undefined ? [] : [problem]), ...(why === undefined ? [] : [parsing])].map((text) => invalidValue(path, toText(value), text));
}

/** Validates the tolerations of a pod. */
export const checkTolerations = (list: Field): Errors => each(list).flatMap(checkToleration);

const inclusions = ['Honor', 'Ignore'];

function checkMinDomains(constraint: Field): Errors {
  const least = at(constraint, 'minDomains');
  if (!isGiven(least)) return [];
  const action = toText(readPath(constraint.value, 'whenUnsatisfiable'));
  return [
    ...(toNumber(least.value) <= 0 ? [isWrong(least, 'must be greater than zero')] : []),
    ...(action === 'DoNotSchedule' ? [] : [isWrong(least, `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${action}`)]),
  ];
}

/** Validates the spread constraints of a pod. */
export function checkSpread(list: Field): Errors {
  const ids = each(list).map(({ value }) => `{${toText(readPath(value, 'topologyKey'))}, ${toText(readPath(value, 'whenUnsatisfiable'))}}`);
  return each(list).flatMap((constraint, index): Errors => {
    const [skew, key, action] = [at(constraint, 'maxSkew'), at(constraint, 'topologyKey'), at(constraint, 'whenUnsatisfiable')];
    const id = ids[index]!;
    const selector = at(constraint, 'labelSelector');
    const errors: FieldError[] = toNumber(skew.value ?? 0) <= 0 ? [invalidValue(skew.path, skew.value ?? 0, 'must be greater than zero')] : [];
    if (isEmptyText(key)) errors.push(required(key.path, 'can not be empty'));
    errors.push(...checkOneOf(action, ['DoNotSchedule', 'ScheduleAnyway']));
    if (ids.includes(id, index + 1)) errors.push(duplicate(`${constraint.path}.{topologyKey, whenUnsatisfiable}`, id));
    const policies = ['nodeAffinityPolicy', 'nodeTaintsPolicy'].map((name) => at(constraint, name)).filter(isGiven);
    return [
      ...errors, ...checkMinDomains(constraint), ...policies.flatMap((policy) => checkOneOf(policy, inclusions)), ...checkMatchKeys(constraint),
      ...(isGiven(selector) ? checkSelector(selector) : []),
    ];
  });
}
