// Takes the protection finalizers away from claims, volumes and classes of volume attributes that are deleted, as soon as nothing uses them. Admission
// (StorageObjectInUseProtection) gives them out. Mirrors kube-controller-manager's controllers; both may run at the same time. Users of objects are
// followed only while a deleted object waits.
import type { KubeObject } from '../../apimachinery/index.ts';
import { type Reflector, type StoredObject, type SystemClient, WorkQueue, createSystemClient, startReflector } from '../../registry/index.ts';
import type { Controller, ControllerContext } from '../context.ts';

type RowName = readonly [group: string, version: string, plural: string];

/** Objects of other rows that use protected ones. */
interface Users {
  readonly row: RowName;
  /** The keys of the protected objects that an object uses. */
  readonly uses: (object: KubeObject) => readonly string[];
}

interface Protection {
  readonly controller: string;
  readonly row: RowName;
  readonly finalizer: string;
  readonly users: readonly Users[];
  /** Whether an object says itself that it is in use. */
  readonly isBusy: (object: KubeObject) => boolean;
}

interface PodSpec {
  readonly nodeName?: string;
  readonly volumes?: readonly { readonly name: string; readonly persistentVolumeClaim?: { readonly claimName: string }; readonly ephemeral?: object }[];
}

interface AttributesSpec {
  readonly volumeAttributesClassName?: string;
}

interface ClaimStatus {
  readonly phase?: string;
  readonly currentVolumeAttributesClassName?: string;
  readonly modifyVolumeStatus?: { readonly targetVolumeAttributesClassName?: string };
}

const keyOf = (namespace: string, name: string): string => `${namespace}/${name}`;
const part = <T>(object: KubeObject, field: 'spec' | 'status'): Partial<T> => (object[field] ?? {}) as Partial<T>;

