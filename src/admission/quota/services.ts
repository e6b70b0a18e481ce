// What a Service counts for in a quota: itself, its node ports and its load balancer.
import type { KubeObject } from '../../apimachinery/index.ts';
import { none, oneAmount, countOf } from './amounts.ts';
import type { Evaluator } from './evaluator.ts';

interface ServiceSpec {
  readonly type?: string;
  readonly ports?: readonly { readonly nodePort?: number }[];
  readonly allocateLoadBalancerNodePorts?: boolean;
}

const names: ReadonlySet<string> = new Set(['count/services', 'services', 'services.nodeports', 'services.loadbalancers']);

function countNodePorts({ type, ports = [], allocateLoadBalancerNodePorts }: ServiceSpec): number {
  if (type === 'LoadBalancer' && allocateLoadBalancerNodePorts === false) return ports.filter(({ nodePort }) => (nodePort ?? 0) !== 0).length;
  return type === 'NodePort' || type === 'LoadBalancer' ? ports.length : 0;
}

/** The evaluator of Services. */
export const serviceEvaluator: Evaluator = {
  handles: ({ operation, subresource }) => subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'),
  matches: (name) => names.has(name),
  matchesScope: () => false,
  check: () => undefined,
  usage(service: KubeObject) {
    const spec = (service['spec'] ?? {}) as ServiceSpec;
    return new Map([
      ['count/services', oneAmount], ['services', oneAmount], ['services.nodeports', countOf(countNodePorts(spec))],
      ['services.loadbalancers', spec.type === 'LoadBalancer' ? oneAmount : none],
    ]);
  },
};
