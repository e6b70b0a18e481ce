// The AppArmor annotations of releases before 1.30: the profile of a container that has no field of its own. New pods get the field from the
// annotation; templates keep the annotation and have a warning (upstream's applyAppArmorVersionSkew).
import { type JsonObject, type KubeObject, equalJson } from '../../../apimachinery/index.ts';
import { ensureStruct, readStructs } from '../../common/defaults.ts';
import { type Field, at, each } from '../../common/validation/check.ts';
import { readPath, toText } from '../../common/values.ts';
import { APP_ARMOR_PREFIX } from './profile-annotations.ts';
import { checkAppArmor } from './validation/security.ts';

const LOCALHOST_PREFIX = 'localhost/';
const containerLists = ['initContainers', 'containers', 'ephemeralContainers'];

const formatWarning = (annotations: string, key: string): string => `${annotations}[${key}]: deprecated since v1.30; use the "appArmorProfile" field instead`;

/** The profile that an annotation names; undefined when it names none that is valid. */
function readProfile(annotation: string): JsonObject | undefined {
  if (annotation === 'unconfined') return { type: 'Unconfined' };
  if (annotation === 'runtime/default') return { type: 'RuntimeDefault' };
  if (!annotation.startsWith(LOCALHOST_PREFIX)) return undefined;
  const profile = { type: 'Localhost', localhostProfile: annotation.slice(LOCALHOST_PREFIX.length) };
  return checkAppArmor({ path: '', value: profile }).length > 0 ? undefined : profile;
}

/** Sets the profiles of containers from the annotations of a new pod, where the pod has another profile or none. */
export function applyAppArmorAnnotations(pod: KubeObject, warn: (text: string) => void): void {
  if (readPath(pod, 'spec', 'os', 'name') === 'windows') return;
  for (const container of containerLists.flatMap((list) => readStructs(pod['spec'], list))) {
    const key = `${APP_ARMOR_PREFIX}${toText(container['name'])}`;
    const annotation = readPath(pod.metadata.annotations, key);
    if (annotation === undefined || readPath(container, 'securityContext', 'appArmorProfile') !== undefined) continue;
    const profile = readProfile(toText(annotation));
    if (profile !== undefined && equalJson(profile, readPath(pod, 'spec', 'securityContext', 'appArmorProfile'))) continue;
    if (profile !== undefined) ensureStruct(container, 'securityContext')['appArmorProfile'] = profile;
    warn(formatWarning('metadata.annotations', key));
  }
}

/** Warns of annotations of a template whose containers have no profile in a field. */
export function warnOfAppArmor(template: Field): readonly string[] {
  const spec = at(template, 'spec');
  if (at(spec, 'securityContext', 'appArmorProfile').value !== undefined) return [];
  return containerLists.flatMap((list) => each(at(spec, list))).flatMap((container) => {
    const key = `${APP_ARMOR_PREFIX}${toText(readPath(container.value, 'name'))}`;
    const isBare = at(container, 'securityContext', 'appArmorProfile').value === undefined;
    const annotations = at(template, 'metadata', 'annotations');
    return isBare && readPath(annotations.value, key) !== undefined ? [formatWarning(annotations.path, key)] : [];
  });
}
