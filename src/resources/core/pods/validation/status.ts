// Validation of the status of a pod, which kubelets and schedulers write.
import {
  type FieldError, type KubeObject, byteLength, checkDnsLabel, checkDnsSubdomain, checkQualifiedName, duplicate, forbiddenField, invalidValue, notSupported,
  required, tooLong, parseLenientIp,
} from '../../../../apimachinery/index.ts';
import { checkIp } from '../../../common/validation/addresses.ts';
import { type Errors, type Field, at, checkImmutable, checkText, each, isEmptyText, isGiven } from '../../../common/validation/check.ts';
import { checkNativeName, compareAt, entriesOf, showQuantity } from '../../../common/validation/quantities.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../../common/values.ts';
import { IMAGE_DIGEST_GATE } from '../gated-fields.ts';
import { checkTransitions } from '../restarts.ts';
import { checkKeptAnnotations } from './pod.ts';

const MAX_ID = 2 ** 31 - 1;
const MAX_MESSAGE_BYTES = 4096;
const healthValues = ['Healthy', 'Unhealthy', 'Unknown'];

/** The addresses of a pod, one per family; addresses that are stored already may stay. */
function checkAddresses(list: Field, old: unknown): Errors {
  const known = new Set(toObjects(old).map(({ ip }) => ip));
  const texts = each(list).map((entry) => toText(readPath(entry.value, 'ip')));
  const parsed = texts.map(parseLenientIp);
  const errors: FieldError[] = texts.flatMap((value, index) => checkIp({ path: `${list.path}[${index}]`, value }, known));
  if (texts.length < 2) return errors;
  const bad = parsed.indexOf(undefined);
  if (bad >= 0) {
    const message = `Internal error: failed to check for dual stack with error:invalid IP[${bad}]: ${texts[bad]}`;
    errors.push({ reason: 'InternalError', field: list.path, message });
  }
  const isDual = bad < 0 && new Set(parsed.map((address) => address?.family)).size === 2;
  if (isDual && texts.length === 2) return errors;
  return [...errors, invalidValue(list.path, texts.map((ip) => ({ IP: ip })), 'may specify no more than one IP for each IP family')];
}

function checkHosts(status: Field, old: unknown): Errors {
  const hosts = at(status, 'hostIPs');
  if (toList(hosts.value).length === 0) return [];
  const first = toText(readPath(hosts.value, '0', 'ip'));
  const isSame = first === toText(at(status, 'hostIP').value);
  const errors = isSame ? [] : [invalidValue(`${hosts.path}[0].ip`, first, 'must be equal to `hostIP`')];
  return [...errors, ...checkAddresses(hosts, readPath(old, 'hostIPs'))];
}

function checkGeneration(holder: Field): Errors {
  const generation = at(holder, 'observedGeneration');
  return toNumber(generation.value ?? 0) < 0 ? [invalidValue(generation.path, generation.value, 'must be a non-negative integer')] : [];
}

const ownConditions = ['PodScheduled', 'Ready', 'Initialized'];

function checkPodCondition(condition: Field): Errors {
  const type = toText(readPath(condition.value, 'type'));
  const problems = ownConditions.includes(type) ? [] : checkText({ path: `${condition.path}.Type`, value: type }, checkQualifiedName);
  return [...checkGeneration(condition), ...problems];
}

function checkClaims(status: Field, pod: KubeObject): Errors {
  const claims = new Set(toObjects(readPath(pod, 'spec', 'resourceClaims')).map(({ name }) => toText(name)));
  const known = new Set<string>();
  return each(at(status, 'resourceClaimStatuses')).flatMap((claim): Errors => {
    const [name, object] = [at(claim, 'name'), at(claim, 'resourceClaimName')];
    const text = toText(name.value);
    const errors: FieldError[] = claims.has(text) ? [] : [invalidValue(name.path, text, 'must match the name of an entry in `spec.resourceClaims`')];
    if (known.has(text)) errors.push(duplicate(name.path, text));
    known.add(text);
    return [...errors, ...(isGiven(object) ? checkText(object, checkDnsSubdomain) : [])];
  });
}

