// The door of apimachinery: objects and their rules. Pure; runs in a browser too.
export {
  type GroupResource, type GroupVersion, type GroupVersionKind, type GroupVersionResource, type JsonObject, type JsonValue,
  type KubeObject, type ManagedFieldsEntry, type ObjectMeta, type OwnerReference,
  formatGroupResource, formatGroupVersion, parseGroupVersion,
} from './object.ts';
export {
  type FieldError, type Status, type StatusCause, type StatusDetails, StatusError, alreadyExists, badRequest, conflict, expired, failure,
  forbidden, internalError, invalid, methodNotSupported, notAcceptable, notFound, requestEntityTooLarge, serviceUnavailable, success,
  timeoutError, tooLargeResourceVersion, tooManyRequests, unauthorized, unsupportedMediaType,
} from './status.ts';
export { type Field, type Schema, type SchemaFormat, type SchemaSet, type SchemaType } from './schema/schema.ts';
