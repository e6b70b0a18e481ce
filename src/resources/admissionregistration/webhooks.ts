// The parts that validating and mutating webhook configurations share. An update is held to a rule only when the stored object keeps it: objects
// that are older than a rule stay valid.
import {
  type FieldError, type KubeObject, checkDns1035Label, checkDnsSubdomain, checkWebhookService, checkWebhookUrl, duplicate, equalJson, invalidValue,
  required,
} from '../../apimachinery/index.ts';
import type { Column, FormerVersion } from '../../registry/index.ts';
import { column, withNameAndAge } from '../common/columns/columns.ts';
import { type Defaults, applyServicePort, readPointer, readStructs, setAbsent } from '../common/defaults.ts';
import { type Errors, type Field, at, checkGivenOneOf, checkOneOf, checkText, each, isGiven } from '../common/validation/check.ts';
import { checkSelector } from '../common/validation/selectors.ts';
import { readPath, toList, toNumber, toObject, toText } from '../common/values.ts';
import type { KindValidation } from '../kind-spec.ts';
import { applyMatchDefaults, checkMatchConditions, checkRule, failurePolicies, matchPolicies, reinvocationPolicies } from './rules.ts';

/** Columns of the two kinds of webhook configurations. */
export const webhookConfigurationColumns: readonly Column[] = withNameAndAge(
  column('Webhooks', (object) => toList(object['webhooks']).length, 'integer'),
);

/** Defaults of validatingwebhookconfigurations. */
export function applyValidatingWebhookDefaults(configuration: KubeObject): void {
  for (const webhook of readStructs(configuration, 'webhooks')) {
    setAbsent(webhook, { failurePolicy: 'Fail', timeoutSeconds: 10 });
    applyMatchDefaults(webhook);
    applyServicePort(readPointer(webhook, 'clientConfig'));
  }
}

/** Defaults of mutatingwebhookconfigurations. */
export function applyMutatingWebhookDefaults(configuration: KubeObject): void {
  applyValidatingWebhookDefaults(configuration);
  for (const webhook of readStructs(configuration, 'webhooks')) setAbsent(webhook, { reinvocationPolicy: 'Never' });
}

/** Defaults that webhooks of v1beta1 have in place of those of v1. */
const formerDefaults: Defaults = { failurePolicy: 'Ignore', matchPolicy: 'Exact', sideEffects: 'Unknown', timeoutSeconds: 30 };

/** Former versions of the two kinds. */
export const formerWebhooks: Readonly<Record<string, FormerVersion>> = {
  'admissionregistration.k8s.io/v1beta1': {
    convert(configuration) {
      for (const webhook of readStructs(configuration, 'webhooks')) {
        setAbsent(webhook, formerDefaults);
        if (toList(webhook['admissionReviewVersions']).length === 0) webhook['admissionReviewVersions'] = ['v1beta1'];
      }
      return configuration;
    },
  },
};

const sideEffects = ['None', 'NoneOnDryRun'];
const anySideEffects = ['None', 'NoneOnDryRun', 'Some', 'Unknown'];
const reviewVersions = ['v1', 'v1beta1'];
const MAX_TIMEOUT_SECONDS = 30;
const MIN_NAME_PARTS = 3;

/** The rules that apply to webhooks; an update may relax some. */
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

/** The rules that apply to an update: those that the stored object keeps. */
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
    conditions: !equalJson(conditionsOf(hooksOf(configuration)), conditionsOf(before)),
  };
}

function checkName(place: Field): Errors {
  const name = toText(place.value);
  if (name === '') return [required(place.path)];
  const problems = checkDnsSubdomain(name);
  if (problems.length > 0) return [invalidValue(place.path, name, problems.join(','))];
  return name.split('.').length < MIN_NAME_PARTS ? [invalidValue(place.path, name, 'should be a domain with at least three segments separated by dots')] : [];
}

function checkSideEffects(place: Field, supported: readonly string[]): Errors {
  return isGiven(place) ? checkOneOf(place, supported) : [required(place.path, `must specify one of ${supported.join(', ')}`)];
}

function checkTimeout({ path, value }: Field): Errors {
  const seconds = toNumber(value);
  return seconds < 1 || seconds > MAX_TIMEOUT_SECONDS ? [invalidValue(path, seconds, 'the timeout value must be between 1 and 30 seconds')] : [];
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
function validateWebhooks(configuration: KubeObject, demands: Demands = allDemands): Errors {
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
function validateWebhooksUpdate(configuration: KubeObject, old: KubeObject): Errors {
  return validateWebhooks(configuration, demandsOf(configuration, old));
}

/** The validation of both kinds of webhook configurations. */
export const webhookValidation: KindValidation = { object: (object) => validateWebhooks(object), update: validateWebhooksUpdate, usesExpressions: true };
