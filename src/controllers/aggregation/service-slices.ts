// The EndpointSlices of a Service, found by their label, and which of their endpoints are ready.
import { createLabelSelector } from '../../apimachinery/index.ts';
import { type Registry, type Target, buildPredicate } from '../../registry/index.ts';

/** The label that names the Service of a slice. */
export const SERVICE_LABEL = 'kubernetes.io/service-name';

/** The fields of an EndpointSlice that matter here. */
export interface ServiceSlice {
  readonly endpoints?: readonly SliceEndpoint[] | null;
  readonly ports?: readonly SlicePort[] | null;
}

interface SliceEndpoint {
  readonly addresses?: readonly string[];
  readonly conditions?: { readonly ready?: boolean };
}

interface SlicePort {
  readonly name?: string;
  readonly port?: number;
}

/** The slices of a Service in the namespace of the target; `resourceVersion` as lists have it. */
export async function listServiceSlices(
  registry: Registry, target: Target, { service, resourceVersion }: { readonly service: string; readonly resourceVersion?: string },
): Promise<readonly ServiceSlice[]> {
  const labels = createLabelSelector([{ key: SERVICE_LABEL, operator: '=', values: [service] }]);
  const predicate = buildPredicate(target.resource, { labels });
  const { items } = await registry.list(target, { predicate, ...(resourceVersion !== undefined && { resourceVersion }) });
  return Array.from(items, (item) => item.object(target.version) as ServiceSlice);
}

/** The port of a slice with this name. */
export const findSlicePort = ({ ports }: ServiceSlice, name: string): SlicePort | undefined => ports?.find((port) => (port.name ?? '') === name);

/** The endpoints of a slice that are ready, or do not say. */
export function listReadyEndpoints({ endpoints }: ServiceSlice): readonly SliceEndpoint[] {
  return (endpoints ?? []).filter(({ conditions }) => conditions?.ready !== false);
}
