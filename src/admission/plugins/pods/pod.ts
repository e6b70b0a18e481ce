// What plugins read and change of pods.
import type { KubeObject } from '../../../apimachinery/index.ts';

/** A toleration, as far as plugins compare it. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

/** What a container, or a pod as a whole, asks for. */
export interface PodResources {
  requests?: Record<string, string>;
  limits?: Record<string, string>;
}

/** A container of any list. */
export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  resources?: PodResources;
  restartPolicy?: string;
}

/** The spec of a pod. */
export interface PodSpec {
  containers?: Container[];
  initContainers?: Container[];
  ephemeralContainers?: Container[];
  volumes?: { name: string; image?: { pullPolicy?: string } }[];
  nodeName?: string;
  resources?: PodResources;
  nodeSelector?: Record<string, string>;
  tolerations?: Toleration[];
  affinity?: { podAntiAffinity?: { requiredDuringSchedulingIgnoredDuringExecution?: { topologyKey?: string }[] } };
}

/** The spec of a pod; an empty one where it has none. */
export const podSpecOf = (object: KubeObject | undefined): PodSpec => (object?.['spec'] ?? {}) as PodSpec;

/** All containers with the path of each, in the order in which the reference visits them. */
export const containersOf = ({ initContainers, containers, ephemeralContainers }: PodSpec): { readonly path: string; readonly container: Container }[] =>
  Object.entries({ initContainers, containers, ephemeralContainers }).flatMap(([list, items]) =>
    (items ?? []).map((container, index) => ({ path: `spec.${list}[${index}]`, container })));
