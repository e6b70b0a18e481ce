// Validation of validatingwebhookconfigurations and mutatingwebhookconfigurations. What was stored before a rule existed may stay as it is: an
// update is held to a rule only when what it replaces kept it.
import {
  type FieldError, type KubeObject, checkDns1035Label, checkDnsSubdomain, checkWebhookService, checkWebhookUrl, duplicate, invalidValue, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toText } from '../columns/common.ts';
import { checkMatchConditions, checkRule, failurePolicies, matchPolicies, reinvocationPolicies } from './admission-rules.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkOneOf, checkSelector, checkText, each, isGiven, isSame } from './check.ts';

const sideEffects = ['None', 'NoneOnDryRun'];
const anySideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const reviewVersions = ['v1', 'v1beta1'];
const maxTimeoutSeconds = 30;
const minNameParts = 3;

/** What webhooks are held to. */
interface Demands {
  readonly noSideEffects: boolean;
  readonly knownReviewVersion: boolean;
  readonly uniqueNames: boolean;
  readonly labelValues: boolean;
  readonly conditions: boolean;
}

const allDemands: Demands = { noSideEffects: true, knownReviewVersion: true, uniqueNames: true, labelValues: true, conditions: true };

const hooksOf = (configuration: KubeObject): readonly Field[] => each({ path: 'webhooks', value: configuration['webhooks'] });
const selectorNames = ['namespaceSelector', 'objectSelector'];

/** What an update is held to. */
function demandsOf(configuration: KubeObject, old: KubeObject): Demands {
  const before = hooksOf(old);
  const names = before.map((hook) => readPath(hook.value, 'name'));
  const conditionsOf = (hooks: readonly Field[]): unknown[] => hooks.map((hook) => readPath(hook.value, 'matchConditions') ?? null);
  return {
    noSideEffects: before.every((hook) => sideEffects.includes(toText(readPath(hook.value, 'sideEffects')))),
    knownReviewVersion: before.every((hook) => {
      const versions = toList(readPath(hook.value, 'admissionReviewVersions'));
      return versions.length === 0 || versions.some((version) => reviewVersions.includes(toText(version)));
    }),
    uniqueNames: new Set(names).size === names.length,
    labelValues: before.every((hook) => selectorNames.every((name) => checkSelector(at(hook, name)).length === 0)),
    conditions: !isSame(conditionsOf(hooksOf(configuration)), conditionsOf(before)),
  };
}

function checkName(place: Field): Errors {
  const name = toText(place.value);
  if (name === '') return [required(place.path)];
  const problems = checkDnsSubdomain(name);
  if (problems.length > 0) return [invalidValue(place.path, name, problems.join(','))];
  return name.split('.').length < minNameParts ? [invalidValue(place.path, name, 'should be a domain with at least three segments separated by dots')] : [];
}

function checkSideEffects(place: Field, supported: readonly string[]): Errors {
  return isGiven(place) ? checkOneOf(place, supported) : [required(place.path, `must specify one of ${supported.join(', ')}`)];
}

function checkTimeout({ path, value }: Field): Errors {
  const seconds = toNumber(value);
  return seconds < 1 || seconds > maxTimeoutSeconds ? [invalidValue(path, seconds, 'the timeout value must be between 1 and 30 seconds')] : [];
}

function checkHookSelector(selector: Field, labelValues: boolean): Errors {
  const errors = checkSelector(selector);
  return labelValues ? errors : errors.filter(({ field }) => !/\.values\[\d+\]$/.test(field));
}

function checkClient(config: Field): Errors {
  const url = at(config, 'url');
  const service = at(config, 'service');
  if (isGiven(url) === isGiven(service)) return [required(config.path, 'exactly one of url or service is required')];
  return isGiven(url) ? checkWebhookUrl(url.path, toText(url.value)) : checkWebhookService(service.path, toObject(service.value));
}

function checkReviewVersions(place: Field, knownReviewVersion: boolean): Errors {
  const versions = toList(place.value).map(toText);
  if (versions.length === 0) return [required(place.path, `must specify one of ${reviewVersions.join(', ')}`)];
  const seen = new Set<string>();
  const errors = each(place).flatMap((version): FieldError[] => {
    const name = toText(version.value);
    if (seen.has(name)) return [invalidValue(version.path, name, 'duplicate version')];
    seen.add(name);
    return [...checkText(version, checkDns1035Label)];
  });
  if (!knownReviewVersion || versions.some((version) => reviewVersions.includes(version))) return errors;
  return [...errors, invalidValue(place.path, versions, `must include at least one of ${reviewVersions.join(', ')}`)];
}

function checkHook(hook: Field, demands: Demands): Errors {
  return [
    ...checkName(at(hook, 'name')), ...each(at(hook, 'rules')).flatMap(checkRule),
    ...checkGivenOneOf(at(hook, 'failurePolicy'), failurePolicies), ...checkGivenOneOf(at(hook, 'matchPolicy'), matchPolicies),
    ...checkSideEffects(at(hook, 'sideEffects'), demands.noSideEffects ? sideEffects : anySideEffects), ...checkTimeout(at(hook, 'timeoutSeconds')),
    ...selectorNames.flatMap((name) => checkHookSelector(at(hook, name), demands.labelValues)),
    ...checkGivenOneOf(at(hook, 'reinvocationPolicy'), reinvocationPolicies), ...checkClient(at(hook, 'clientConfig')),
    ...(demands.conditions ? checkMatchConditions(at(hook, 'matchConditions'), false) : []),
    ...checkReviewVersions(at(hook, 'admissionReviewVersions'), demands.knownReviewVersion),
  ];
}

/** Validates configurations of webhooks of both kinds. */
export function validateWebhooks(configuration: KubeObject, demands: Demands = allDemands): Errors {
  const seen = new Set<string>();
  return hooksOf(configuration).flatMap((hook) => {
    const name = at(hook, 'name');
    const text = toText(name.value);
    const errors = [...checkHook(hook, demands)];
    if (demands.uniqueNames && text !== '' && seen.has(text)) errors.push(duplicate(name.path, text));
    seen.add(text);
    return errors;
  });
}

/** Validates updates of configurations of webhooks. */
export function validateWebhooksUpdate(configuration: KubeObject, old: KubeObject): Errors {
  return validateWebhooks(configuration, demandsOf(configuration, old));
}
