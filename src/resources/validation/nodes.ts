// Validation of nodes, and of what holds namespaces.
import {
  type FieldError, type KubeObject, byteLength, checkLabelValue, checkQualifiedName, duplicate, forbiddenField, invalidValue, notSupported,
  parseIpRange, quoteValue, required,
} from '../../apimachinery/index.ts';
import { readPath, toList, toText } from '../columns/common.ts';
import { type Errors, type Field, at, checkRange, checkText, each, isSame } from './check.ts';
import { isExtendedName } from './pod-resources.ts';
import { checkNatural, checkWhole, entriesOf } from './quantities.ts';

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

function checkTaint(taint: Field, known: Set<string>): Errors {
  const value = at(taint, 'value');
  const effect = at(taint, 'effect');
  const key = toText(readPath(taint.value, 'key'));
  const text = toText(effect.value);
  const problems = checkLabelValue(toText(value.value));
  const errors: FieldError[] = [...checkText(at(taint, 'key'), checkQualifiedName)];
  if (problems.length > 0) errors.push(invalidValue(value.path, value.value, problems.join(';')));
  if (text === '') errors.push(required(effect.path));
  else if (!effects.includes(text)) errors.push(notSupported(effect.path, text, effects, true));
  const id = `${text} ${key}`;
  if (known.has(id)) {
    const shown = { Key: key, Value: toText(value.value), Effect: text, TimeAdded: readPath(taint.value, 'timeAdded') ?? null };
    errors.push({
      reason: 'FieldValueDuplicate', field: taint.path, message: `Duplicate value: ${quoteValue(shown)}: taints must be unique by key and effect pair`,
    });
  }
  known.add(id);
  return errors;
}

function checkTaints(node: KubeObject): Errors {
  const known = new Set<string>();
  return each({ path: 'metadata.taints', value: readPath(node, 'spec', 'taints') }).flatMap((taint) => checkTaint(taint, known));
}

const integerResources = ['pods', 'services', 'replicationcontrollers', 'resourcequotas', 'secrets', 'configmaps', 'persistentvolumeclaims'];
const isInteger = (name: string): boolean => integerResources.includes(name) || isExtendedName(name);

/** What a node has; the reference writes names as members. */
function checkNodeResources(status: Field): Errors {
  return ['capacity', 'allocatable'].flatMap((list) => entriesOf(at(status, list)).flatMap(({ name, value }) => {
    const place = { path: `status.${list}.${name}`, value };
    return [...checkNatural(place), ...(isInteger(name) ? checkWhole(place) : [])];
  }));
}

const featurePattern = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const maxFeatureBytes = 253;
const featureText = "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), "
  + 'and contain only alphanumeric characters and slashes';

function checkFeature({ path, value }: Field): Errors {
  const text = toText(value);
  const refuse = (why: string): Errors => [invalidValue(path, text, `invalid feature name ${JSON.stringify(text)}: ${why}`)];
  if (byteLength(text) > maxFeatureBytes) return refuse(`must be no more than ${maxFeatureBytes} characters`);
  return featurePattern.test(text) ? [] : refuse(featureText);
}

/** Features that a node declares: each once, in order. */
function checkFeatures(list: Field): Errors {
  const features = each(list);
  return features.flatMap((feature, index): Errors => {
    const next = features[index + 1];
    const [text, following] = [toText(feature.value), toText(next?.value)];
    const errors = [...checkFeature(feature)];
    if (next === undefined || text < following) return errors;
    return [...errors, text === following ? duplicate(next.path, following) : invalidValue(next.path, following, 'list must be sorted alphabetically')];
  });
}

/** Validates what the status path of nodes writes. */
export function validateNodeStatus(node: KubeObject): Errors {
  const status: Field = { path: 'status', value: node['status'] };
  const known = new Set<string>();
  const repeated = each(at(status, 'addresses')).flatMap(({ path, value }): Errors => {
    const shown = { Type: toText(readPath(value, 'type')), Address: toText(readPath(value, 'address')) };
    const id = JSON.stringify(shown);
    if (known.has(id)) return [duplicate(path, shown)];
    known.add(id);
    return [];
  });
  return [...checkNodeResources(status), ...checkFeatures(at(status, 'declaredFeatures')), ...repeated];
}

/** Validates new nodes. */
export function validateNode(node: KubeObject): Errors {
  const ranges = each({ path: 'spec.podCIDRs', value: readPath(node, 'spec', 'podCIDRs') });
  const parsed = ranges.map(({ value }) => parseIpRange(toText(value)));
  const errors: FieldError[] = [...checkTaints(node), ...ranges.flatMap(checkRange)];
  const bad = parsed.findIndex((range) => range === undefined);
  if (ranges.length > 1 && bad >= 0) {
    const why = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${toText(ranges[bad]?.value)})`;
    const message = `Internal error: invalid PodCIDRs. failed to check with dual stack with error:${why}`;
    errors.push({ reason: 'InternalError', field: 'spec.podCIDRs', message });
  }
  const isDual = ranges.length === 2 && parsed[0]?.family !== parsed[1]?.family;
  if (ranges.length > 1 && !isDual) {
    errors.push(invalidValue('spec.podCIDRs', ranges.map(({ value }) => value), 'may specify no more than one CIDR for each IP family'));
  }
  return errors;
}

/** Validates updates of nodes. */
export function validateNodeUpdate(node: KubeObject, old: KubeObject): Errors {
  const before = toList(readPath(old, 'spec', 'podCIDRs'));
  const provider = toText(readPath(old, 'spec', 'providerID'));
  const errors: FieldError[] = [...validateNode(node), ...checkTaints(node)];
  if (before.length > 0 && !isSame(before, toList(readPath(node, 'spec', 'podCIDRs')))) {
    errors.push(forbiddenField('spec.podCIDRs', 'node updates may not change podCIDR except from "" to valid'));
  }
  if (provider !== '' && provider !== toText(readPath(node, 'spec', 'providerID'))) {
    errors.push(forbiddenField('spec.providerID', 'node updates may not change providerID except from "" to valid'));
  }
  const isRenamed = toText(readPath(old, 'spec', 'externalID')) !== toText(readPath(node, 'spec', 'externalID'));
  return isRenamed ? [...errors, forbiddenField('spec.externalID', 'may not be updated')] : errors;
}

const standardFinalizers = ['kubernetes', 'foregroundDeletion', 'orphan'];

function checkFinalizers(list: Field, pathOf: (finalizer: Field) => string): Errors {
  return each(list).flatMap((finalizer): Errors => {
    const [path, text] = [pathOf(finalizer), toText(finalizer.value)];
    const isKnown = text.includes('/') || standardFinalizers.includes(text);
    const problem = 'name is neither a standard finalizer name nor is it fully qualified';
    return [...checkText({ path, value: text }, checkQualifiedName), ...(isKnown ? [] : [invalidValue(path, text, problem)])];
  });
}

const finalizersOf = (namespace: KubeObject): Field => ({ path: 'spec.finalizers', value: readPath(namespace, 'spec', 'finalizers') });

/** Validates what holds a new namespace; the reference tells only then no places. */
export function validateNamespace(namespace: KubeObject): Errors {
  return checkFinalizers(finalizersOf(namespace), () => 'spec.finalizers');
}

/** Validates what holds a namespace that is finalized. */
export function validateNamespaceFinalizers(namespace: KubeObject): Errors {
  return checkFinalizers(finalizersOf(namespace), ({ path }) => path);
}
