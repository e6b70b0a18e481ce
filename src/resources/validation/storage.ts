// Validation of what storage drivers say of themselves, and of what they attach.
import {
  type FieldError, type KubeObject, checkDnsSubdomain, checkQualifiedName, duplicate, forbiddenField, invalidValue, required, tooLong,
} from '../../apimachinery/index.ts';
import { toNumber, toObject, toText } from '../columns/common.ts';
import {
  type Errors, type Field, at, checkGivenOneOf, checkImmutable, checkNotNegative, checkOneOf, checkSelector, checkText, each, isEmptyText, isGiven, isSame,
  isWrong,
} from './check.ts';
import { checkNatural } from './quantities.ts';
import { shapeValue } from './struct-diff.ts';
import { checkDriverName } from './volume-sources.ts';

const specOf = (object: KubeObject): Field => ({ path: 'spec', value: object['spec'] });

const minTokenSeconds = 600;
const maxTokenSeconds = 2 ** 32;
const minUpdateSeconds = 10;

/** Tokens that a driver asks for: one for each audience. */
function checkTokens(list: Field): Errors {
  const audiences = new Set<string>();
  return each(list).flatMap((token): Errors => {
    const [audience, seconds] = [toText(at(token, 'audience').value), at(token, 'expirationSeconds')];
    if (audiences.has(audience)) return [duplicate(at(token, 'audience').path, audience)];
    audiences.add(audience);
    if (!isGiven(seconds)) return [];
    if (toNumber(seconds.value) < minTokenSeconds) return [isWrong(seconds, 'may not specify a duration less than 10 minutes')];
    return toNumber(seconds.value) > maxTokenSeconds ? [isWrong(seconds, 'may not specify a duration larger than 2^32 seconds')] : [];
  });
}

