// Tokens that a kubelet asks for: of service accounts of pods that run on its node, for audiences that volumes of the pod ask for. A part of
// NodeRestriction (its ServiceAccountNodeAudienceRestriction included), in its words.
import { type KubeObject, notFound } from '../../../apimachinery/index.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import type { ReadsOf } from '../../reads.ts';
import { refuse } from '../../refusal.ts';

/** Whether a kubelet may ask for tokens of a service account for an audience that its pods do not mention. */
export type AskAudience = (user: AdmissionAttributes['context']['user'], token: {
  readonly audience: string; readonly namespace: string; readonly name: string;
}) => Promise<boolean>;

interface TokenCase {
  readonly attributes: AdmissionAttributes;
  /** The node that asks. */
  readonly node: string;
  readonly readsOf: ReadsOf;
  /** Absent where kubelets may ask for any audience. */
  readonly askAudience?: AskAudience | undefined;
}

interface TokenSpec {
  readonly audiences?: readonly string[] | null;
  readonly boundObjectRef?: { readonly apiVersion?: string; readonly kind?: string; readonly name?: string; readonly uid?: string } | null;
}

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? value as Fields : {});
const specOf = (object: KubeObject | undefined): Fields => fieldsOf(object?.['spec']);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const itemsOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** The CSI drivers that serve the sources of volumes that were once built in. */
const migrated: ReadonlyMap<string, string> = new Map([
  ['awsElasticBlockStore', 'ebs.csi.aws.com'], ['gcePersistentDisk', 'pd.csi.storage.gke.io'], ['azureDisk', 'disk.csi.azure.com'],
  ['azureFile', 'file.csi.azure.com'], ['cinder', 'cinder.csi.openstack.org'], ['vsphereVolume', 'csi.vsphere.vmware.com'],
  ['portworxVolume', 'pxd.portworx.com'],
]);
const findMigrated = (source: Fields): string => [...migrated].find(([field]) => source[field] !== undefined)?.[1] ?? '';

/** Refuses a request for a token that the kubelet has no use for. */
export async function checkNodeToken(one: TokenCase): Promise<void> {
  const { attributes, node, readsOf, askAudience } = one;
  if (attributes.operation !== 'CREATE') return;
  const { namespace, name, object, context: { user } } = attributes;
  const { audiences, boundObjectRef } = specOf(object) as TokenSpec;
  const { apiVersion, kind, name: podName = '', uid } = boundObjectRef ?? {};
  if (apiVersion !== 'v1' || kind !== 'Pod' || podName === '') throw refuse(attributes, 'node requested token not bound to a pod');
  if (!uid) throw refuse(attributes, 'node requested token with a pod binding without a uid');
  const pod = await readsOf('', 'pods').find(podName, namespace);
  if (pod === undefined) throw notFound({ group: '', resource: 'pods' }, podName);
  if (pod.metadata.uid !== uid) {
    const why = 'does not match the UID in record. The object might have been deleted and then recreated';
    throw refuse(attributes, `the UID in the bound object reference (${uid}) ${why}`);
  }
  if (specOf(pod)['nodeName'] !== node) throw refuse(attributes, 'node requested token bound to a pod scheduled on a different node');
  if (askAudience === undefined) return;
  if ((audiences?.length ?? 0) > 1) throw refuse(attributes, 'node may only request 0 or 1 audiences');
  const audience = audiences?.[0] ?? '';
  const { isFound, problems } = await findAudience(pod, audience, readsOf);
  if (isFound) return;
  const quoted = JSON.stringify(audience);
  if (problems.length > 0) throw refuse(attributes, `error validating audience ${quoted}: ${problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`}`);
  if (await askAudience(user, { audience, namespace, name })) return;
  throw refuse(attributes, `audience ${quoted} not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`);
}

/** Whether a volume of the pod asks for the audience, and what could not be found on the way. */
async function findAudience(pod: KubeObject, audience: string, readsOf: ReadsOf): Promise<{ isFound: boolean; problems: string[] }> {
  const problems = new Set<string>();
  for (const volume of itemsOf(specOf(pod)['volumes'])) {
    const tokens = itemsOf(fieldsOf(volume['projected'])['sources']).map(({ serviceAccountToken }) => serviceAccountToken);
    if (tokens.some((token) => token !== undefined && textOf(fieldsOf(token)['audience']) === audience)) return { isFound: true, problems: [] };
    try {
      const name = await findDriver(pod, volume, readsOf);
      if (name === '') continue;
      const driver = await findExisting(readsOf, ['storage.k8s.io', 'csidrivers', 'csidriver.storage.k8s.io'], { name });
      if (itemsOf(specOf(driver)['tokenRequests']).some((request) => textOf(request['audience']) === audience)) return { isFound: true, problems: [] };
    } catch (error) {
      if (!(error instanceof AbsentObject)) throw error;
      problems.add(error.message);
    }
  }
  return { isFound: false, problems: [...problems] };
}

/** The CSI driver of a volume: its own, or the one of the persistent volume behind its claim; '' where there is none. */
async function findDriver(pod: KubeObject, volume: Fields, readsOf: ReadsOf): Promise<string> {
  const { ephemeral, persistentVolumeClaim, csi } = volume;
  const claim = fieldsOf(ephemeral)['volumeClaimTemplate'] !== undefined ? `${pod.metadata.name ?? ''}-${textOf(volume['name'])}`
    : textOf(fieldsOf(persistentVolumeClaim)['claimName']);
  if (claim === '') return csi === undefined ? findMigrated(volume) : textOf(fieldsOf(csi)['driver']);
  const found = await findExisting(readsOf, ['', 'persistentvolumeclaims', 'persistentvolumeclaim'], { name: claim, namespace: pod.metadata.namespace ?? '' });
  const bound = await findExisting(readsOf, ['', 'persistentvolumes', 'persistentvolume'], { name: textOf(specOf(found)['volumeName']) });
  const source = specOf(bound);
  return source['csi'] === undefined ? findMigrated(source) : textOf(fieldsOf(source['csi'])['driver']);
}

/** An object that a volume leads to and that is not there. */
class AbsentObject extends Error {}

async function findExisting(
  readsOf: ReadsOf, [group, plural, shown]: readonly [string, string, string], { name, namespace = '' }: { name: string; namespace?: string },
): Promise<KubeObject> {
  const found = await readsOf(group, plural).find(name, namespace);
  if (found === undefined) throw new AbsentObject(`${shown} ${JSON.stringify(name)} not found`);
  return found;
}
