// Which fields an update of a pod may change, and how the reference reports changes of the others.
import {
  type FieldError, type JsonObject, type KubeObject, equalJson, forbiddenField, invalidValue, required,
} from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, each, isGiven, isWrong, specOf } from '../../../common/validation/check.ts';
import { diffStructs } from '../../../common/validation/struct-diff.ts';
import { readPath, toList, toNumber, toObject, toObjects, toText } from '../../../common/values.ts';
import { showPodPart, showPodSpec } from './parts.ts';
import { checkAddedErrors, checkKeptAnnotations } from './pod.ts';
import { checkTolerations } from './scheduling.ts';

const CHANGEABLE = '`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` '
  + '(only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

function checkDeadline(spec: Field, before: unknown): Errors {
  const deadline = at(spec, 'activeDeadlineSeconds');
  if (!isGiven(deadline)) return before === undefined ? [] : [invalidValue(deadline.path, null, 'must not update from a positive integer to nil value')];
  const seconds = toNumber(deadline.value);
  if (seconds < 0 || seconds > 2 ** 31 - 1) return [isWrong(deadline, 'must be between 0 and 2147483647, inclusive')];
  return before !== undefined && toNumber(before) < seconds ? [isWrong(deadline, 'must be less than or equal to previous value')] : [];
}

function checkImages(list: Field): Errors {
  return each(list).map((container) => at(container, 'image')).flatMap((image): Errors => {
    const text = toText(image.value);
    return text === '' ? [required(image.path)] : text === text.trim() ? [] : [isWrong(image, 'must not have leading or trailing whitespace')];
  });
}

function checkAddedTolerations(list: Field, before: readonly JsonObject[]): Errors {
  const present = toObjects(list.value);
  const withoutTime = (toleration: object): unknown => ({ ...toleration, tolerationSeconds: undefined });
  const isLost = before.some((toleration) => !present.some((other) => equalJson(withoutTime(other), withoutTime(toleration))));
  return isLost ? [forbiddenField(list.path, 'existing toleration can not be modified except its tolerationSeconds')] : checkTolerations(list);
}

function checkGates(list: Field, before: readonly JsonObject[]): Errors {
  // Of several with one name, the last is reported.
  const added = new Map(each(list).map((gate) => at(gate, 'name')).map((name) => [toText(name.value), name]));
  for (const gate of before) added.delete(toText(gate['name']));
  return [...added.values()]
    .map(({ path, value }) => forbiddenField(path, `only deletion is allowed, but found new scheduling gate '${toText(value)}'`));
}

/** The nodeSelector of a gated pod may gain entries. */
function checkMoreLabels(selector: Field, before: unknown): Errors {
  const present = toObject(selector.value);
  const isKept = Object.entries(toObject(before)).every(([key, value]) => present[key] === value);
  const why = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return isKept ? [] : [invalidValue(selector.path, isGiven(selector) ? present : null, why)];
}

const termLists = ['matchExpressions', 'matchFields'];

