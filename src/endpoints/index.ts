// The door of endpoints: HTTP semantics without sockets.
export type { AuditRecord, Body, Exchange, Handler, RequestInfo, Response, Sink, WatchCounts } from './exchange.ts';
export { createEndpoints } from './endpoints.ts';
export type { Connect, LargeRequestHandler, MemberBounds, SpecialCreate, SpecialRequest } from './dependencies.ts';
export { MAX_BODY_BYTES } from './request/decode.ts';
export { parseInteger, validateDeleteOptions } from './request/options.ts';
export {
  type GroupVersion, type RemoteApis, type RemoteDiscovery, type RemoteVersion, noRemoteApis,
} from './remote/remote-apis.ts';
export {
  type HeaderValues, credentialProtocols, describeUser, encodePath, encodeQuery, forwardHeaders, isCredentialProtocol, passClientHeaders, passHeaders,
} from './remote/forwarded-request.ts';
export { convertLegacyResources, readAggregatedResources, readOpenApiIndex } from './remote/remote-documents.ts';
export { isTrue, parseRequestInfo } from './request/request-info.ts';
export { respondError } from './response/respond.ts';
