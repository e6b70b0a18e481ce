// GET of one object or of its subresource.
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import { badRequest } from '../../apimachinery/index.ts';
import { toScale } from '../../registry/index.ts';
import { negotiateCall, scaleSchema } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { respondKubeObject, respondObject } from '../response/respond-object.ts';

/** Clients of old asked for objects without what the cluster adds; nothing else would tell them that they get all of it. */
function refuseExport({ query }: ResourceRequest['exchange']): void {
  const asked = query.get('export');
  if (asked === null || asked === '0' || asked.toLowerCase() === 'false') return;
  throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
}

/** Reads an object; `resourceVersion` is the only option that counts. */
export function handleGet(call: ResourceRequest): MaybePromise<Response> {
  const representation = negotiateCall(call);
  refuseExport(call.exchange);
  const { resource, version, namespace } = call.target;
  const resourceVersion = call.exchange.query.get('resourceVersion') ?? '';
  const found = call.dependencies.registry.get({ resource, version, namespace, name: call.name }, resourceVersion === '' ? {} : { resourceVersion });
  return mapMaybe(found, (object) => {
    if (call.subresource !== 'scale') return respondObject(call, { status: 200, object, representation });
    const scale = toScale(call.resource, object.object(call.target.version));
    return respondKubeObject(call, { status: 200, object: scale, schema: scaleSchema(call), representation });
  });
}
