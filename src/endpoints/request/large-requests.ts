// Writes that are expensive by their size: decoding, defaulting, merging, validating and encoding take one step each through all members of an
// object, and no step of so many members is short. Such requests are handled elsewhere, by the same code.
import { type MaybePromise, catchMaybe, mapMaybe } from '../../base/index.ts';
import type { StoredObject } from '../../registry/index.ts';
import type { ResourceRequest } from '../dependencies.ts';
import type { Response } from '../exchange.ts';
import { MAX_BODY_BYTES } from './decode.ts';

/** Bytes below which nothing has many members. */
const SMALL_BYTES = 20_000;
/** Bytes that part the members of a text: more than this in a body or a stored object make a request large. 10,000 take 8 to 12 ms a step. */
const MANY_SEPARATORS = 10_000;

const COMMA = 0x2c;
const COLON = 0x3a;
const NEWLINE = 0x0a;
/** Tag of the second field of a protobuf message, which values of maps are; keys have the number of the newline. */
const VALUE_TAG = 0x12;

/** Whether bytes (JSON, YAML or protobuf) may have very many members. Text with as many separators counts as well. */
export function hasManyMembers(bytes: Uint8Array): boolean {
  if (bytes.length < SMALL_BYTES) return false;
  let count = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if ((byte === COMMA || byte === COLON || byte === NEWLINE || byte === VALUE_TAG) && ++count > MANY_SEPARATORS) return true;
  }
  return false;
}

/** Whether the stored object that the request changes has many members. */
function changesLargeObject({ dependencies: { registry }, target, name }: ResourceRequest): MaybePromise<boolean> {
  if (name === '') return false;
  const isLarge = (object: StoredObject): boolean => object.size >= SMALL_BYTES && hasManyMembers(object.bytes(target.version, 'json-item'));
  // An object that cannot be read is not large; the request itself finds out why.
  return catchMaybe(() => mapMaybe(registry.get({ ...target, name }, { resourceVersion: '0' }), isLarge), () => false);
}

/** Handles a write here or, if it is large, elsewhere. The body is read once, by whichever comes first. */
export function handleBySize(request: ResourceRequest, handle: (request: ResourceRequest) => MaybePromise<Response>): MaybePromise<Response> {
  const { exchange, dependencies: { elsewhere }, resource } = request;
  // What is created below an object is an act, not an object: bindings, evictions, tokens.
  const isAct = request.subresource !== '' && exchange.method === 'POST';
  if (elsewhere === undefined || isAct || !elsewhere.accepts(resource)) return handle(request);
  const handleElsewhere = (body: Uint8Array): Promise<Response> => elsewhere.handle(exchange, { body, resource });
  if (Number(exchange.headers['content-length'] ?? Infinity) < SMALL_BYTES) {
    return mapMaybe(changesLargeObject(request), (isLarge) =>
      (isLarge ? exchange.readBody(MAX_BODY_BYTES).then(handleElsewhere) : handle(request)));
  }
  const reading = exchange.readBody(MAX_BODY_BYTES);
  const withBody = { ...request, body: reading };
  // A body that cannot be read is reported where the handler looks at it: other errors come first.
  return reading.then((body) => mapMaybe(hasManyMembers(body) || changesLargeObject(request), (isLarge) =>
    (isLarge ? handleElsewhere(body) : handle(withBody))), () => handle(withBody));
}
