// PUT: the body replaces the object, or the fields of its subresource.
import { createTimeSlice } from '../../base/index.ts';
import { badRequest, formatGroupVersion, invalid, invalidValue, type KubeObject, StatusError, validateObjectMeta } from '../../apimachinery/index.ts';
import {
  applyScale, checkIdentity, checkScaleUid, cloneJson, copySharing, dedupeOwners, defaultObject, groupResource, type ObjectType, type Resource, toScale,
  type WriteResult,
} from '../../registry/index.ts';
import { expectedKind, negotiateRequest, readBody, scaleSchema, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { BODY_TURN_MS, decodeBody, requireBodyForm } from '../request/decode.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import type { Representation } from '../request/negotiate.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel } from '../request/options.ts';
import { respondKubeObject, respondObject } from '../response/respond-object.ts';

/** Answers a write with the object, or with the Scale of it. */
export async function respondWrite(request: ResourceRequest, result: WriteResult, representation: Representation): Promise<Response> {
  const status = result.created ? 201 : 200;
  if (request.subresource !== 'scale') return respondObject(request, { status, object: result.object, representation });
  // Replicas that the schema of a custom resource has no field for are gone by now.
  const scale = toScale(request.resource, result.object.object(request.target.version), 0);
  return respondKubeObject(request, { status, object: scale, schema: scaleSchema(request), representation });
}

interface Scaling {
  readonly current: KubeObject;
  readonly scale: KubeObject;
  readonly at?: ReturnType<typeof groupResource>;
}

/** The object with the replicas of a Scale; throws unless they are valid and the Scale's uid, if any, is that of the object; `at` is what a conflict names. */
export function withScale(resource: Resource, { current, scale, at = groupResource(resource) }: Scaling): KubeObject {
  // Custom resources are validated by their schemas, later.
  if (resource.custom) checkScaleUid(at, current, scale);
  const object = cloneJson(current);
  applyScale(resource, object, scale);
  checkScale(resource, object, scale);
  checkScaleUid(at, current, scale);
  return object;
}

/** Returns the object; throws the 422 of negative replicas, and of metadata of its new Scale that no object may have. */
export function checkScale(resource: Resource, object: KubeObject, { metadata }: Pick<KubeObject, 'metadata'> = object): KubeObject {
  // The schema of a custom resource validates its replicas.
  if (resource.custom) return object;
  const { name, namespace } = object.metadata;
  const errors = validateObjectMeta({ ...metadata, name, namespace }, { namespaced: true, nameRule: 'dns-subdomain' });
  const { replicas = 0 } = toScale(resource, object)['spec'] as { replicas?: number };
  if (replicas < 0) errors.push(invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'));
  if (errors.length > 0) throw invalid({ group: 'autoscaling', kind: 'Scale' }, name ?? '', errors);
  return object;
}

/** Whether an update by this path of an object that is absent creates it, where its kind has that: by its status too, as in the reference. */
export const createsObject = (subresource: string): boolean => subresource === '' || subresource === 'status';

/** The transform from the current object to the body. The update loop may call it several times, so the body is copied; what did not change is shared. */
function replaceWith(request: ResourceRequest, body: KubeObject): (current: KubeObject | undefined) => KubeObject {
  if (request.subresource !== 'scale') return (current) => copySharing(body, current);
  return (current) => withScale(request.resource, { current: current as KubeObject, scale: body });
}

/** The reference's text for all Scales of custom resources that cannot be read: the types by which it words the problem know no Scale. */
const NO_SCALE = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"';

/** Whether a body cannot be read; a worker that has no time for it answers with another code. */
const isUnreadable = (error: unknown): boolean => error instanceof StatusError && error.code === 400;

/** Replaces an object. */
export async function handleUpdate(request: ResourceRequest): Promise<Response> {
  const { exchange, dependencies, resource, target, name, subresource } = request;
  const representation = negotiateRequest(request);
  const bytes = await readBody(request);
  const query = parseWriteQuery(exchange.query);
  validateWriteQuery('UpdateOptions', query);
  // Unlike creates, the reference asks for the type of the body after the options.
  const raw = { form: requireBodyForm(request), bytes };
  const expected = expectedKind(request);
  const pause = createTimeSlice(dependencies.clock, BODY_TURN_MS);
  let otherType: ObjectType | undefined;
  const noteKind = (kind: string): void => void (otherType = { kind, apiVersion: formatGroupVersion(expected) });
  const decoded = await decodeBody(raw, expected, {
    catalog: dependencies.catalog, parseYaml: yamlParserOf(request), level: validationLevel(query), warnings: exchange.warnings, pause, noteKind,
  }).catch((error: unknown) => {
    throw resource.custom && subresource === 'scale' && isUnreadable(error) ? badRequest(NO_SCALE) : error;
  });
  await pause();
  const body = subresource === 'scale' ? decoded : defaultObject(decoded, target);
  exchange.audit?.recordRequestObject(body);
  checkIdentity(target, name, body);
  // Before the object is looked for, as in the reference, where an absent one is reported with this warning.
  dedupeOwners(body, exchange.warnings, 'beforeAdmission');
  const result = await dependencies.registry.update({
    name, subresource, transform: replaceWith(request, body), managedFields: 'update', createIfAbsent: resource.createOnUpdate && createsObject(subresource),
    context: writeContext(request, query), ...target, otherType: () => otherType,
    ...(body.metadata.uid && { preconditions: { uid: body.metadata.uid } }),
  });
  return respondWrite(request, result, representation);
}
