// PodResizeValidator: a pod on a node is resized only where the node exists, runs Linux and could hold the pod at all.
import { type Quantity, StatusError, compareQuantities, equalJson, parseQuantity } from '../../../apimachinery/index.ts';
import type { AdmissionPlugin } from '../../chain.ts';
import type { AdmissionAttributes } from '../../../registry/index.ts';
import { readAmounts } from '../../quota/amounts.ts';
import { sumPod } from '../../quota/pods.ts';
import type { RowReads } from '../../reads.ts';
import { refuse } from '../../refusal.ts';
import { podSpecOf } from './pod.ts';

const OS_LABEL = 'kubernetes.io/os';
const none = parseQuantity('0');

/** A refusal with the cause that kubelets and autoscalers read. */
function refuseWith(attributes: AdmissionAttributes, why: string, cause: string): StatusError {
  const { status } = refuse(attributes, why);
  return new StatusError({ ...status, details: { ...status.details, causes: [{ reason: cause }] } } as typeof status);
}

/** A whole number, rounded up as Go's MilliValue and Value do. */
function roundUp({ mantissa, exponent }: Quantity, scale = 1n): bigint {
  const scaled = mantissa * scale;
  if (exponent >= 0) return scaled * 10n ** BigInt(exponent);
  const unit = 10n ** BigInt(-exponent);
  return (scaled + unit - 1n) / unit;
}

/** Makes the plugin over reads of nodes. */
export function createPodResizeValidator(nodes: RowReads): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    handles: ({ operation, resource, subresource }) => operation === 'UPDATE' && subresource === 'resize' && resource.group === ''
      && resource.plural === 'pods',
    async validate(attributes) {
      const { object, oldObject } = attributes;
      const { nodeName } = podSpecOf(object);
      if (!nodeName || equalJson(object?.['spec'], oldObject?.['spec'])) return;
      const node = await nodes.find(nodeName);
      if (node === undefined) throw refuse(attributes, `node "${nodeName}" not found`);
      const system = node.metadata.labels?.[OS_LABEL] ?? 'linux';
      if (system !== 'linux') {
        throw refuseWith(attributes, `pod resize is only supported on linux nodes, node "${nodeName}" is "${system}"`, 'UnsupportedPlatform');
      }
      const requests = sumPod((object?.['spec'] ?? {}) as Parameters<typeof sumPod>[0], 'requests');
      const room = readAmounts(((node['status'] ?? {}) as { readonly allocatable?: object }).allocatable);
      const lacking = (['cpu', 'memory'] as const).flatMap((name) => {
        const [wanted, allocatable] = [requests.get(name) ?? none, room.get(name) ?? none];
        const show = (quantity: Quantity): bigint => roundUp(quantity, name === 'cpu' ? 1000n : 1n);
        return compareQuantities(wanted, allocatable) <= 0 ? [] : [`${name}, requested: ${show(wanted)}, allocatable: ${show(allocatable)}`];
      });
      if (lacking.length > 0) throw refuseWith(attributes, `node didn't have enough allocatable resources: ${lacking.join('; ')}`, 'NodeCapacity');
    },
  };
}
