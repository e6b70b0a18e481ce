// The spec of resource claims and their templates: requests, constraints, and configuration that names requests.
import {
  type FieldError, type JsonObject, byteLength, checkDnsSubdomain, deviceSelectorProblem, forbiddenField, invalidValue, required, tooLong,
} from '../../apimachinery/index.ts';
import { readPointer, readStructs, setZero } from '../common/defaults.ts';
import { type Errors, type Field, at, checkOneOf, checkText, each, isEmptyText, isGiven } from '../common/validation/check.ts';
import { readPath, toInteger, toList, toObjects, toText } from '../common/values.ts';
import { byName, checkConfiguration, checkDeviceToleration, checkFullAttributeName, checkItems, checkLabel, checkSet, itself } from './parts.ts';

/** Defaults of the requests of a claim; in v1beta1, a request has the members of `exactly` itself. */
export function applyDeviceDefaults(spec: JsonObject | undefined): void {
  for (const request of readStructs(readPointer(spec, 'devices'), 'requests')) {
    const exactly = readPointer(request, 'exactly');
    const isFlat = toText(request['deviceClassName']) !== '';
    for (const wanted of [...(isFlat ? [request] : []), ...(exactly === undefined ? [] : [exactly]), ...readStructs(request, 'firstAvailable')]) {
      setZero(wanted, { allocationMode: 'ExactCount' });
      if (wanted['allocationMode'] === 'ExactCount') setZero(wanted, { count: 1 });
    }
  }
}

const MAX_REQUESTS = 32;
const MAX_ALTERNATIVES = 8;

/** Most selectors of a request or a class. */
export const MAX_SELECTORS = 32;
const MAX_CONSTRAINTS = 32;

/** Most configurations of a claim or a class. */
export const MAX_CONFIGS = 32;

/** Requests by name, with the names of their alternatives. */
export type RequestNames = ReadonlyMap<string, ReadonlySet<string>>;

/** The requests of a claim. */
export function namesOfRequests(spec: unknown): RequestNames {
  return new Map(toObjects(readPath(spec, 'devices', 'requests')).map((request) => {
    return [toText(request['name']), new Set(toObjects(request['firstAvailable']).map(({ name }) => toText(name)))];
  }));
}

const UNKNOWN_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/** The name of a request, or of an alternative of one behind a slash. */
export function checkRequestReference(place: Field, names: RequestNames): Errors {
  const text = toText(place.value);
  const parts = text.split('/');
  if (parts.length > 2) return [invalidValue(place.path, text, UNKNOWN_REQUEST)];
  const [request = '', alternative] = parts;
  const alternatives = names.get(request);
  const isKnown = alternatives !== undefined && (alternative === undefined || alternatives.has(alternative));
  return [
    ...parts.flatMap((part) => checkLabel({ path: place.path, value: part })), ...(isKnown ? [] : [invalidValue(place.path, text, UNKNOWN_REQUEST)]),
  ];
}

/** The requests that a constraint or a configuration names. */
export function checkReferences(parent: Field, names: RequestNames): Errors {
  return checkSet(at(parent, 'requests'), MAX_REQUESTS, { check: (item) => checkRequestReference(item, names), keyOf: itself });
}

/** The gate of devices whose attributes are lists. */
export const LISTS_GATE = 'DRAListTypeAttributes';

/** The gate of devices that can be allocated more than once. */
export const SHARING_GATE = 'DRAConsumableCapacity';

const MAX_EXPRESSION_BYTES = 10 * 1024;

/** Validates a device selector, whose expression is compiled; one that is stored already may use features that are off. */
export function checkSelector(selector: Field, isStored = false): Errors {
  const cel = at(selector, 'cel');
  if (!isGiven(cel)) return [required(cel.path)];
  const { path, value } = at(cel, 'expression');
  const text = toText(value);
  if (byteLength(text) > MAX_EXPRESSION_BYTES) return [tooLong(path, MAX_EXPRESSION_BYTES)];
  // A selector that compiles for single attributes compiles for lists.
  const problem = deviceSelectorProblem(text, { isStored });
  const report = (found: NonNullable<typeof problem>): FieldError =>
    (found.type === 'invalid' ? invalidValue(path, text, found.message) : forbiddenField(path, 'too complex, exceeds cost limit'));
  if (problem === undefined) {
    const ofSingle = text.includes('allowMultipleAllocations') ? deviceSelectorProblem(text, { isStored, sharesDevices: false }) : undefined;
    return ofSingle === undefined ? [] : [{ ...report(ofSingle), when: `!${SHARING_GATE}` }];
  }
  const ofLists = deviceSelectorProblem(text, { takesLists: true });
  return [{ ...report(problem), when: `!${LISTS_GATE}` }, ...(ofLists === undefined ? [] : [{ ...report(ofLists), when: LISTS_GATE }])];
}

function checkMode(wanted: Field): Errors {
  const [mode, count] = [at(wanted, 'allocationMode'), at(wanted, 'count')];
  const number = toInteger(count.value);
  if (mode.value === 'All') return number == 0 ? [] : [invalidValue(count.path, number, "must not be specified when allocationMode is 'All'")];
  if (mode.value === 'ExactCount') return number > 0 ? [] : [invalidValue(count.path, number, 'must be greater than zero')];
  return checkOneOf(mode, ['All', 'ExactCount']);
}

function checkWanted(wanted: Field): Errors {
  const name = at(wanted, 'deviceClassName');
  return [
    ...(isEmptyText(name) ? [required(name.path)] : checkText(name, checkDnsSubdomain)),
    ...checkItems(at(wanted, 'selectors'), MAX_SELECTORS, (selector) => checkSelector(selector)),
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
  return [...errors, ...checkSet(alternatives, MAX_ALTERNATIVES, { check: checkAlternative, keyOf: byName })];
}

/** The reference has one text for none and for both. */
function checkAttribute(constraint: Field): Errors {
  const [same, distinct] = [at(constraint, 'matchAttribute'), at(constraint, 'distinctAttribute')];
  if (isGiven(same)) return checkFullAttributeName(same);
  if (isGiven(distinct)) return checkFullAttributeName(distinct);
  return [
    { ...required(constraint.path, 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'), when: SHARING_GATE },
    { ...required(same.path), when: `!${SHARING_GATE}` },
  ];
}

/** Validates the spec of a claim. */
export function checkClaimSpec(spec: Field): Errors {
  const names = namesOfRequests(spec.value);
  const devices = at(spec, 'devices');
  return [
    ...checkSet(at(devices, 'requests'), MAX_REQUESTS, { check: checkRequest, keyOf: byName }),
    ...checkItems(at(devices, 'constraints'), MAX_CONSTRAINTS, (constraint) => [...checkReferences(constraint, names), ...checkAttribute(constraint)]),
    ...checkItems(at(devices, 'config'), MAX_CONFIGS, (config) => [...checkReferences(config, names), ...checkConfiguration(config)]),
  ];
}

/** The fields of the spec of a claim, at a path, that are dropped where features are off; a status says more about devices that are shared. */
export function gateClaimSpec(path: string, ...shared: readonly string[]): readonly (readonly [gate: string, ...paths: string[]])[] {
  const requests = `${path}.devices.requests[]`;
  const inRequests = (name: string): string[] => [`${requests}.exactly.${name}`, `${requests}.firstAvailable[].${name}`];
  return [
    ['DRAPrioritizedList', `${requests}.firstAvailable`], ['DRADeviceTaints', ...inRequests('tolerations')],
    [SHARING_GATE, `${path}.devices.constraints[].distinctAttribute`, ...inRequests('capacity'), ...shared],
  ];
}
