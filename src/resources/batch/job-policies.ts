// Validation of the policies of a job: failure and success rules, replacement of pods, and the manager.
import {
  type FieldError, checkPrefixedPath, checkQualifiedName, duplicate, invalidUnshown, invalidValue, notSupported, required, tooLong, tooMany,
} from '../../apimachinery/index.ts';
import { type Errors, type Field, at, checkNotNegative, checkOneOf, checkText, each, isEmptyText, isGiven, isWrong } from '../common/validation/check.ts';
import { readPath, toList, toNumber, toObjects, toText } from '../common/values.ts';
import { countIndexes } from './job-indexes.ts';

const MAX_RULES = 20;
const MAX_EXIT_CODES = 255;
const MAX_INDEXES_LENGTH = 64 * 1024;
const MAX_MANAGER_LENGTH = 63;
const actions = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

/** A required text of a closed set; the error of an absent one lists the values. */
function checkChoice(place: Field, supported: readonly string[]): Errors {
  if (!isEmptyText(place)) return checkOneOf(place, supported);
  return [required(place.path, `valid values: [${supported.map((one) => JSON.stringify(one)).join(' ')}]`)];
}

function checkExitCodes(exits: Field, names: ReadonlySet<string>): Errors {
  const [operator, container, values] = [at(exits, 'operator'), at(exits, 'containerName'), at(exits, 'values')];
  const codes = toList(values.value).map((value) => toNumber(value ?? 0));
  const errors: FieldError[] = [...checkChoice(operator, ['In', 'NotIn'])];
  if (isGiven(container) && !names.has(toText(container.value))) {
    errors.push(isWrong(container, 'must be one of the container or initContainer names in the pod template'));
  }
  if (codes.length === 0) errors.push(invalidValue(values.path, values.value ?? null, 'at least one value is required'));
  if (codes.length > MAX_EXIT_CODES) errors.push(tooMany(values.path, codes.length, MAX_EXIT_CODES));
  const seen = new Set<number>();
  for (const [index, code] of codes.entries()) {
    const path = `${values.path}[${index}]`;
    if (operator.value === 'In' && code === 0) errors.push(invalidValue(path, code, 'must not be 0 for the In operator'));
    if (seen.has(code)) errors.push(duplicate(path, code));
    seen.add(code);
  }
  const isOrdered = codes.every((code, index) => index === 0 || codes[index - 1]! <= code);
  return isOrdered ? errors : [...errors, isWrong(values, 'must be ordered')];
}

function checkConditions(list: Field): Errors {
  const count = toList(list.value).length;
  return [
    ...(count > MAX_RULES ? [tooMany(list.path, count, MAX_RULES)] : []),
    ...each(list).flatMap((pattern) => [
      ...checkText(at(pattern, 'type'), checkQualifiedName), ...checkChoice(at(pattern, 'status'), ['False', 'True', 'Unknown']),
    ]),
  ];
}

function checkFailureRule(rule: Field, names: ReadonlySet<string>, hasLimit: boolean): Errors {
  const [action, exits, conditions] = [at(rule, 'action'), at(rule, 'onExitCodes'), at(rule, 'onPodConditions')];
  const hasConditions = toList(conditions.value).length > 0;
  const lacksLimit = action.value === 'FailIndex' && !hasLimit;
  return [
    ...(lacksLimit ? [isWrong(action, 'requires the backoffLimitPerIndex to be set')] : checkChoice(action, actions)),
    ...(isGiven(exits) ? checkExitCodes(exits, names) : []), ...checkConditions(conditions),
    ...(isGiven(exits) && hasConditions ? [invalidUnshown(rule.path, 'specifying both OnExitCodes and OnPodConditions is not supported')] : []),
    ...(isGiven(exits) || hasConditions ? [] : [invalidUnshown(rule.path, 'specifying one of OnExitCodes and OnPodConditions is required')]),
  ];
}

/** Validates podFailurePolicy. */
export function checkFailurePolicy(spec: Field): Errors {
  const rules = at(spec, 'podFailurePolicy', 'rules');
  const count = toList(rules.value).length;
  const pod = readPath(spec.value, 'template', 'spec');
  const names = new Set(['containers', 'initContainers'].flatMap((list) => toObjects(readPath(pod, list))).map(({ name }) => toText(name)));
  const hasLimit = isGiven(at(spec, 'backoffLimitPerIndex'));
  return [
    ...(count > MAX_RULES ? [tooMany(rules.path, count, MAX_RULES)] : []), ...each(rules).flatMap((rule) => checkFailureRule(rule, names, hasLimit)),
  ];
}

function checkSuccessRule(rule: Field, completions: number): Errors {
  const [count, indexes] = [at(rule, 'succeededCount'), at(rule, 'succeededIndexes')];
  const text = toText(indexes.value);
  const errors: FieldError[] = [];
  if (!isGiven(count) && !isGiven(indexes)) errors.push(required(rule.path, 'at least one of succeededCount or succeededIndexes must be specified'));
  if (text.length > MAX_INDEXES_LENGTH) errors.push(tooLong(indexes.path, MAX_INDEXES_LENGTH));
  const total = countIndexes(text, completions);
  if (typeof total === 'string') errors.push(isWrong(indexes, `error parsing succeededIndexes: ${total}`));
  if (!isGiven(count)) return errors;
  errors.push(...checkNotNegative(count));
  const [wanted, named] = [toNumber(count.value), typeof total === 'string' ? 0 : total];
  if (wanted > completions) errors.push(isWrong(count, `must be less than or equal to ${completions} (the number of specified completions)`));
  if (isGiven(indexes) && wanted > named) {
    errors.push(isWrong(count, `must be less than or equal to ${named} (the number of indexes in the specified succeededIndexes field)`));
  }
  return errors;
}

/** Validates successPolicy. */
export function checkSuccessPolicy(spec: Field): Errors {
  const policy = at(spec, 'successPolicy');
  if (!isGiven(policy)) return [];
  const rules = at(policy, 'rules');
  const shown = toObjects(rules.value).map((rule) => ({ SucceededIndexes: rule['succeededIndexes'] ?? null, SucceededCount: rule['succeededCount'] ?? null }));
  if (readPath(spec.value, 'completionMode') !== 'Indexed') {
    return [invalidValue(policy.path, { Rules: isGiven(rules) ? shown : null }, 'requires indexed completion mode')];
  }
  const completions = toNumber(readPath(spec.value, 'completions') ?? 0);
  return [
    ...(shown.length === 0 ? [required(rules.path, 'at least one rules must be specified when the successPolicy is specified')] : []),
    ...(shown.length > MAX_RULES ? [tooMany(rules.path, shown.length, MAX_RULES)] : []),
    ...each(rules).flatMap((rule) => checkSuccessRule(rule, completions)),
  ];
}

/** Validates podReplacementPolicy: with a failure policy, pods are replaced only after they have failed. */
export function checkReplacement(spec: Field): Errors {
  const policy = at(spec, 'podReplacementPolicy');
  if (!isGiven(policy)) return [];
  const supported = isGiven(at(spec, 'podFailurePolicy')) ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
  return supported.includes(toText(policy.value)) ? [] : [notSupported(policy.path, policy.value, supported)];
}

/** Validates managedBy: a domain-prefixed path. */
export function checkManager(manager: Field): Errors {
  if (!isGiven(manager)) return [];
  const text = toText(manager.value);
  return [...checkPrefixedPath(manager.path, text), ...(text.length > MAX_MANAGER_LENGTH ? [tooLong(manager.path, MAX_MANAGER_LENGTH)] : [])];
}
