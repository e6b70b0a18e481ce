// GET of one object or of its subresource.
import { type MaybePromise, mapMaybe } from '../../base/index.ts';
import { badRequest } from '../../apimachinery/index.ts';
import { toScale } from '../../registry/index.ts';
import { negotiateRequest, scaleSchema } from '../request/resource-request.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { respondKubeObject, respondObject } from '../response/respond-object.ts';

/** Refuses `?export`, by which old clients asked for objects without the fields that the cluster sets, as upstream does. */
function refuseExport({ query }: ResourceRequest['exchange']): void {
  const asked = query.get('export');
  if (asked === null || asked === '0' || asked.toLowerCase() === 'false') return;
  throw badRequest('the export parameter, deprecated since v1.14, is no longer supported');
}

/** Reads an object; `resourceVersion` is the only option. */
export function handleGet(request: ResourceRequest): MaybePromise<Response> {
  const representation = negotiateRequest(request);
  refuseExport(request.exchange);
  const { resource, version, namespace } = request.target;
  const resourceVersion = request.exchange.query.get('resourceVersion') ?? '';
  const found = request.dependencies.registry.get({ resource, version, namespace, name: request.name }, resourceVersion === '' ? {} : { resourceVersion });
  return mapMaybe(found, (object) => {
    if (request.subresource !== 'scale') return respondObject(request, { status: 200, object, representation });
    const scale = toScale(request.resource, object.object(request.target.version));
    return respondKubeObject(request, { status: 200, object: scale, schema: scaleSchema(request), representation });
  });
}
