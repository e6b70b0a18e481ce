// POST on a collection, and on the subresources that are created (binding, eviction, token).
import { inFieldOrder, type KubeObject, methodNotSupported } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import { admitUnstored, defaultObject } from '../../registry/index.ts';
import { expectedKind, negotiateRequest, readBody, subresourceOf, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { BODY_TURN_MS, decodeBody, type Expected, requireBodyForm } from '../request/decode.ts';
import type { ResourceRequest, SpecialCreate, SpecialRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import type { Representation } from '../request/negotiate.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel, type WriteQuery } from '../request/options.ts';
import { respondKubeObject, respondObject } from '../response/respond-object.ts';

/** The encoding of an answer. */
interface Answer {
  readonly representation: Representation;
  readonly expected: Expected;
}

/** The function that performs a create which is not simply stored; undefined for plain creates. */
function specialOf({ resource, subresource, dependencies }: ResourceRequest): SpecialCreate | undefined {
  const key = `${resource.group}/${resource.plural}${subresource ? `/${subresource}` : ''}`;
  return dependencies.special?.get(key);
}

/** The body as an object of its kind, with defaults; a subresource of another kind has none. */
async function readObject(request: ResourceRequest, query: WriteQuery, expected: Expected): Promise<KubeObject> {
  const { exchange, dependencies, target } = request;
  const form = requireBodyForm(request);
  const bytes = await readBody(request);
  validateWriteQuery('CreateOptions', query);
  const pause = createTimeSlice(dependencies.clock, BODY_TURN_MS);
  const object = await decodeBody({ bytes, form }, expected, {
    catalog: dependencies.catalog, parseYaml: yamlParserOf(request), level: validationLevel(query), warnings: exchange.warnings, pause,
  });
  await pause();
  return subresourceOf(request)?.kind ? object : defaultObject(object, target);
}

/** Admits and performs a create that is not simply stored. */
async function createSpecial(
  request: ResourceRequest, special: SpecialCreate, { object, context, schema }: Pick<SpecialRequest, 'object' | 'context'> & Pick<Expected, 'schema'>,
): Promise<KubeObject> {
  const { dependencies, target, subresource, name } = request;
  const admitted = await admitUnstored(dependencies.admission, {
    operation: 'CREATE', target, subresource, name: name || (object.metadata.name ?? ''), object, context, keepsUid: special.keepsUid,
    prepare: (mutated) => special.prepare?.({ target, name, object: mutated, context }, schema),
  });
  return special({ target, name, object: admitted, context: { ...context, admitted: true } });
}

async function respondSpecial(request: ResourceRequest, object: KubeObject, { representation, expected }: Answer): Promise<Response> {
  if (object.kind !== 'Status') {
    const { kind, apiVersion, ...parts } = object;
    const ordered = { kind, apiVersion, ...inFieldOrder(expected.schema, parts) } as KubeObject;
    return respondKubeObject(request, { status: 201, object: ordered, schema: expected.schema, representation });
  }
  const schema = request.dependencies.schemas.forKind({ group: '', version: 'v1', kind: 'Status' }) ?? expected.schema;
  return respondKubeObject(request, { status: (object as { code?: number }).code ?? 201, object, schema, representation });
}

/** Creates an object. */
export async function handleCreate(request: ResourceRequest): Promise<Response> {
  const { exchange, dependencies, resource, target: { version, namespace } } = request;
  const representation = negotiateRequest(request);
  const query = parseWriteQuery(exchange.query);
  const expected = expectedKind(request);
  const object = await readObject(request, query, expected);
  exchange.audit?.recordRequestObject(object);
  const context = writeContext(request, query);
  const special = specialOf(request);
  if (special) {
    const { schema } = expected;
    return respondSpecial(request, await createSpecial(request, special, { object, context, schema }), { representation, expected });
  }
  if (resource.virtual || request.subresource) throw methodNotSupported({ group: resource.group, resource: resource.plural }, 'create');
  const result = await dependencies.registry.create({ resource, version, namespace, object, context });
  return respondObject(request, { status: 201, object: result.object, representation });
}
