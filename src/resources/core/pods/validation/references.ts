// Validation of references from containers and volumes: to fields and resources of their own pod, to keys of other objects, to files.
import { checkConfigMapKey, checkDnsSubdomain, checkQualifiedName, invalidValue, notSupportedText, required } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, checkText, isEmptyText, isGiven, isWrong } from '../../../common/validation/check.ts';
import { quantityAt, showQuantity } from '../../../common/validation/quantities.ts';
import { readPath, toNumber, toText } from '../../../common/values.ts';

const MODE_PROBLEM = 'must be a number between 0 and 0777 (octal), both inclusive';

/** Permissions of a file. */
export function checkMode(place: Field): Errors {
  return isGiven(place) && (toNumber(place.value) < 0 || toNumber(place.value) > 0o777) ? [isWrong(place, MODE_PROBLEM)] : [];
}

/** A path without `..` parts. */
export function checkNoBacksteps(place: Field): Errors {
  return toText(place.value).split('/').includes('..') ? [isWrong(place, "must not contain '..'")] : [];
}

/** A relative path without `..` parts. */
export function checkDescendingPath(place: Field): Errors {
  const isAbsolute = toText(place.value).startsWith('/');
  return [...(isAbsolute ? [isWrong(place, 'must be a relative path')] : []), ...checkNoBacksteps(place)];
}

/** A relative path whose first part does not begin with `..`. */
export function checkLocalPath(place: Field): Errors {
  const text = toText(place.value);
  const isTaken = text.startsWith('..') && !text.startsWith('../');
  return [...checkDescendingPath({ path: place.path, value: text }), ...(isTaken ? [invalidValue(place.path, text, "must not start with '..'")] : [])];
}

/** An item of a volume: a key, the path of its file, and the mode. */
export function checkKeyToPath(item: Field): Errors {
  const [key, path] = [at(item, 'key'), at(item, 'path')];
  return [...[key, path].filter(isEmptyText).map((place) => required(place.path)), ...checkLocalPath(path), ...checkMode(at(item, 'mode'))];
}

/** A reference to a key of a secret or config map. */
export function checkKeySelector(reference: Field): Errors {
  const [name, key] = [at(reference, 'name'), at(reference, 'key')];
  return [...checkText(name, checkDnsSubdomain), ...(isEmptyText(key) ? [required(key.path)] : checkText(key, checkConfigMapKey))];
}

const convertible = [
  'metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid', 'spec.nodeName', 'spec.restartPolicy',
  'spec.serviceAccountName', 'spec.schedulerName', 'status.phase', 'status.hostIP', 'status.hostIPs', 'status.podIP', 'status.podIPs', 'spec.host',
];

/** The label before a subscript, as `metadata.labels` in `metadata.labels['a']`. */
function labelOfSubscript(path: string): string | undefined {
  const start = path.indexOf("['", 1);
  return start > 0 && path.endsWith("']") && path.length >= start + 4 ? path.slice(0, start) : undefined;
}

function findConversionProblem(version: string, path: string): string | undefined {
  if (version !== 'v1') return `unsupported pod version: ${version}`;
  const name = labelOfSubscript(path);
  if (name !== undefined) return name === 'metadata.annotations' || name === 'metadata.labels' ? undefined : `field label does not support subscript: ${path}`;
  return convertible.includes(path) ? undefined : `field label not supported: ${path}`;
}

/** A reference to a field of the pod; `supported` are the field paths, besides single labels and annotations. */
export function checkFieldReference(reference: Field, supported: readonly string[]): Errors {
  const path = at(reference, 'fieldPath');
  const text = toText(path.value);
  if (text === '') return [required(path.path)];
  const problem = findConversionProblem(toText(readPath(reference.value, 'apiVersion')), text);
  if (problem !== undefined) return [isWrong(path, `error converting fieldPath: ${problem}`)];
  const name = labelOfSubscript(text);
  if (name !== undefined) {
    const subscript = text.slice(name.length + 2, -2);
    return checkText({ path: reference.path, value: name === 'metadata.annotations' ? subscript.toLowerCase() : subscript }, checkQualifiedName);
  }
  const shown = text === 'spec.host' ? 'spec.nodeName' : text;
  return supported.includes(shown) ? [] : [notSupportedText(path.path, shown, supported)];
}

const resources = ['limits.cpu', 'limits.memory', 'limits.ephemeral-storage', 'requests.cpu', 'requests.memory', 'requests.ephemeral-storage'];
const hugePages = /^(?:limits|requests)\.hugepages-/;
const sizes = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

/** The divisors of a resource, and the name of the resource in messages. */
function findDivisors(resource: string): readonly [readonly string[], string] | undefined {
  const name = resource.slice(resource.indexOf('.') + 1);
  if (hugePages.test(resource)) return [sizes, 'hugepages'];
  if (!resources.includes(resource)) return undefined;
  return name === 'cpu' ? [['1m', '1'], 'cpu'] : [sizes, name === 'memory' ? 'memory' : 'local ephemeral storage'];
}

function checkDivisor(reference: Field, resource: string): Errors {
  const divisor = at(reference, 'divisor');
  const found = findDivisors(resource);
  if (found === undefined || quantityAt(divisor).mantissa === 0n || found[0].includes(showQuantity(divisor))) return [];
  const units = found[1] === 'cpu' ? '1m and 1' : sizes.join(', ');
  return [invalidValue(divisor.path, resource, `only divisor's values ${units} are supported with the ${found[1]} resource`)];
}

/** A reference to a resource of a container; volumes name the container. */
export function checkResourceReference(reference: Field, isInVolume: boolean): Errors {
  const [container, resource] = [at(reference, 'containerName'), at(reference, 'resource')];
  const text = toText(resource.value);
  if (isInVolume && isEmptyText(container)) return [required(container.path), ...checkDivisor(reference, text)];
  if (text === '') return [required(resource.path)];
  const isKnown = resources.includes(text) || hugePages.test(text);
  return [...(isKnown ? [] : [notSupportedText(resource.path, text, resources)]), ...checkDivisor(reference, text)];
}
