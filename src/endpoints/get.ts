// GET of one object or of its subresource.
import { negotiateCall, schemaOf } from './call.ts';
import type { Call } from './dependencies.ts';
import type { Response } from './exchange.ts';
import { respondKubeObject, respondObject } from './respond-object.ts';
import { scaleOf, scaleSchema } from './scale.ts';

/** Reads an object; `resourceVersion` is the only option that counts. */
export async function handleGet(call: Call): Promise<Response> {
  const representation = negotiateCall(call);
  const { registry } = call.dependencies;
  const resourceVersion = call.exchange.query.get('resourceVersion') ?? '';
  const object = await registry.get({ ...call.target, name: call.name }, resourceVersion ? { resourceVersion } : {});
  if (call.subresource !== 'scale') return respondObject(call, { status: 200, object, representation });
  const scale = scaleOf(object.object(call.target.version), call.resource);
  return respondKubeObject(call, { status: 200, object: scale, schema: scaleSchema(call) ?? schemaOf(call), representation });
}
