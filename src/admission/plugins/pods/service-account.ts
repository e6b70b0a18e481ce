// ServiceAccount: every pod runs as a service account that exists, `default` unless it names one. Its containers get a token of that account where
// they look for it, and the account's pull secrets unless the pod brings its own. Accounts that say so limit their pods to the secrets they list.
import type { KubeObject } from '../../../apimachinery/index.ts';
import { type Clock, type Random, delay } from '../../../base/index.ts';
import { type AdmissionAttributes, generateName } from '../../../registry/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import { refuse } from '../../refusal.ts';

interface ServiceAccountOptions {
  /** The account as it is this moment. */
  readonly findAccount: (namespace: string, name: string) => Promise<KubeObject | undefined>;
  readonly clock: Clock;
  readonly random: Random;
}

interface NamedReference {
  readonly name?: string;
}
interface EnvironmentVariable extends NamedReference {
  readonly valueFrom?: { readonly secretKeyRef?: NamedReference };
}
interface Container extends NamedReference {
  volumeMounts?: { readonly name: string; readonly mountPath?: string; readonly readOnly?: boolean }[];
  readonly env?: readonly EnvironmentVariable[] | null;
  readonly envFrom?: readonly { readonly secretRef?: NamedReference }[] | null;
}
interface Volume extends NamedReference {
  readonly secret?: { readonly secretName?: string };
  readonly projected?: { readonly sources?: readonly { readonly secret?: NamedReference; readonly serviceAccountToken?: unknown }[] | null };
}
interface PodSpec {
  serviceAccountName?: string;
  serviceAccount?: string;
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: NamedReference[] | null;
  volumes?: Volume[] | null;
  containers?: Container[] | null;
  initContainers?: Container[] | null;
  ephemeralContainers?: Container[] | null;
}

const DEFAULT_NAME = 'default';
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount';
const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const ENFORCE_ANNOTATION = 'kubernetes.io/enforce-mountable-secrets';
const TOKEN_SECONDS = 3607;
/** The default account of a new namespace is made by a controller: it may be a moment late. */
const ATTEMPTS = 10;
const ATTEMPT_MS = 100;

const specOf = (pod: KubeObject | undefined): PodSpec => (pod?.['spec'] ?? {}) as PodSpec;
const isMirror = (pod: KubeObject): boolean => Object.hasOwn(pod.metadata.annotations ?? {}, MIRROR_ANNOTATION);

/** Makes the plugin. */
export function createServiceAccountAdmission(options: ServiceAccountOptions): AdmissionPlugin {
  return {
    name: 'ServiceAccount',
    handles({ operation, resource, subresource }) {
      if (resource.group !== '' || resource.plural !== 'pods') return false;
      return operation === 'CREATE' ? subresource === '' : operation === 'UPDATE' && subresource === 'ephemeralcontainers';
    },
    async mutate(attributes) {
      const { object, operation } = attributes;
      if (object === undefined || operation !== 'CREATE' || isMirror(object)) return;
      const spec = specOf(object);
      spec.serviceAccountName ||= DEFAULT_NAME;
      spec.serviceAccount = spec.serviceAccountName;
      const account = await requireAccount(attributes, spec.serviceAccountName, options);
      if (spec.automountServiceAccountToken ?? account['automountServiceAccountToken'] !== false) mountToken(spec, options.random);
      const pullSecrets = (account['imagePullSecrets'] ?? []) as NamedReference[];
      const bringsOwn = (spec.imagePullSecrets ?? []).length > 0;
      if (!bringsOwn && pullSecrets.length > 0) spec.imagePullSecrets = pullSecrets.map(({ name }) => ({ ...(name !== undefined && { name }) }));
    },
    async validate(attributes) {
      const { object, operation } = attributes;
      if (object === undefined) return;
      const spec = specOf(object);
      const problem = operation === 'CREATE' && isMirror(object) ? findMirrorProblem(spec) : await findForeignSecret(attributes, spec, options);
      if (problem !== undefined) throw refuse(attributes, problem);
    },
  };
}

async function requireAccount(attributes: AdmissionAttributes, name: string, { findAccount, clock }: ServiceAccountOptions): Promise<KubeObject> {
  for (let attempt = 1; ; attempt += 1) {
    const account = await findAccount(attributes.namespace, name);
    if (account !== undefined) return account;
    if (name !== DEFAULT_NAME || attempt >= ATTEMPTS) {
      throw refuse(attributes, `error looking up service account ${attributes.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`);
    }
    await delay(clock, ATTEMPT_MS);
  }
}

