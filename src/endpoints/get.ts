// GET of one object or of its subresource.
import { toScale } from '../registry/index.ts';
import { negotiateCall, scaleSchema } from './call.ts';
import type { Call } from './dependencies.ts';
import type { Response } from './exchange.ts';
import { respondKubeObject, respondObject } from './respond-object.ts';

/** Reads an object; `resourceVersion` is the only option that counts. */
export async function handleGet(call: Call): Promise<Response> {
  const representation = negotiateCall(call);
  const { registry } = call.dependencies;
  const resourceVersion = call.exchange.query.get('resourceVersion') ?? '';
  const object = await registry.get({ ...call.target, name: call.name }, resourceVersion ? { resourceVersion } : {});
  if (call.subresource !== 'scale') return respondObject(call, { status: 200, object, representation });
  const scale = toScale(call.resource, object.object(call.target.version));
  return respondKubeObject(call, { status: 200, object: scale, schema: scaleSchema(call), representation });
}
