// Validation of resourceclaims and their templates: requests that say what they want, constraints that name requests.
import { type FieldError, type KubeObject, checkDnsLabel, checkDnsSubdomain, duplicate, invalidValue, required } from '../../apimachinery/index.ts';
import { readPath, toText } from '../columns/common.ts';
import { type Errors, type Place, at, checkOneOf, checkText, each, isSame, isGiven } from './check.ts';
import { shapeValue } from './struct-diff.ts';


function checkWanted(wanted: Place): Errors {
  const name = at(wanted, 'deviceClassName');
  const errors: Errors = toText(name.value) === '' ? [required(name.path)] : checkText(name, checkDnsSubdomain);
  return [...errors, ...checkOneOf(at(wanted, 'allocationMode'), ['All', 'ExactCount'])];
}

function checkRequest(request: Place, names: Set<string>): Errors {
  const name = at(request, 'name');
  const text = toText(name.value);
  const errors: FieldError[] = [...(text === '' ? [required(name.path)] : checkText(name, checkDnsLabel))];
  if (names.has(text)) errors.push(duplicate(request.path, text));
  names.add(text);
  const exactly = at(request, 'exactly');
  const alternatives = each(at(request, 'firstAvailable'));
  for (const one of alternatives) names.add(`${text}/${toText(readPath(one.value, 'name'))}`);
  if (isGiven(exactly) && alternatives.length > 0) {
    return [...errors, invalidValue(request.path, undefined, 'exactly one of `exactly` or `firstAvailable` is required')];
  }
  if (isGiven(exactly)) return [...errors, ...checkWanted(exactly)];
  if (alternatives.length === 0) return [...errors, required(request.path, 'exactly one of `exactly` or `firstAvailable` is required')];
  return [...errors, ...alternatives.flatMap(checkWanted)];
}

const unknownRequest = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

function checkClaimSpec(spec: Place): Errors {
  const names = new Set<string>();
  const devices = at(spec, 'devices');
  return [
    ...each(at(devices, 'requests')).flatMap((request) => checkRequest(request, names)),
    ...['constraints', 'config'].flatMap((list) => each(at(devices, list))).flatMap((entry) => each(at(entry, 'requests')))
      .filter(({ value }) => !names.has(toText(value))).map(({ path, value }) => invalidValue(path, value, unknownRequest)),
  ];
}

/** Validates resourceclaims. */
export function validateResourceClaim(claim: KubeObject): Errors {
  return checkClaimSpec({ path: 'spec', value: claim['spec'] });
}

/** Validates updates of resourceclaims. */
export function validateResourceClaimUpdate(claim: KubeObject, old: KubeObject): Errors {
  if (isSame(claim['spec'], old['spec'])) return [];
  const shape = { Devices: ['devices', { Requests: 'requests', Constraints: 'constraints', Config: 'config' }] } as const;
  return [invalidValue('spec', shapeValue(claim['spec'], shape), 'field is immutable')];
}

/** Validates resourceclaimtemplates. */
export function validateResourceClaimTemplate(template: KubeObject): Errors {
  return checkClaimSpec({ path: 'spec.spec', value: readPath(template, 'spec', 'spec') });
}
