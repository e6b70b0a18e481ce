// Validation of resourceclaims, their templates and deviceclasses: requests that say what they want, constraints and configuration that name requests.
import { type FieldError, type KubeObject, checkDnsSubdomain, invalidValue, required } from '../../apimachinery/index.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isEmptyText, isGiven, isSame } from './check.ts';
import { checkTemplateMetadata } from './claims.ts';
import { checkConfiguration, checkDeviceToleration, checkFullAttributeName, checkItems, checkLabel, checkSet, byName, itself } from './device-parts.ts';
import { showDevicePart } from './device-structs.ts';
import { isExtendedName } from './pod-resources.ts';

const maxRequests = 32;
const maxAlternatives = 8;
const maxSelectors = 32;
const maxConstraints = 32;
/** Most configurations of a claim, and of a class. */
export const maxConfigs = 32;

/** Requests by name, with the names of their alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

/** The requests of a claim. */
export function namesOfRequests(spec: unknown): RequestNames {
  return new Map(toObjects(readPath(spec, 'devices', 'requests')).map((request) => {
    return [toText(request['name']), new Set(toObjects(request['firstAvailable']).map(({ name }) => toText(name)))];
  }));
}

const unknownRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** The name of a request, or of an alternative of one behind a slash. */
export function checkRequestReference(place: Field, names: RequestNames): Errors {
  const text = toText(place.value);
  const parts = text.split('/');
  if (parts.length > 2) return [invalidValue(place.path, text, unknownRequest)];
  const [request = '', alternative] = parts;
  const alternatives = names.get(request);
  const isKnown = alternatives !== undefined && (alternative === undefined || alternatives.has(alternative));
  return [
    ...parts.flatMap((part) => checkLabel({ path: place.path, value: part })), ...(isKnown ? [] : [invalidValue(place.path, text, unknownRequest)]),
  ];
}

/** The requests that something is about. */
export function checkReferences(parent: Field, names: RequestNames): Errors {
  return checkSet(at(parent, 'requests'), maxRequests, { check: (item) => checkRequestReference(item, names), keyOf: itself });
}

function checkSelector(selector: Field): Errors {
  const cel = at(selector, 'cel');
  return isGiven(cel) ? [] : [required(cel.path)];
}

function checkMode(wanted: Field): Errors {
  const [mode, count] = [at(wanted, 'allocationMode'), at(wanted, 'count')];
  const number = toNumber(count.value ?? 0);
  if (mode.value === 'All') return number === 0 ? [] : [invalidValue(count.path, number, "must not be specified when allocationMode is 'All'")];
  if (mode.value === 'ExactCount') return number > 0 ? [] : [invalidValue(count.path, number, 'must be greater than zero')];
  return checkOneOf(mode, ['All', 'ExactCount']);
}

function checkWanted(wanted: Field): Errors {
  const name = at(wanted, 'deviceClassName');
  return [
    ...(isEmptyText(name) ? [required(name.path)] : checkText(name, checkDnsSubdomain)), ...checkItems(at(wanted, 'selectors'), maxSelectors, checkSelector),
    ...checkMode(wanted), ...each(at(wanted, 'tolerations')).flatMap(checkDeviceToleration),
  ];
}

const checkAlternative = (alternative: Field): Errors => [...checkLabel(at(alternative, 'name')), ...checkWanted(alternative)];

function checkRequest(request: Field): Errors {
  const [exactly, alternatives] = [at(request, 'exactly'), at(request, 'firstAvailable')];
  const errors: FieldError[] = [...checkLabel(at(request, 'name'))];
  const hasAlternatives = toList(alternatives.value).length > 0;
  const text = 'exactly one of `exactly` or `firstAvailable` is required';
  if (!isGiven(exactly) && !hasAlternatives) return [...errors, required(request.path, text)];
  if (isGiven(exactly) && hasAlternatives) return [...errors, invalidValue(request.path, undefined, `${text}, but multiple fields are set`)];
  if (!hasAlternatives) return [...errors, ...checkWanted(exactly)];
  return [...errors, ...checkSet(alternatives, maxAlternatives, { check: checkAlternative, keyOf: byName })];
}

/** The reference has one text for none and for both; both go through. */
function checkAttribute(constraint: Field): Errors {
  const [same, distinct] = [at(constraint, 'matchAttribute'), at(constraint, 'distinctAttribute')];
  if (isGiven(same)) return checkFullAttributeName(same);
  if (isGiven(distinct)) return checkFullAttributeName(distinct);
  return [required(constraint.path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set')];
}

function checkClaimSpec(spec: Field): Errors {
  const names = namesOfRequests(spec.value);
  const devices = at(spec, 'devices');
  return [
    ...checkSet(at(devices, 'requests'), maxRequests, { check: checkRequest, keyOf: byName }),
    ...checkItems(at(devices, 'constraints'), maxConstraints, (constraint) => [...checkReferences(constraint, names), ...checkAttribute(constraint)]),
    ...checkItems(at(devices, 'config'), maxConfigs, (config) => [...checkReferences(config, names), ...checkConfiguration(config)]),
  ];
}

/** Validates resourceclaims. */
export function validateResourceClaim(claim: KubeObject): Errors {
  return checkClaimSpec({ path: 'spec', value: claim['spec'] });
}

/** Validates updates of resourceclaims: what is claimed never changes. */
export function validateResourceClaimUpdate(claim: KubeObject, old: KubeObject): Errors {
  const [after, before] = [claim, old].map((one) => showDevicePart('ResourceClaimSpec', one['spec']));
  return isSame(after, before) ? [] : [invalidValue('spec', after, 'field is immutable')];
}

/** Validates resourceclaimtemplates. */
export function validateResourceClaimTemplate(template: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: template['spec'] };
  return [...checkTemplateMetadata(at(spec, 'metadata')), ...checkClaimSpec(at(spec, 'spec'))];
}

/** Metadata prints as the API has it, around the rest. */
function showTemplate(template: KubeObject): object {
  const { labels, annotations } = toObject(readPath(template, 'spec', 'metadata'));
  const spec = showDevicePart('ResourceClaimSpec', readPath(template, 'spec', 'spec'));
  return { ...(Object.keys(toObject(labels)).length > 0 && { labels }), ...(Object.keys(toObject(annotations)).length > 0 && { annotations }), Spec: spec };
}

/** Validates updates of resourceclaimtemplates. */
export function validateResourceClaimTemplateUpdate(template: KubeObject, old: KubeObject): Errors {
  const after = showTemplate(template);
  const changed: Errors = isSame(after, showTemplate(old)) ? [] : [invalidValue('spec', after, 'field is immutable')];
  return [...validateResourceClaimTemplate(template), ...changed];
}

/** Validates deviceclasses. */
export function validateDeviceClass(deviceClass: KubeObject): Errors {
  const spec: Field = { path: 'spec', value: deviceClass['spec'] };
  const name = at(spec, 'extendedResourceName');
  const isWrong = isGiven(name) && !isExtendedName(toText(name.value));
  return [
    ...checkItems(at(spec, 'selectors'), maxSelectors, checkSelector), ...checkItems(at(spec, 'config'), maxConfigs, checkConfiguration),
    ...(isWrong ? [invalidValue(name.path, name.value, 'must be a valid extended resource name')] : []),
  ];
}
