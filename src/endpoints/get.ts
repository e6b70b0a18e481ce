// GET of one object or of its subresource.
import { type Soon, follow } from '../base/index.ts';
import { toScale } from '../registry/index.ts';
import { negotiateCall, scaleSchema } from './call.ts';
import type { Call } from './dependencies.ts';
import type { Response } from './exchange.ts';
import { respondKubeObject, respondObject } from './respond-object.ts';

/** Reads an object; `resourceVersion` is the only option that counts. */
export function handleGet(call: Call): Soon<Response> {
  const representation = negotiateCall(call);
  const { resource, version, namespace } = call.target;
  const resourceVersion = call.exchange.query.get('resourceVersion') ?? '';
  const found = call.dependencies.registry.get({ resource, version, namespace, name: call.name }, resourceVersion === '' ? {} : { resourceVersion });
  return follow(found, (object) => {
    if (call.subresource !== 'scale') return respondObject(call, { status: 200, object, representation });
    const scale = toScale(call.resource, object.object(call.target.version));
    return respondKubeObject(call, { status: 200, object: scale, schema: scaleSchema(call), representation });
  });
}
