// The door of api: the Kubernetes API of this origin as the page uses it. No other room sends requests.
export { fetchProvider, leaveForProvider, loginFromProvider, loginWithCode, loginWithToken, logout, onSessionEnd, recallPlace } from './session.ts';
export { ApiError, call, triedUser, tryAs } from './request.ts';
export { type AuditedWrite, fetchWriters } from './audit.ts';
export { askServer, fetchPolicy } from './access.ts';
export { type Extension, type Self, fetchExtensions, fetchKinds, fetchMetrics, fetchSelf } from './discovery.ts';
export { type ObjectHistory, type ObjectVersion, fetchHistory } from './history.ts';
export { type ExecSession, type ExecSink, type LogOptions, followLogs, openExec } from './containers.ts';
export { type Past, fetchPast } from './past.ts';
export { fetchSchema } from './openapi.ts';
export { type ListRequest, type ListSink, followList } from './lists.ts';
export {
  type EventItem, MANAGER, type Mention, type MetadataRequest, type ObjectMetadata, type Propagation, type Target, type WriteOptions, deleteObject, fetchEvents,
  followObject, listMetadata, mentionObjects, readObject, writeObject,
} from './objects.ts';
