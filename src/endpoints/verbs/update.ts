// PUT: the body replaces the object, or what its subresource covers.
import { type MaybePromise, createTimeSlice } from '../../base/index.ts';
import { conflict, invalid, invalidValue, type KubeObject } from '../../apimachinery/index.ts';
import { applyScale, checkIdentity, cloneJson, defaultObject, type Resource, toScale, type WriteResult } from '../../registry/index.ts';
import { expectedKind, negotiateCall, readBody, scaleSchema, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { bodyTurnMs, decodeBody, requireBodyForm } from '../request/decode.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import type { Representation } from '../request/negotiate.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel } from '../request/options.ts';
import { respondKubeObject, respondObject } from '../response/respond-object.ts';

/** Answers a write in the kind of the subresource. */
export function respondWrite(call: ResourceRequest, result: WriteResult, representation: Representation): MaybePromise<Response> {
  const status = result.created ? 201 : 200;
  if (call.subresource !== 'scale') return respondObject(call, { status, object: result.object, representation });
  const scale = toScale(call.resource, result.object.object(call.target.version));
  return respondKubeObject(call, { status, object: scale, schema: scaleSchema(call), representation });
}

/** The object with the replicas of a Scale, which has to be possible and, where it says so, of this very object. */
export function withScale(resource: Resource, current: KubeObject, scale: KubeObject): KubeObject {
  const { uid, name = '' } = current.metadata;
  if (scale.metadata.uid && scale.metadata.uid !== uid) {
    const why = `Precondition failed: UID in precondition: ${scale.metadata.uid}, UID in object meta: ${uid}`;
    throw conflict({ group: resource.group, resource: resource.plural }, name, why);
  }
  const object = cloneJson(current);
  applyScale(resource, object, scale);
  return checkScale(resource, object);
}

/** Throws the 422 of a Scale that its object cannot have. */
export function checkScale(resource: Resource, object: KubeObject): KubeObject {
  // Custom resources judge their replicas themselves.
  if (resource.custom) return object;
  const { replicas = 0 } = toScale(resource, object)['spec'] as { replicas?: number };
  if (replicas >= 0) return object;
  const error = invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0');
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, object.metadata.name ?? '', [error]);
}

/** From the current object to the one that the body says. Called again for every round of the loop: the body is copied. */
function replaceWith(call: ResourceRequest, body: KubeObject): (current: KubeObject | undefined) => KubeObject {
  if (call.subresource !== 'scale') return () => cloneJson(body);
  return (current) => withScale(call.resource, current as KubeObject, body);
}

/** Replaces an object. */
export async function handleUpdate(call: ResourceRequest): Promise<Response> {
  const { exchange, dependencies, resource, target, name, subresource } = call;
  const representation = negotiateCall(call);
  const bytesForm = { form: requireBodyForm(exchange), bytes: await readBody(call) };
  const query = parseWriteQuery(exchange.query);
  validateWriteQuery('UpdateOptions', query);
  const expected = expectedKind(call);
  const pause = createTimeSlice(dependencies.clock, bodyTurnMs);
  const decoded = await decodeBody(bytesForm, expected, {
    catalog: dependencies.catalog, parseYaml: yamlParserOf(call), level: validationLevel(query), warnings: exchange.warnings, pause,
  });
  await pause();
  const body = subresource === 'scale' ? decoded : defaultObject(decoded, target);
  checkIdentity(target, name, body);
  const result = await dependencies.registry.update({
    name, subresource, transform: replaceWith(call, body), managedFields: 'update', createIfAbsent: subresource === '' && resource.createOnUpdate,
    context: writeContext(call, query), ...target,
    ...(body.metadata.uid && { preconditions: { uid: body.metadata.uid } }),
  });
  return respondWrite(call, result, representation);
}
