// Writes that are expensive by their size: decoding, defaulting, merging, validating and encoding each walk all members of an object in one turn.
// Such requests are handed to workers (server/worker), which run the same code; so are those of large texts where many come at once. Requests that
// are not stored (reviews, evictions, bindings) and options of deletes are read by the server alone, and refused when they have so many members.
import { requestEntityTooLarge } from '../../apimachinery/index.ts';
import { hasManyItems } from '../../codec/index.ts';
import type { MemberBounds, ResourceHandler, ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { MAX_BODY_BYTES } from './decode.ts';

/** Bodies and objects below this size never have many members. */
const SMALL_BYTES = 20_000;
/** A body or stored object with more separators than this makes a request large. With 10,000, each walk takes 8 to 12 ms. */
const MANY_SEPARATORS = 10_000;
/** Bodies of this size take several milliseconds, however few members they have: one at a time leaves time for others, many at once do not. */
const HEAVY_BYTES = 2 ** 18;
const unstoredBounds: MemberBounds = { here: MANY_SEPARATORS, most: MANY_SEPARATORS };
const storedBounds: MemberBounds = { here: MANY_SEPARATORS, most: Infinity };

const SLASH = 0x2f;
const TILDE = 0x7e;
/**
 * Comma, colon and newline, and the tag of the second field of a protobuf message, where map entries have their value; the tag of their key is the
 * newline's byte.
 */
const separators = [0x2c, 0x3a, 0x0a, 0x12];

/**
 * Whether bytes (JSON, YAML or protobuf) may have very many members, or more than `limit`; strings that contain as many separators count as well. Node's
 * search takes 0.2 to 0.3 ms for 3 MB, a loop over the bytes 4 to 7 ms.
 */
export function hasManyMembers(bytes: Uint8Array, limit = MANY_SEPARATORS): boolean {
  if (bytes.length < SMALL_BYTES) return false;
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (const separator of separators) {
    for (let i = buffer.indexOf(separator); i !== -1; i = buffer.indexOf(separator, i + 1)) if (++count > limit) return true;
  }
  return false;
}

/** Whether the paths of a JSON patch may have very many steps, or signs that stand for others. */
function hasManySteps(patch: Uint8Array, limit: number): boolean {
  let count = 0;
  for (let i = 0; i < patch.length; i++) if ((patch[i] === SLASH || patch[i] === TILDE) && ++count > limit) return true;
  return false;
}

/** Whether a body may have very many members. */
function isLargeBody({ exchange }: ResourceRequest, body: Uint8Array, limit = MANY_SEPARATORS): boolean {
  if (body.length < SMALL_BYTES) return false;
  if (hasManyMembers(body, limit)) return true;
  const type = exchange.headers['content-type']?.toLowerCase() ?? '';
  return (type.includes('cbor') && hasManyItems(body, limit)) || (type.includes('json-patch') && hasManySteps(body, limit));
}

/** Throws the 413 of a body with very many members, for bodies that no worker reads. */
export function refuseLargeBody(request: ResourceRequest, body: Uint8Array, limit = MANY_SEPARATORS): void {
  if (isLargeBody(request, body, limit)) throw requestEntityTooLarge(`limit is ${limit} members`);
}

/** Whether the stored object that the request changes has more members than the limit. */
async function changesLargeObject({ dependencies: { registry }, target, name }: ResourceRequest, limit: number): Promise<boolean> {
  if (name === '') return false;
  try {
    const object = await registry.get({ name, ...target }, { resourceVersion: '0' });
    return object.size >= SMALL_BYTES && hasManyMembers(object.bytes(target.version, 'json-item'), limit);
  } catch {
    // An object that cannot be read is not large; the handler reports why.
    return false;
  }
}

/** Handles a write here or, if it is large, in a worker. The body is read once, here or by the handler. */
export async function handleBySize(request: ResourceRequest, handle: ResourceHandler): Promise<Response> {
  const { exchange, dependencies: { largeRequests }, resource } = request;
  if (largeRequests === undefined) return handle(request);
  const isUnstored = resource.virtual === true || (request.subresource !== '' && exchange.method === 'POST');
  const { here, most } = isUnstored ? unstoredBounds : largeRequests.boundsOf(resource) ?? storedBounds;
  if (Number(exchange.headers['content-length'] ?? Infinity) < SMALL_BYTES) {
    if (isUnstored || request.name === '' || !await changesLargeObject(request, here)) return handle(request);
    return largeRequests.handle(exchange, { body: await exchange.readBody(MAX_BODY_BYTES), resource });
  }
  const reading = exchange.readBody(MAX_BODY_BYTES);
  // A body that cannot be read is reported by the handler, since other errors come first.
  const body = await reading.catch(() => undefined);
  if (body === undefined) return handle({ ...request, body: reading });
  if (most < Infinity) refuseLargeBody(request, body, most);
  const goesThere = !isUnstored && (isLargeBody(request, body, here) || await changesLargeObject(request, here));
  if (goesThere) return largeRequests.handle(exchange, { body, resource });
  if (isUnstored || body.length < HEAVY_BYTES) return handle({ ...request, body: reading });
  const place = largeRequests.placeOf(body.length);
  try {
    return await (place.isHere ? handle({ ...request, body: reading }) : largeRequests.handle(exchange, { body, resource }));
  } finally {
    place.leave();
  }
}
