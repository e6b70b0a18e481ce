// POST on a collection, and on the subresources that are created (binding, eviction, token).
import { methodNotSupported } from '../../apimachinery/index.ts';
import { createTimeSlice } from '../../base/index.ts';
import { admitUnstored, checkNamespace, defaultObject } from '../../registry/index.ts';
import { expectedKind, negotiateCall, readBody, subresourceOf, writeContext, yamlParserOf } from '../request/resource-request.ts';
import { bodyTurnMs, decodeBody, requireBodyForm } from '../request/decode.ts';
import type { ResourceRequest, SpecialCreate } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { parseWriteQuery, validateWriteQuery, validationLevel } from '../request/options.ts';
import { respondKubeObject, respondObject } from '../response/respond-object.ts';

/** The handler of what is not simply stored; undefined for plain creates. */
function specialOf({ resource, subresource, dependencies }: ResourceRequest): SpecialCreate | undefined {
  const key = `${resource.group}/${resource.plural}${subresource ? `/${subresource}` : ''}`;
  return dependencies.special?.get(key);
}

/** Creates an object. */
export async function handleCreate(call: ResourceRequest): Promise<Response> {
  const { exchange, dependencies, resource, target } = call;
  const representation = negotiateCall(call);
  const form = requireBodyForm(exchange);
  const bytes = await readBody(call);
  const query = parseWriteQuery(exchange.query);
  validateWriteQuery('CreateOptions', query);
  const expected = expectedKind(call);
  const pause = createTimeSlice(dependencies.clock, bodyTurnMs);
  const decoding = decodeBody({ bytes, form }, expected, {
    catalog: dependencies.catalog, parseYaml: yamlParserOf(call), level: validationLevel(query), warnings: exchange.warnings, pause,
  });
  const decoded = decoding instanceof Promise ? await decoding : decoding;
  const turn = pause();
  if (turn !== undefined) await turn;
  const object = subresourceOf(call)?.kind ? decoded : defaultObject(decoded, target);
  const context = writeContext(call, query);
  const special = specialOf(call);
  if (special) {
    checkNamespace(target, object);
    const admitted = await admitUnstored(dependencies.admission, {
      operation: 'CREATE', target, subresource: call.subresource, name: call.name || (object.metadata.name ?? ''), object, context,
      prepare: (mutated) => special.prepare?.({ target, name: call.name, object: mutated, context }),
    });
    const answer = await special({ target, name: call.name, object: admitted, context: { ...context, admitted: true } });
    const status = answer.kind === 'Status' ? ((answer as { code?: number }).code ?? 201) : 201;
    const schema = answer.kind === 'Status' ? dependencies.schemas.forKind({ group: '', version: 'v1', kind: 'Status' }) : expected.schema;
    return respondKubeObject(call, { status, object: answer, schema: schema ?? expected.schema, representation });
  }
  if (resource.virtual || call.subresource) throw methodNotSupported({ group: resource.group, resource: resource.plural }, 'create');
  const result = await dependencies.registry.create({ resource, version: target.version, namespace: target.namespace, object, context });
  return respondObject(call, { status: 201, object: result.object, representation });
}
