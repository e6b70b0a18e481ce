// The door of api: the Kubernetes API of this origin as the page uses it. No other room sends requests.
export { loginWithCode, loginWithToken, logout, onSessionEnd } from './session.ts';
export { type ApiAnswer, ApiError, type ApiRequest, call, open, triedUser, tryAs } from './request.ts';
export { type Self, fetchKinds, fetchSelf } from './discovery.ts';
export { type ListRequest, type ListSink, followList } from './lists.ts';
