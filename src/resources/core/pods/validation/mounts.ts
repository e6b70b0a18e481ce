// Validation of the volumes and devices that a container mounts.
import { type FieldError, forbiddenField, invalidValue, notFoundValue, notSupported, required } from '../../../../apimachinery/index.ts';
import { type Errors, type Field, at, each, isEmptyText, isGiven, isWrong } from '../../../common/validation/check.ts';
import { readPath, toObjects, toText } from '../../../common/values.ts';
import { checkDescendingPath, checkNoBacksteps } from './references.ts';

/** The volumes of a pod by name. */
export type Volumes = ReadonlyMap<string, unknown>;
const propagations = ['Bidirectional', 'HostToContainer', 'None'];
const readOnlyModes = ['Disabled', 'Enabled', 'IfPossible'];

function checkPropagation(place: Field, container: Field): Errors {
  if (!isGiven(place)) return [];
  const errors: FieldError[] = propagations.includes(toText(place.value)) ? [] : [notSupported(place.path, place.value, propagations)];
  const isPrivileged = readPath(container.value, 'securityContext', 'privileged') === true;
  if (place.value !== 'Bidirectional' || isPrivileged) return errors;
  return [...errors, forbiddenField(place.path, 'Bidirectional mount propagation is available only to privileged containers')];
}

function checkReadOnly(mount: Field, path: string): Errors {
  const mode = readPath(mount.value, 'recursiveReadOnly');
  if (mode === undefined || mode === null || mode === 'Disabled') return [];
  if (!readOnlyModes.includes(toText(mode))) return [notSupported(path, mode, readOnlyModes)];
  const propagation = readPath(mount.value, 'mountPropagation') ?? 'None';
  return [
    ...(readPath(mount.value, 'readOnly') === true ? [] : [forbiddenField(path, 'may only be specified when readOnly is true')]),
    ...(propagation === 'None' ? [] : [forbiddenField(path, 'may only be specified when mountPropagation is None or not specified')]),
  ];
}

/** The paths of these members omit the index, as in the reference. */
function checkDetails(mount: Field, container: Field): Errors {
  const list = `${container.path}.volumeMounts`;
  const [path, expression] = ['subPath', 'subPathExpr'].map((name) => ({ path: `${list}.${name}`, value: readPath(mount.value, name) })) as [Field, Field];
  const propagation = { path: `${list}.mountPropagation`, value: readPath(mount.value, 'mountPropagation') };
  const hasBoth = !isEmptyText(path) && !isEmptyText(expression);
  return [
    ...(isEmptyText(path) ? [] : checkDescendingPath(path)),
    ...(hasBoth ? [isWrong(at(mount, 'subPathExpr'), 'subPathExpr and subPath are mutually exclusive')] : []),
    ...(isEmptyText(expression) ? [] : checkDescendingPath(expression)), ...checkPropagation(propagation, container),
    ...checkReadOnly(mount, `${list}.recursiveReadOnly`),
  ];
}

function checkMounts(container: Field, volumes: Volumes): Errors {
  const devices = toObjects(readPath(container.value, 'volumeDevices'));
  const paths = new Set<string>();
  return each(at(container, 'volumeMounts')).flatMap((mount) => {
    const [name, path] = [at(mount, 'name'), at(mount, 'mountPath')];
    const [nameText, pathText] = [toText(name.value), toText(path.value)];
    const errors: FieldError[] = [];
    if (nameText === '') errors.push(required(name.path));
    if (!volumes.has(nameText)) errors.push(notFoundValue(name.path, nameText));
    if (pathText === '') errors.push(required(path.path));
    if (paths.has(pathText)) errors.push(invalidValue(path.path, pathText, 'must be unique'));
    paths.add(pathText);
    if (devices.some((device) => device['name'] === nameText)) errors.push(isWrong(name, 'must not already exist in volumeDevices'));
    if (devices.some((device) => device['devicePath'] === pathText)) errors.push(isWrong(path, 'must not already exist as a path in volumeDevices'));
    return [...errors, ...checkDetails(mount, container)];
  });
}

const isForDevices = (volume: unknown): boolean => ['persistentVolumeClaim', 'ephemeral'].some((kind) => readPath(volume, kind) !== undefined);

function checkDevices(container: Field, volumes: Volumes): Errors {
  const mounts = toObjects(readPath(container.value, 'volumeMounts'));
  const [names, paths] = [new Set<string>(), new Set<string>()];
  return each(at(container, 'volumeDevices')).flatMap((device) => {
    const [name, path] = [at(device, 'name'), at(device, 'devicePath')];
    const [nameText, pathText] = [toText(name.value), toText(path.value)];
    const errors: FieldError[] = [];
    if (nameText === '') errors.push(required(name.path));
    if (names.has(nameText)) errors.push(isWrong(name, 'must be unique'));
    if (volumes.has(nameText) && !isForDevices(volumes.get(nameText))) {
      errors.push(isWrong(name, 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'));
    }
    if (!volumes.has(nameText)) errors.push(notFoundValue(name.path, nameText));
    if (pathText === '') errors.push(required(path.path));
    if (paths.has(pathText)) errors.push(isWrong(path, 'must be unique'));
    if (checkNoBacksteps(path).length > 0) errors.push(isWrong(path, "can not contain backsteps ('..')"));
    else paths.add(pathText);
    if (mounts.some((mount) => mount['name'] === nameText)) errors.push(isWrong(name, 'must not already exist in volumeMounts'));
    if (mounts.some((mount) => mount['mountPath'] === pathText)) errors.push(isWrong(path, 'must not already exist as a path in volumeMounts'));
    if (nameText !== '') names.add(nameText);
    return errors;
  });
}

/** Validates `volumeMounts` and `volumeDevices` of a container. */
export function checkMountsAndDevices(container: Field, volumes: Volumes): Errors {
  return [...checkMounts(container, volumes), ...checkDevices(container, volumes)];
}
