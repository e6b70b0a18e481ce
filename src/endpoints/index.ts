// The door of endpoints: HTTP semantics without sockets.
export type { Body, Exchange, Handler, RequestInfo, Response, Sink, UserInfo } from './exchange.ts';
export { createEndpoints } from './endpoints.ts';
export type { Connect, EndpointsDependencies, Hashes, SpecialCreate, SpecialRequest, VersionInfo } from './dependencies.ts';
export type { ApplyInput, CompiledJsonPatch, PatchFunctions } from './patch-functions.ts';
export { parseRequestInfo } from './request-info.ts';
export { respondError, respondNotFoundText, respondText } from './respond.ts';
export { MAX_BODY_BYTES } from './decode.ts';
export { formatWarnings } from './warnings.ts';
