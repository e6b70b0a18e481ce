// The annotations by which releases before 1.30 named the profiles of seccomp and AppArmor: they are validated, and where a container has a profile in a
// field as well, both are the same.
import { forbiddenField, invalidValue } from '../../../apimachinery/index.ts';
import { type Errors, type Field, at } from '../../common/validation/check.ts';
import { readPath, toObject, toText } from '../../common/values.ts';
import { listContainers } from './validation/containers.ts';
import { checkDescendingPath } from './validation/references.ts';

const SECCOMP_POD = 'seccomp.security.alpha.kubernetes.io/pod';
const SECCOMP_PREFIX = 'container.seccomp.security.alpha.kubernetes.io/';
/** The beginning of annotations that name the AppArmor profile of a container, whose name follows. */
export const APP_ARMOR_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';
const LOCALHOST_PREFIX = 'localhost/';
const seccompNames = ['runtime/default', 'docker/default', 'unconfined'];
const appArmorNames = ['', 'runtime/default', 'unconfined'];

function checkSeccomp(path: string, profile: string): Errors {
  if (seccompNames.includes(profile)) return [];
  if (profile.startsWith(LOCALHOST_PREFIX)) return checkDescendingPath({ path, value: profile.slice(LOCALHOST_PREFIX.length) });
  return [invalidValue(path, profile, 'must be a valid seccomp profile')];
}

/** Validates annotations that name profiles; `spec` is that of the pod or template. */
export function checkProfileAnnotations(annotations: Field, spec: unknown): Errors {
  const entries = Object.entries(toObject(annotations.value)).map(([key, value]) => [key, toText(value)] as const);
  const names = new Set(listContainers({ path: '', value: spec }).map((container) => toText(readPath(container.value, 'name'))));
  const ofPod = entries.filter(([key]) => key === SECCOMP_POD);
  const ofContainers = entries.filter(([key]) => key.startsWith(SECCOMP_PREFIX));
  return [
    ...[...ofPod, ...ofContainers].flatMap(([key, profile]) => checkSeccomp(`${annotations.path}.${key}`, profile)),
    ...entries.filter(([key]) => key.startsWith(APP_ARMOR_PREFIX)).flatMap(([key, profile]) => {
      const [path, name] = [`${annotations.path}[${key}]`, key.slice(APP_ARMOR_PREFIX.length)];
      const isKnown = appArmorNames.includes(profile) || profile.startsWith(LOCALHOST_PREFIX);
      return [
        ...(names.has(name) ? [] : [invalidValue(path, name, 'container not found')]),
        ...(isKnown ? [] : [invalidValue(path, profile, `invalid AppArmor profile name: ${JSON.stringify(profile)}`)]),
      ];
    }),
  ];
}

/** Whether an annotation and a field name one profile; `names` are the annotation's names of the runtime's own. */
function checkSame(annotation: string, profile: Field, { what, names }: { readonly what: string; readonly names: readonly string[] }): Errors {
  const type = readPath(profile.value, 'type');
  const differs = (member: string, of: string): Errors => [forbiddenField(`${profile.path}.${member}`, `${what} ${of} in annotation and field must match`)];
  if (type === 'Unconfined') return annotation === 'unconfined' ? [] : differs('type', 'type');
  if (type === 'RuntimeDefault') return names.includes(annotation) ? [] : differs('type', 'type');
  if (type !== 'Localhost') return [];
  if (!annotation.startsWith(LOCALHOST_PREFIX)) return differs('type', 'type');
  return annotation.slice(LOCALHOST_PREFIX.length) === readPath(profile.value, 'localhostProfile') ? [] : differs('localhostProfile', 'profile');
}

const seccomp = { what: 'seccomp', names: ['runtime/default', 'docker/default'] };
const appArmor = { what: 'apparmor', names: ['runtime/default'] };

/** Problems of profiles that a new pod or a template names twice and not alike. */
export function checkProfilesMatch(annotations: Readonly<Record<string, unknown>> | undefined, spec: Field): Errors {
  if (annotations === undefined) return [];
  const compare = (key: string, profile: Field, rule: typeof seccomp): Errors => {
    const annotation = annotations[key];
    return profile.value === undefined || annotation === undefined ? [] : checkSame(toText(annotation), profile, rule);
  };
  const ofPod = at(spec, 'securityContext', 'appArmorProfile');
  const containers = listContainers(spec).map((container) => ({ name: toText(readPath(container.value, 'name')), context: at(container, 'securityContext') }));
  const isWindows = readPath(spec.value, 'os', 'name') === 'windows';
  return [
    ...compare(SECCOMP_POD, at(spec, 'securityContext', 'seccompProfile'), seccomp),
    ...containers.flatMap(({ name, context }) => compare(`${SECCOMP_PREFIX}${name}`, at(context, 'seccompProfile'), seccomp)),
    ...(isWindows ? [] : containers.flatMap(({ name, context }) => {
      const own = at(context, 'appArmorProfile');
      return compare(`${APP_ARMOR_PREFIX}${name}`, { path: own.path, value: own.value ?? ofPod.value }, appArmor);
    })),
  ];
}