/** Validates the claims that take from the resources of the node: each is a claim of the pod, and names the containers that use it. */
function checkNodeClaims(status: Field, pod: KubeObject): Errors {
  const names = new Set([readPath(pod, 'spec', 'resourceClaims'), readPath(status.value, 'resourceClaimStatuses')]
    .flatMap((list) => toObjects(list).map(({ resourceClaimName }) => resourceClaimName)));
  return each(at(status, 'nodeAllocatableResourceClaimStatuses')).flatMap((claim): Errors => {
    const [name, resources] = [toText(readPath(claim.value, 'resourceClaimName')), at(claim, 'resources')];
    const missing = (place: string, isMissing: boolean): FieldError[] => (isMissing ? [required(`${claim.path}.${place}`, 'must not be empty')] : []);
    return [
      ...missing('resourceClaimName', name === ''),
      ...(names.has(name) ? [] : [invalidValue(`${claim.path}.resourceClaimName`, name, 'no mapping found in pod reference')]),
      ...missing('containers', toList(readPath(claim.value, 'containers')).length === 0), ...missing('resources', entriesOf(resources).length === 0),
      ...entriesOf(resources).flatMap((entry) => [...checkNativeName(entry), ...checkNotBelowZero(entry)]),
    ];
  });
}

const checkNotBelowZero = (amount: Field): Errors =>
  (compareAt(amount, { path: '', value: 0 }) < 0 ? [invalidValue(amount.path, showQuantity(amount), 'must be non-negative')] : []);

const REQUEST_TEXT = 'must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests';
const CONTAINER_TEXT = 'must match the name of an entry in spec.initContainers.name or spec.containers.name';

/** The claim that stands for requests of extended resources: each mapping names a container and one of its requests. */
function checkExtendedClaim(claim: Field, pod: KubeObject): Errors {
  if (!isGiven(claim)) return [];
  const listed = ['initContainers', 'containers'].flatMap((list) => toObjects(readPath(pod, 'spec', list)));
  const containers = new Map(listed.map((container) => [toText(container['name']), toObject(readPath(container, 'resources', 'requests'))]));
  const [mappings, object] = [at(claim, 'requestMappings'), at(claim, 'resourceClaimName')];
  const known = new Set<string>();
  const errors = each(mappings).flatMap((mapping): Errors => {
    const parts = ['containerName', 'resourceName', 'requestName'].map((name) => ({ path: `${mapping.path}.${name}`, value: toText(at(mapping, name).value) }));
    const [container, resource, request] = parts as [Field, Field, Field];
    const requests = containers.get(container.value as string);
    const key = JSON.stringify(parts.map(({ value }) => value));
    const repeated = known.has(key) ? parts : [];
    known.add(key);
    return [
      ...(requests === undefined ? [invalidValue(container.path, container.value, CONTAINER_TEXT)] : []),
      ...(requests !== undefined && !Object.hasOwn(requests, resource.value as string) ? [invalidValue(resource.path, resource.value, REQUEST_TEXT)] : []),
      ...checkText({ path: `${claim.path}.requestName`, value: request.value }, checkDnsLabel),
      ...repeated.map(({ path, value }) => duplicate(path, value)),
    ];
  });
  return [
    ...(toList(mappings.value).length === 0 ? [required(mappings.path, 'at least one request mapping is required')] : []), ...errors,
    ...(isEmptyText(object) ? [required(object.path)] : checkText(object, checkDnsSubdomain)),
  ];
}

function checkId(id: Field): Errors {
  const number = toNumber(id.value ?? 0);
  return number < 0 || number > MAX_ID ? [invalidValue(id.path, number, `must be between 0 and ${MAX_ID}, inclusive`)] : [];
}

function checkUser(container: Field, isWindows: boolean): Errors {
  const user = at(container, 'user', 'linux');
  if (!isGiven(user)) return [];
  if (isWindows) return [forbiddenField(user.path, 'cannot be set for a windows pod')];
  return [...checkId(at(user, 'uid')), ...checkId(at(user, 'gid')), ...each(at(user, 'supplementalGroups')).flatMap(checkId)];
}

function checkHealth(resources: Field): Errors {
  const known = new Set<string>();
  return each(resources).flatMap((resource): Errors => {
    const [id, health, message] = [at(resource, 'resourceID'), at(resource, 'health'), at(resource, 'message')];
    const text = toText(health.value);
    const errors: FieldError[] = healthValues.includes(text) ? [] : [notSupported(health.path, text, healthValues)];
    if (isGiven(message) && isEmptyText(message)) errors.push(required(message.path, 'must be non-empty if specified'));
    if (byteLength(toText(message.value)) > MAX_MESSAGE_BYTES) errors.push(tooLong(message.path, MAX_MESSAGE_BYTES));
    if (known.has(toText(id.value))) errors.push(duplicate(id.path, toText(id.value)));
    known.add(toText(id.value));
    return errors;
  });
}