/** The claims of a pod that a kubelet may have mounted. */
function claimsOf(pod: KubeObject): readonly string[] {
  const { nodeName = '', volumes = [] } = part<PodSpec>(pod, 'spec');
  if (nodeName === '') return [];
  const { namespace = '', name = '', deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const isShutDown = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  const claims = volumes.flatMap(({ name: volume, persistentVolumeClaim: claim, ephemeral }) =>
    [...(claim === undefined ? [] : [claim.claimName]), ...(ephemeral === undefined || isShutDown ? [] : [`${name}-${volume}`])]);
  return claims.map((claim) => keyOf(namespace, claim));
}

function attributesClassesOf(object: KubeObject): readonly string[] {
  const { volumeAttributesClassName } = part<AttributesSpec>(object, 'spec');
  const { currentVolumeAttributesClassName: current, modifyVolumeStatus } = part<ClaimStatus>(object, 'status');
  return [volumeAttributesClassName, current, modifyVolumeStatus?.targetVolumeAttributesClassName].flatMap((name) => (name ? [keyOf('', name)] : []));
}

const claimRow: RowName = ['', 'v1', 'persistentvolumeclaims'];
const volumeRow: RowName = ['', 'v1', 'persistentvolumes'];
const never = (): boolean => false;

const protections = {
  'pvc-protection': {
    controller: 'pvc-protection', row: claimRow, finalizer: 'kubernetes.io/pvc-protection', isBusy: never,
    users: [{ row: ['', 'v1', 'pods'], uses: claimsOf }],
  },
  'pv-protection': {
    controller: 'pv-protection', row: volumeRow, finalizer: 'kubernetes.io/pv-protection', users: [],
    isBusy: (volume) => part<ClaimStatus>(volume, 'status').phase === 'Bound',
  },
  'vac-protection': {
    controller: 'vac-protection', row: ['storage.k8s.io', 'v1', 'volumeattributesclasses'], finalizer: 'kubernetes.io/vac-protection', isBusy: never,
    users: [{ row: claimRow, uses: attributesClassesOf }, { row: volumeRow, uses: attributesClassesOf }],
  },
} as const satisfies Record<string, Protection>;

/** The names of the controllers. */
export const protectionNames = Object.keys(protections) as (keyof typeof protections)[];

/** Which protected objects are in use, known from watches of their users. */
class Usage {
  readonly #reflectors: readonly Reflector[];
  /** What each user uses, by row and key. */
  readonly #uses = new Map<string, readonly string[]>();
  readonly #counts = new Map<string, number>();
  readonly #onFree: (key: string) => void;

  constructor(context: ControllerContext, { controller, users }: Protection, onFree: (key: string) => void) {
    this.#onFree = onFree;
    this.#reflectors = users.map(({ row, uses }) => startReflector({
      registry: context.registry, clock: context.clock, target: createSystemClient(context, row, controller).target(''),
      onReset: () => this.#forget(row[2]),
      onChange: (type, user) => this.#note(`${row[2]}/${keyOf(user.namespace, user.name)}`, type === 'deleted' ? [] : uses(user.object(row[1]))),
      onError: (error) => context.report(controller, row[2], error),
    }));
  }

  async isUsed(key: string): Promise<boolean> {
    await Promise.all(this.#reflectors.map(({ synced }) => synced));
    for (const reflector of this.#reflectors) reflector.catchUp();
    return this.#counts.has(key);
  }

  stop(): void {
    for (const reflector of this.#reflectors) reflector.stop();
  }

  #forget(plural: string): void {
    for (const user of this.#uses.keys()) if (user.startsWith(`${plural}/`)) this.#note(user, []);
  }

  #note(user: string, uses: readonly string[]): void {
    const before = this.#uses.get(user) ?? [];
    for (const key of uses) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    if (uses.length === 0) this.#uses.delete(user);
    else this.#uses.set(user, uses);
    for (const key of before) {
      const left = (this.#counts.get(key) ?? 1) - 1;
      if (left > 0) this.#counts.set(key, left);
      else if (this.#counts.delete(key)) this.#onFree(key);
    }
  }
}

/** Starts one of them. */
export function createProtection(context: ControllerContext, name: keyof typeof protections): Controller {
  const protection: Protection = protections[name];
  const { controller, row, finalizer, isBusy } = protection;
  const client: SystemClient = createSystemClient(context, row, controller);
  const waits = ({ metadata }: KubeObject): boolean => metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer);
  const waiting = new Set<string>();
  let usage: Usage | undefined;
  const forget = (key: string): void => {
    waiting.delete(key);
    if (waiting.size > 0) return;
    usage?.stop();
    usage = undefined;
  };
  const queue = new WorkQueue({
    clock: context.clock, concurrency: 4, onError: (key, error) => context.report(controller, key, error),
    async work(key) {
      const slash = key.indexOf('/');
      const at = { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
      const known = (usage ??= new Usage(context, protection, (free) => void (waiting.has(free) && queue.add(free))));
      if (await known.isUsed(key)) return;
      // Stopped meanwhile, since nothing was left to wait for.
      if (usage !== known) return waiting.has(key) ? queue.add(key) : undefined;
      const written = await client.update(at, '', (current) => (waits(current) && !isBusy(current) ? withoutFinalizer(current, finalizer) : current));
      if (written === undefined || !waits(written.object(row[1]))) forget(key);
    },
  });
  const onChange = (type: 'present' | 'deleted', stored: StoredObject): void => {
    const key = keyOf(stored.namespace, stored.name);
    if (type === 'deleted' || !waits(stored.object(row[1]))) return waiting.has(key) ? forget(key) : undefined;
    waiting.add(key);
    queue.add(key);
  };
  const reflector = startReflector({
    registry: context.registry, clock: context.clock, target: client.target(''), onChange, onError: (error) => context.report(controller, '', error),
  });
  return {
    ready: () => reflector.synced,
    async stop() {
      reflector.stop();
      await queue.stop();
      usage?.stop();
    },
  };
}

const withoutFinalizer = (object: KubeObject, finalizer: string): KubeObject =>
  ({ ...object, metadata: { ...object.metadata, finalizers: (object.metadata.finalizers ?? []).filter((one) => one !== finalizer) } });
