// PUT: the body replaces the object, or what its subresource covers.
import { badRequest, invalid, invalidValue, type KubeObject } from '../apimachinery/index.ts';
import type { WriteResult } from '../registry/index.ts';
import { expectedKind, negotiateCall, schemaOf, writeContext, writeOptions } from './call.ts';
import { decodeBody, defaultObject, MAX_BODY_BYTES, requireBodyForm } from './decode.ts';
import type { Call } from './dependencies.ts';
import type { Response } from './exchange.ts';
import type { Representation } from './negotiate.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel } from './options.ts';
import { respondKubeObject, respondObject } from './respond-object.ts';
import { scaleOf, scaleSchema, writeScale } from './scale.ts';

/** The name in the body has to be the one in the path. */
export function checkBodyName(object: KubeObject, name: string): void {
  const { name: found } = object.metadata;
  if (!found) throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (found !== name) throw badRequest(`the name of the object (${found}) does not match the name on the URL (${name})`);
}

/** The namespace in the body has to be the one in the path, or absent; cluster-scoped objects lose theirs. */
export function checkBodyNamespace(object: KubeObject, { namespaced, namespace }: { namespaced: boolean; namespace: string }): void {
  const { metadata } = object;
  if (!namespaced) delete metadata.namespace;
  else if (!metadata.namespace) metadata.namespace = namespace;
  else if (metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

/** Answers a write in the kind of the subresource. */
export function respondWrite(call: Call, result: WriteResult, representation: Representation): Promise<Response> {
  const status = result.created ? 201 : 200;
  if (call.subresource !== 'scale') return respondObject(call, { status, object: result.object, representation });
  const scale = scaleOf(result.object.object(call.target.version), call.resource);
  return respondKubeObject(call, { status, object: scale, schema: scaleSchema(call) ?? schemaOf(call), representation });
}

/** From the current object to the one that the body says. Called again for every round of the loop: the body is copied. */
function replaceWith(call: Call, body: KubeObject): (current: KubeObject | undefined) => KubeObject {
  if (call.subresource !== 'scale') return () => structuredClone(body);
  return (current) => writeScale(current as KubeObject, body, call.resource);
}

/** Replaces an object. */
export async function handleUpdate(call: Call): Promise<Response> {
  const { exchange, dependencies, resource, target, name, subresource } = call;
  const representation = negotiateCall(call);
  const bytesForm = { form: requireBodyForm(exchange), bytes: await exchange.readBody(MAX_BODY_BYTES) };
  const query = parseWriteQuery(exchange.query);
  validateWriteQuery('UpdateOptions', query);
  const expected = expectedKind(call);
  const decoded = await decodeBody(bytesForm, expected, { catalog: dependencies.catalog, level: validationLevel(query), warnings: exchange.warnings });
  const body = subresource === 'scale' ? decoded : defaultObject(decoded, resource, target.version);
  checkBodyNamespace(body, { namespaced: resource.namespaced, namespace: target.namespace });
  checkBodyName(body, name);
  if (subresource === 'scale') checkScale(body);
  const result = await dependencies.registry.update({
    ...target, name, subresource, transform: replaceWith(call, body), managedFields: 'update', createIfAbsent: subresource === '' && resource.createOnUpdate,
    ...(body.metadata.uid && { preconditions: { uid: body.metadata.uid } }), context: writeContext(call, query, writeOptions('UpdateOptions', query)),
  });
  return respondWrite(call, result, representation);
}

function checkScale(scale: KubeObject): void {
  const replicas = (scale['spec'] as { replicas?: number } | undefined)?.replicas ?? 0;
  if (replicas >= 0) return;
  throw invalid({ group: 'autoscaling', kind: 'Scale' }, scale.metadata.name ?? '', [invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0')]);
}