/** The required node affinity of a gated pod may gain expressions, term by term. */
function checkMoreNodes(affinity: Field, before: unknown): Errors {
  const terms = at(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');
  const old = toObjects(readPath(before, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms'));
  const shown = toObjects(terms.value).map((term) => showPodPart('NodeSelectorTerm', term));
  if (old.length > 0 && old.length !== shown.length) {
    return [invalidValue(terms.path, isGiven(terms) ? shown : null, 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  }
  return old.flatMap((term, index) => {
    const next = readPath(terms.value, String(index));
    const isEmpty = termLists.every((list) => toList(term[list]).length === 0);
    const isKept = termLists.every((list) => toList(term[list]).every((one, place) => equalJson(one, toList(readPath(next, list))[place])));
    const isOpened = isEmpty && termLists.some((list) => toList(readPath(next, list)).length > 0);
    return isKept && !isOpened ? [] : [invalidValue(`${terms.path}[${index}]`, shown[index], 'only additions are allowed (no mutations or deletions)')];
  });
}

/** The new spec with its mutable members taken from the stored one. */
function withoutAllowed(spec: JsonObject, before: JsonObject): JsonObject {
  const withImages = (list: string): JsonObject => (spec[list] === undefined ? {} : {
    [list]: toObjects(spec[list]).map((container, index) => ({ ...container, image: readPath(before, list, String(index), 'image') ?? '' })),
  });
  const isGraced = toNumber(before['terminationGracePeriodSeconds']) < 0 && spec['terminationGracePeriodSeconds'] === 1;
  const kept = ['activeDeadlineSeconds', 'schedulingGates', 'tolerations', ...(isGraced ? ['terminationGracePeriodSeconds'] : [])];
  const masked = { ...spec, ...withImages('containers'), ...withImages('initContainers') };
  return keep(masked, before, toObjects(before['schedulingGates']).length > 0 ? [...kept, 'nodeSelector'] : kept);
}

function keep(spec: JsonObject, before: JsonObject, names: readonly string[]): JsonObject {
  const kept = new Set(names);
  const others = Object.entries(spec).filter(([name]) => !kept.has(name));
  return Object.fromEntries([...others, ...names.flatMap((name) => (before[name] === undefined ? [] : [[name, before[name]] as const]))]) as JsonObject;
}

/** The affinity of a gated pod with the node affinity of the stored one. */
function withNodesOf(before: JsonObject, spec: JsonObject): JsonObject {
  const [now, old] = [spec['affinity'], before['affinity']];
  const nodes = readPath(old, 'nodeAffinity');
  if (equalJson(readPath(now, 'nodeAffinity') ?? null, nodes ?? null)) return spec;
  const { nodeAffinity: _nodes, ...others } = toObject(now);
  const { affinity: _affinity, ...rest } = spec;
  if (nodes === undefined && old === undefined && Object.keys(others).length === 0) return rest;
  return { ...rest, affinity: { ...others, ...(nodes !== undefined && { nodeAffinity: nodes }) } as JsonObject };
}

function checkUnchanged(spec: Field, before: Field): Errors {
  const [now, old] = [toObject(spec.value), toObject(before.value)];
  const isGated = toObjects(old['schedulingGates']).length > 0;
  const masked = withoutAllowed(now, old);
  const nodes = at(spec, 'affinity', 'nodeAffinity');
  const oldNodes = readPath(old, 'affinity', 'nodeAffinity');
  const errors: FieldError[] = [];
  if (isGated && !equalJson(now['nodeSelector'] ?? {}, old['nodeSelector'] ?? {})) {
    errors.push(...checkMoreLabels(at(spec, 'nodeSelector'), old['nodeSelector']));
  }
  if (isGated && !equalJson(nodes.value ?? null, oldNodes ?? null)) errors.push(...checkMoreNodes(nodes, oldNodes));
  const rest = isGated ? withNodesOf(old, masked) : masked;
  if (equalJson(rest, old)) return errors;
  const diff = diffStructs(showPodSpec(old), showPodSpec(rest));
  return [...errors, forbiddenField('spec', `pod updates may not change fields other than ${CHANGEABLE}\n${diff}`)];
}

/** Validates an update of a pod on its main path; invalid parts that are stored already may stay. */
export function validatePodUpdate(pod: KubeObject, old: KubeObject): Errors {
  const [spec, before] = [specOf(pod), specOf(old)];
  const isSameSpec = equalJson(spec.value, before.value);
  const errors: FieldError[] = [...checkAddedErrors(pod, old, isSameSpec), ...checkKeptAnnotations(pod, old)];
  for (const list of ['containers', 'initContainers']) {
    const [now, then] = [at(spec, list), at(before, list)];
    if (toList(now.value).length !== toList(then.value).length) return [...errors, forbiddenField(now.path, 'pod updates may not add or remove containers')];
    errors.push(...checkImages(now));
  }
  const deadline = checkDeadline(spec, readPath(before.value, 'activeDeadlineSeconds'));
  if (deadline.length > 0 && isGiven(at(spec, 'activeDeadlineSeconds'))) return [...errors, ...deadline];
  errors.push(...deadline,
    ...checkAddedTolerations(at(spec, 'tolerations'), toObjects(readPath(before.value, 'tolerations'))),
    ...checkGates(at(spec, 'schedulingGates'), toObjects(readPath(before.value, 'schedulingGates'))),
  );
  return isSameSpec ? errors : [...errors, ...checkUnchanged(spec, before)];
}
