// DefaultTolerationSeconds: pods stay five minutes on a node that is not ready or out of reach, unless they say what to do then.
// TaintNodesByCondition: nodes begin as not ready, so that nothing is put on them before they report.
import type { AdmissionPlugin } from '../../chain.ts';
import { writes } from '../../refusal.ts';

interface Toleration {
  readonly key?: string;
  readonly effect?: string;
  readonly operator?: string;
  readonly tolerationSeconds?: number;
}
interface Taint {
  readonly key: string;
  readonly effect: string;
}

const NOT_READY = 'node.kubernetes.io/not-ready';
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const DEFAULT_SECONDS = 300;

/** Seconds that pods stay on a node that is not ready or out of reach. */
export interface TolerationSeconds {
  readonly notReady?: number;
  readonly unreachable?: number;
}

const tolerates = (key: string) => (toleration: Toleration): boolean =>
  (!toleration.key || toleration.key === key) && (!toleration.effect || toleration.effect === 'NoExecute');

/** Makes DefaultTolerationSeconds; five minutes unless other times are given. */
export function createDefaultTolerationSeconds(given: TolerationSeconds = {}): AdmissionPlugin {
  const seconds = new Map([[NOT_READY, given.notReady ?? DEFAULT_SECONDS], [UNREACHABLE, given.unreachable ?? DEFAULT_SECONDS]]);
  return {
    name: 'DefaultTolerationSeconds',
    handles: (attributes) => writes(attributes, '/pods', ['CREATE', 'UPDATE']),
    mutate({ object }) {
      const spec = (object?.['spec'] ?? {}) as { tolerations?: Toleration[] | null };
      const own = spec.tolerations ?? [];
      const missing = [...seconds].filter(([key]) => !own.some(tolerates(key)));
      if (missing.length === 0) return;
      const added = missing.map(([key, tolerationSeconds]) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }));
      spec.tolerations = [...own, ...added];
    },
  };
}

/** Makes TaintNodesByCondition. */
export function createTaintNodesByCondition(): AdmissionPlugin {
  return {
    name: 'TaintNodesByCondition',
    handles: (attributes) => writes(attributes, '/nodes'),
    mutate({ object }) {
      if (object === undefined) return;
      const spec = (object['spec'] ??= {}) as { taints?: Taint[] | null };
      const taints = spec.taints ?? [];
      if (!taints.some(({ key, effect }) => key === NOT_READY && effect === 'NoSchedule')) spec.taints = [...taints, { key: NOT_READY, effect: 'NoSchedule' }];
    },
  };
}
