// The ServiceCIDR `kubernetes`, which names the ranges that the server was started with. Mirrors the reference: it is made when it is absent, gets the
// second family when the server has one more than it names, and is ready as soon as it names the ranges that are served; other differences stay.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import { WorkQueue, createSystemClient, formatTime } from '../../registry/index.ts';
import { type Controller, type ControllerContext, createReadiness } from '../context.ts';

const NAME = 'kubernetes';
const EVERY_MS = 10_000;

const cidrsOf = (serviceCidr: KubeObject): readonly string[] => ((serviceCidr['spec'] ?? {}) as { cidrs?: readonly string[] }).cidrs ?? [];

/** The object with a second family, or as it is. */
function addFamily(serviceCidr: KubeObject, ranges: readonly string[]): KubeObject {
  const cidrs = cidrsOf(serviceCidr);
  if (ranges.length !== 2 || cidrs.length !== 1 || cidrs[0] !== ranges[0]) return serviceCidr;
  return { ...serviceCidr, spec: { cidrs: [...ranges] } };
}

/** The condition of an object that names the ranges that are served; a verdict of another controller stays. */
function stateReady(serviceCidr: KubeObject, ranges: readonly string[], nowMs: number): JsonObject | undefined {
  const cidrs = cidrsOf(serviceCidr);
  const { conditions } = (serviceCidr['status'] ?? {}) as { conditions?: readonly JsonObject[] };
  const known = conditions?.find(({ type }) => type === 'Ready');
  const isEvaluated = known !== undefined && known['status'] !== 'Unknown';
  if (isEvaluated || serviceCidr.metadata.deletionTimestamp !== undefined) return undefined;
  if (cidrs.length !== ranges.length || cidrs.some((cidr, index) => cidr !== ranges[index])) return undefined;
  const ready = { type: 'Ready', status: 'True', lastTransitionTime: formatTime(nowMs), message: 'Kubernetes default Service CIDR is ready' };
  return { status: { conditions: [ready] } };
}

/** Starts at once and looks again every ten seconds. */
export function createDefaultServiceCidr(context: ControllerContext, ranges: readonly string[]): Controller {
  const row = ['networking.k8s.io', 'v1', 'servicecidrs'] as const;
  const client = createSystemClient(context, row, 'kube-apiserver');
  const statusClient = createSystemClient(context, row, 'kubernetes-service-cidr-controller');
  const { ready, mark } = createReadiness([NAME]);
  const place = { namespace: '', name: NAME };
  const queue = new WorkQueue({
    observer: context.observeQueue?.('default_service_cidr'),
    clock: context.clock,
    concurrency: 1,
    onError: (key, error) => context.report('default-service-cidr', key, error),
    async work() {
      const found = await client.get(place);
      if (found === undefined) {
        await client.createIfAbsent('', { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: NAME }, spec: { cidrs: [...ranges] } });
      }
      const nowMs = context.clock.now();
      if (found !== undefined && addFamily(found, ranges) !== found) await client.update(place, '', (current) => addFamily(current, ranges));
      else await statusClient.apply(place, { subresource: 'status', nowMs }, (current) => stateReady(current, ranges, nowMs));
      mark(NAME);
      return EVERY_MS;
    },
  });
  queue.add(NAME);
  return { ready, stop: () => queue.stop() };
}