const CLAIM_TEXT = "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";

/** allocatedResourcesStatus names resources that the container has; statuses of unknown containers are not checked. */
function checkAllocated(status: Field, containers: ReadonlyMap<unknown, object>): Errors {
  const container = containers.get(at(status, 'name').value);
  const claims = toObjects(readPath(container, 'resources', 'claims')).map(({ name, request }) => `claim:${toText(name)}${request ? `/${toText(request)}` : ''}`);
  const names = new Set([...Object.keys(toObject(readPath(container, 'resources', 'requests'))), ...claims]);
  return each(at(status, 'allocatedResourcesStatus')).flatMap((allocated): Errors => {
    const name = at(allocated, 'name');
    const text = toText(name.value);
    const isUnknown = container !== undefined && !names.has(text);
    const problem = text.startsWith('claim:') ? CLAIM_TEXT : "must match one of the container's resource requests";
    return [...(isUnknown ? [invalidValue(name.path, text, problem)] : []), ...checkHealth(at(allocated, 'resources'))];
  });
}

const MAX_IMAGE_BYTES = 256;

/** Validates the digests of mounted images where their gate is on; the field is dropped elsewhere. */
function checkImageDigests(container: Field): Errors {
  return each(at(container, 'volumeMounts')).filter((mount) => isGiven(at(mount, 'volumeStatus', 'image'))).flatMap((mount): FieldError[] => {
    const text = toText(readPath(mount.value, 'volumeStatus', 'image', 'imageRef'));
    const path = `${mount.path}.volumeStatus.imageVolumeStatus.imageRef`;
    const errors = text === '' ? [required(path, 'imageRef must not be empty')] : byteLength(text) > MAX_IMAGE_BYTES ? [tooLong(path, MAX_IMAGE_BYTES)] : [];
    return errors.map((error) => ({ ...error, when: IMAGE_DIGEST_GATE }));
  });
}

function checkContainers(status: Field, pod: KubeObject): Errors {
  const [main, first, ephemeral] = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].map((name) => each(at(status, name))) as
    [readonly Field[], readonly Field[], readonly Field[]];
  const isWindows = readPath(pod, 'spec', 'os', 'name') === 'windows';
  const byName = (list: string): ReadonlyMap<unknown, object> => new Map(toObjects(readPath(pod, 'spec', list)).map((one) => [one['name'], one]));
  const [containers, initContainers] = [byName('containers'), byName('initContainers')];
  return [
    ...[...main, ...first, ...ephemeral].flatMap((container) => checkUser(container, isWindows)),
    ...main.flatMap((container) => checkAllocated(container, containers)), ...first.flatMap((container) => checkAllocated(container, initContainers)),
    ...ephemeral.map((container) => at(container, 'allocatedResourcesStatus')).filter(({ value }) => toList(value).length > 0)
      .map(({ path }) => forbiddenField(path, 'must not be specified in container status')),
    ...[...main, ...first, ...ephemeral].flatMap(checkImageDigests),
  ];
}

/** Validates what the status path of pods writes. */
export function validatePodStatus(pod: KubeObject, old: KubeObject): Errors {
  const [status, before] = [pod, old].map((one) => ({ path: 'status', value: one['status'] })) as [Field, Field];
  const node = at(status, 'nominatedNodeName');
  const isNominated = !isEmptyText(node) && node.value !== at(before, 'nominatedNodeName').value;
  const isBound = toText(readPath(old, 'spec', 'nodeName')) !== '';
  return [
    ...checkKeptAnnotations(pod, old), ...each(at(status, 'conditions')).flatMap(checkPodCondition), ...(isNominated ? checkText(node, checkDnsSubdomain) : []),
    ...(isNominated && isBound ? [forbiddenField(node.path, 'may not be set on pods that are already bound to a node')] : []),
    ...checkGeneration(status), ...checkImmutable(at(status, 'qosClass'), at(before, 'qosClass')), ...checkTransitions(status, old),
    ...checkClaims(status, pod),
    ...checkExtendedClaim(at(status, 'extendedResourceClaimStatus'), pod), ...checkNodeClaims(status, pod),
    ...checkAddresses(at(status, 'podIPs'), readPath(before.value, 'podIPs')), ...checkHosts(status, before.value), ...checkContainers(status, pod),
  ];
}
