// EndpointSlices of discovery.k8s.io/v1beta1, which is served no more, as v1 has them: zone and node have fields of their own there.
import type { JsonObject, KubeObject } from '../../apimachinery/index.ts';
import type { FormerVersion } from '../../registry/index.ts';
import { readStructs } from '../common/defaults.ts';
import { formerSchema } from '../common/former-versions.ts';
import { toObject } from '../common/values.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

function convertEndpoint(endpoint: JsonObject): void {
  const { [ZONE]: zone, ...topology } = toObject(endpoint['topology']);
  delete endpoint['topology'];
  if (zone !== undefined) endpoint['zone'] = zone;
  // The host is left out where it is the node of the endpoint.
  if (topology[HOST] !== undefined && topology[HOST] === endpoint['nodeName']) delete topology[HOST];
  if (Object.keys(topology).length > 0) endpoint['deprecatedTopology'] = topology;
}

function convertSlice(slice: KubeObject): KubeObject {
  readStructs(slice, 'endpoints').forEach(convertEndpoint);
  return slice;
}

/** Former versions of EndpointSlice. */
export const formerEndpointSlices: Readonly<Record<string, FormerVersion>> = {
  'discovery.k8s.io/v1beta1': { schema: formerSchema('discovery.v1beta1.EndpointSlice'), convert: convertSlice },
};
