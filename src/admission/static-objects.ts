// Webhooks and policies that come from files: they are in force before those of the API, and they alone see requests about the objects that
// configure admission, since no client can change them.
import { type KubeObject, invalid, invalidValue } from '../apimachinery/index.ts';
import type { AdmissionPlugin } from './chain.ts';

/** Hands over the static objects of a plugin, and again whenever they change; answers the function that ends it. Rejects where they cannot be used. */
export type FollowStatic = (plugin: string, use: (objects: readonly KubeObject[]) => void) => Promise<() => void>;

/** The follower of a server without static objects. */
export const followNothing: FollowStatic = async () => () => undefined;

/** The feature gate without which there are no static objects, and their names are anybody's. */
export const STATIC_OBJECTS_GATE = 'ManifestBasedAdmissionControlConfig';
const SUFFIX = '.static.k8s.io';
const RESERVED = `names ending with "${SUFFIX}" are reserved for static manifest-based configurations and cannot be managed via the API`;

/** Keeps the names of static objects from clients: refuses them where static objects are switched on, else warns. */
export function createStaticNames(isReserved: boolean): AdmissionPlugin {
  return {
    name: 'StaticNames',
    handles: ({ resource, operation, subresource, object }) => resource.group === 'admissionregistration.k8s.io' && subresource === ''
      && (operation === 'CREATE' || operation === 'UPDATE') && object?.metadata.name?.endsWith(SUFFIX) === true,
    validate({ operation, resource: { group, kind }, object, context }) {
      const { name = '' } = (object as KubeObject).metadata;
      if (operation === 'CREATE' && isReserved) throw invalid({ group, kind }, name, [invalidValue('metadata.name', name, RESERVED)]);
      context.warnings.push(`metadata.name: ${RESERVED}`);
    },
  };
}