function checkDriverOptions(spec: Field): FieldError[] {
  const [period, inSecrets] = [at(spec, 'nodeAllocatableUpdatePeriodSeconds'), at(spec, 'serviceAccountTokenInSecrets')];
  const errors: FieldError[] = [];
  if (isGiven(period) && toNumber(period.value) < minUpdateSeconds) errors.push(isWrong(period, 'must be greater than or equal to 10 seconds'));
  if (isGiven(inSecrets) && each(at(spec, 'tokenRequests')).length === 0) {
    errors.push(isWrong(inSecrets, 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'));
  }
  return errors;
}

/** Validates csidrivers. */
export function validateCsiDriver(driver: KubeObject): Errors {
  const spec = specOf(driver);
  const policy = at(spec, 'fsGroupPolicy');
  return [
    ...checkGivenOneOf(policy, ['File', 'None', 'ReadWriteOnceWithFSType']),
    ...checkTokens(at(spec, 'tokenRequests')),
    ...each(at(spec, 'volumeLifecycleModes')).flatMap(({ value }) =>
      checkOneOf({ path: `${spec.path}.volumeLifecycleModes`, value }, ['Persistent', 'Ephemeral'], true)),
    ...checkDriverOptions(spec),
  ];
}

/** Validates updates of csidrivers. */
export function validateCsiDriverUpdate(driver: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(driver), specOf(old)];
  return [
    ...validateCsiDriver(driver), ...checkImmutable({ path: 'spec.attachedRequired', value: at(spec, 'attachRequired').value }, at(before, 'attachRequired')),
    ...checkImmutable(at(spec, 'volumeLifecycleModes'), at(before, 'volumeLifecycleModes')),
  ];
}

const maxNodeIdLength = 256;

/** What tells nodes apart; the reference shows the driver. */
function checkTopologyKeys(driver: Field): Errors {
  const known = new Set<string>();
  return each(at(driver, 'topologyKeys')).flatMap(({ value }): Errors => {
    const key = toText(value);
    const errors: FieldError[] = key === '' ? [required(driver.path)] : [];
    if (known.has(key)) errors.push(duplicate(driver.path, key));
    known.add(key);
    return [...errors, ...checkText({ path: driver.path, value: key }, checkQualifiedName)];
  });
}

/** Validates csinodes. */
export function validateCsiNode(node: KubeObject): Errors {
  const names = new Set<string>();
  return each(at(specOf(node), 'drivers')).flatMap((driver): Errors => {
    const name = at(driver, 'name');
    const id = at(driver, 'nodeID');
    const isKnown = names.has(toText(name.value));
    names.add(toText(name.value));
    return [
      ...checkDriverName(name),
      ...(isEmptyText(id) ? [required(id.path)] : []),
      ...(toText(id.value).length > maxNodeIdLength ? [invalidValue(id.path, id.value, `must be ${maxNodeIdLength} characters or less`)] : []),
      ...checkNotNegative(at(driver, 'allocatable', 'count')), ...(isKnown ? [duplicate(name.path, name.value)] : []),
      ...checkTopologyKeys(driver),
    ];
  });
}

/** Validates updates of csinodes: a driver stays what it is, but for what can be allocated. */
export function validateCsiNodeUpdate(node: KubeObject, old: KubeObject): Errors {
  const show = (driver: Field): unknown =>
    ({ Name: at(driver, 'name').value, NodeID: at(driver, 'nodeID').value, TopologyKeys: at(driver, 'topologyKeys').value ?? null, Allocatable: null });
  const known = new Map(each(at(specOf(old), 'drivers')).map((driver) => [at(driver, 'name').value, show(driver)]));
  const changed = each(at(specOf(node), 'drivers')).filter((driver) => {
    const before = known.get(at(driver, 'name').value);
    return before !== undefined && !isSame(before, show(driver));
  });
  return [...validateCsiNode(node), ...changed.map((driver) => invalidValue('spec.drivers', show(driver), 'field is immutable'))];
}

/** Validates csistoragecapacities. */
export function validateStorageCapacity(object: KubeObject): Errors {
  const [nodes, capacity] = ['nodeTopology', 'capacity'].map((name) => ({ path: name, value: object[name] })) as [Field, Field];
  return [
    ...(isGiven(nodes) ? checkSelector(nodes) : []), ...checkText({ path: 'storageClassName', value: object['storageClassName'] }, checkDnsSubdomain),
    ...checkNatural(capacity),
  ];
}

/** Validates volumeattachments. */
export function validateAttachment(attachment: KubeObject): Errors {
  const spec = specOf(attachment);
  const source = at(spec, 'source');
  const [inline, named] = [at(source, 'inlineVolumeSpec'), at(source, 'persistentVolumeName')];
  const text = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName';
  const attacher = at(spec, 'attacher');
  const errors: FieldError[] = [...checkDriverName(attacher)];
  if (!isGiven(inline) && !isGiven(named)) errors.push(required(source.path, text));
  else if (isGiven(inline) && isGiven(named)) errors.push(forbiddenField(source.path, text));
  else if (isGiven(named) && isEmptyText(named)) errors.push(required(named.path, 'must specify non empty persistentVolumeName'));
  errors.push(...checkText(at(spec, 'nodeName'), checkDnsSubdomain));
  return isGiven(named) ? [...errors, ...checkText(named, checkDnsSubdomain)] : errors;
}

/** Validates updates of volumeattachments. */
export function validateAttachmentUpdate(attachment: KubeObject, old: KubeObject): Errors {
  const shape = {
    Attacher: 'attacher', Source: ['source', { PersistentVolumeName: 'persistentVolumeName', InlineVolumeSpec: 'inlineVolumeSpec' }], NodeName: 'nodeName',
  } as const;
  const changed = !isSame(attachment['spec'], old['spec']);
  return [...validateAttachment(attachment), ...(changed ? [invalidValue('spec', shapeValue(attachment['spec'], shape), 'field is immutable')] : [])];
}

const maxParametersBytes = 256 * 1024;
const maxParameters = 512;

/** Validates volumeattributesclasses. */
export function validateAttributesClass(attributes: KubeObject): Errors {
  const driver: Field = { path: 'driverName', value: attributes['driverName'] };
  const parameters = Object.entries(toObject(attributes['parameters']));
  const errors: FieldError[] = isEmptyText(driver) ? [required(driver.path)] : [...checkText(driver, checkDnsSubdomain)];
  if (parameters.length > maxParameters) return [...errors, tooLong('parameters', maxParameters)];
  errors.push(...parameters.filter(([name]) => name === '').map(([name]) => invalidValue('parameters', name, 'field can not be empty.')));
  const bytes = parameters.reduce((sum, [name, value]) => sum + name.length + toText(value).length, 0);
  if (bytes > maxParametersBytes) errors.push(tooLong('parameters', maxParametersBytes));
  return parameters.length === 0 ? [...errors, required('parameters', 'must contain at least one key/value pair')] : errors;
}

/** Validates updates of volumeattributesclasses: what it means never changes. */
export function validateAttributesClassUpdate(attributes: KubeObject, old: KubeObject): Errors {
  return ['driverName', 'parameters'].filter((name) => !isSame(attributes[name] ?? null, old[name] ?? null))
    .map((name) => forbiddenField(name, `updates to ${name} are forbidden.`));
}
