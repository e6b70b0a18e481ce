// AlwaysPullImages: every image is pulled with the credentials of its pod, so that no pod uses an image that another one pulled.
import { type FieldError, StatusError, forbidden, notSupported } from '../../../apimachinery/index.ts';
import { type AdmissionAttributes, groupResource } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { writes } from '../../refusal.ts';
import { containersOf, podSpecOf } from './pod.ts';

const ALWAYS = 'Always';

/** Updates that bring no new image pass. */
function bringsImages({ operation, object, oldObject }: AdmissionAttributes): boolean {
  if (operation !== 'UPDATE') return true;
  const before = new Set(containersOf(podSpecOf(oldObject)).map(({ container }) => container.image));
  return containersOf(podSpecOf(object)).some(({ container }) => !before.has(container.image));
}

function findProblems({ object }: AdmissionAttributes): FieldError[] {
  const spec = podSpecOf(object);
  const images = (spec.volumes ?? []).map(({ image }, index) => ({ path: `spec.volumes[${index}].image.pullPolicy`,
    policy: image === undefined ? ALWAYS : image.pullPolicy }));
  const containers = containersOf(spec).map(({ path, container }) => ({ path: `${path}.imagePullPolicy`, policy: container.imagePullPolicy }));
  return [...containers, ...images].filter(({ policy }) => policy !== ALWAYS).map(({ path, policy }) => notSupported(path, policy ?? '', [ALWAYS]));
}

/** Several refusals in one, as Go joins them. */
function refuseAll({ resource, name }: AdmissionAttributes, errors: readonly FieldError[]): StatusError {
  const texts = errors.map(({ field, message }) => forbidden(groupResource(resource), name, `${field}: ${message}`).message);
  const first = forbidden(groupResource(resource), name, '');
  return new StatusError({ ...first.status, message: texts.length === 1 ? texts[0] as string : `[${texts.join(', ')}]` });
}

/** Makes the plugin. */
export function createAlwaysPullImages(): AdmissionPlugin {
  return {
    name: 'AlwaysPullImages',
    handles: (attributes) => writes(attributes, '/pods', ['CREATE', 'UPDATE']) && bringsImages(attributes),
    mutate({ object }) {
      const spec = podSpecOf(object);
      for (const list of ['initContainers', 'containers', 'ephemeralContainers'] as const) {
        const containers = spec[list];
        if (containers) spec[list] = containers.map((container) => ({ ...container, imagePullPolicy: ALWAYS }));
      }
      const { volumes } = spec;
      if (volumes) spec.volumes = volumes.map((each) => (each.image === undefined ? each : { ...each, image: { ...each.image, pullPolicy: ALWAYS } }));
    },
    validate(attributes) {
      const errors = findProblems(attributes);
      if (errors.length > 0) throw refuseAll(attributes, errors);
    },
  };
}
