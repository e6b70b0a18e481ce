// How the two kinds die that do not simply go: pods with grace, namespaces in a phase. A row's strategy wins over these defaults.
// Mirrors CheckGracefulDelete of pods and the Delete of namespaces.
import type { KubeObject } from '../apimachinery/index.ts';
import type { Resource, Strategy } from './resource.ts';

/** The functions of a strategy that deletion asks for. */
export type Dying = Pick<Strategy, 'gracePeriodSeconds' | 'terminate' | 'holdsDeletion'>;

type Members = Readonly<Record<string, unknown>>;

function member(object: KubeObject, name: string): Members {
  const value = object[name];
  return typeof value === 'object' && value !== null ? (value as Members) : {};
}

const pod: Dying = {
  gracePeriodSeconds(object, requested) {
    const { nodeName, terminationGracePeriodSeconds } = member(object, 'spec');
    const { phase } = member(object, 'status');
    if (!nodeName || phase === 'Succeeded' || phase === 'Failed') return 0;
    const seconds = requested ?? (typeof terminationGracePeriodSeconds === 'number' ? terminationGracePeriodSeconds : 0);
    return seconds < 0 ? 1 : seconds;
  },
};

const namespace: Dying = {
  terminate(object) {
    object['status'] = { ...member(object, 'status'), phase: 'Terminating' };
  },
  holdsDeletion(object) {
    const { finalizers } = member(object, 'spec');
    return Array.isArray(finalizers) && finalizers.length > 0;
  },
};

const none: Dying = {};

/** How objects of a row die. */
export function dyingOf(resource: Resource): Dying {
  const { strategy } = resource;
  if (strategy.gracePeriodSeconds !== undefined || strategy.terminate !== undefined || strategy.holdsDeletion !== undefined) return strategy;
  if (resource.custom || resource.group !== '') return none;
  return resource.kind === 'Pod' ? pod : resource.kind === 'Namespace' ? namespace : none;
}