function mountToken(spec: PodSpec, random: Random): void {
  const taken = new Set((spec.volumes ?? []).map(({ name }) => name));
  let name = '';
  do name = generateName(random, 'kube-api-access-');
  while (taken.has(name));
  let mounted = false;
  for (const container of [...spec.initContainers ?? [], ...spec.containers ?? []]) {
    const mounts = container.volumeMounts ?? [];
    if (mounts.some((mount) => mount.mountPath === MOUNT_PATH)) continue;
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }];
    mounted = true;
  }
  if (mounted) spec.volumes = [...spec.volumes ?? [], makeTokenVolume(name)];
}

function makeTokenVolume(name: string): Volume {
  const sources = [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
  ];
  return { name, projected: { sources, defaultMode: 0o644 } } as Volume;
}

/** Mirror pods belong to their kubelet: they must not use what an account has. */
function findMirrorProblem(spec: PodSpec): string | undefined {
  if (spec.serviceAccountName) return 'a mirror pod may not reference service accounts';
  for (const [secret] of listSecrets(spec, listContainers(spec))) if (secret !== '') return 'a mirror pod may not reference secrets';
  const projected = (spec.volumes ?? []).flatMap((volume) => volume.projected?.sources ?? []);
  return projected.some((source) => source.serviceAccountToken) ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

type Containers = readonly (readonly [kind: string, containers: readonly Container[] | null | undefined])[];

const listContainers = (spec: PodSpec): Containers =>
  [['init container', spec.initContainers], ['container', spec.containers], ['ephemeral container', spec.ephemeralContainers]];

/** Every secret that volumes and containers name, with how a refusal calls the place. */
function listSecrets(spec: Pick<PodSpec, 'volumes'>, containers: Containers): (readonly [secret: string, place: string])[] {
  const found: (readonly [string, string])[] = [];
  const add = (place: string, secret: string | undefined): void => {
    if (secret !== undefined) found.push([secret, `${place} secret.secretName=${JSON.stringify(secret)}`]);
  };
  for (const { secret, projected } of spec.volumes ?? []) {
    add('volume with', secret?.secretName);
    for (const source of projected?.sources ?? []) add('volume with', source.secret?.name);
  }
  for (const [kind, list] of containers) {
    for (const container of list ?? []) {
      for (const { name: variable = '', valueFrom } of container.env ?? []) {
        add(`${kind} ${container.name ?? ''} with envVar ${variable} referencing`, valueFrom?.secretKeyRef?.name);
      }
      for (const { secretRef } of container.envFrom ?? []) add(`${kind} ${container.name ?? ''} with envFrom referencing`, secretRef?.name);
    }
  }
  return found;
}

/** The first reference to a secret that an account with the annotation does not list. */
async function findForeignSecret(attributes: AdmissionAttributes, spec: PodSpec, { findAccount }: ServiceAccountOptions): Promise<string | undefined> {
  const account = await findAccount(attributes.namespace, spec.serviceAccountName ?? '');
  if (account?.metadata.annotations?.[ENFORCE_ANNOTATION]?.toLowerCase() !== 'true') return undefined;
  const listed = (name: string) => new Set(((account[name] ?? []) as NamedReference[]).map((one) => one.name));
  const [secrets, pullSecrets] = [listed('secrets'), listed('imagePullSecrets')];
  const whose = `is not allowed because service account ${spec.serviceAccountName ?? ''} does not reference that`;
  // Only the debugging containers of a pod change later; the rest was checked when it was made.
  const references = attributes.operation === 'CREATE' ? listSecrets(spec, listContainers(spec))
    : listSecrets({}, [['ephemeral container', spec.ephemeralContainers]]);
  const foreign = references.find(([name]) => !secrets.has(name));
  if (foreign !== undefined) return `${foreign[1]} ${whose} secret`;
  if (attributes.operation !== 'CREATE') return undefined;
  const index = (spec.imagePullSecrets ?? []).findIndex(({ name }) => !pullSecrets.has(name));
  return index === -1 ? undefined : `imagePullSecrets[${index}].name=${JSON.stringify(spec.imagePullSecrets?.[index]?.name ?? '')} ${whose} imagePullSecret`;
}
