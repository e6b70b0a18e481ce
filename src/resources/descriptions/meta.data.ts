// Descriptions of the types that all kinds share; src/apimachinery/schema/descriptions.ts explains the notation.

export const metaDescriptions = `
*:
  apiVersion: APIVersion defines the group and the version in which this object is written. The server converts to others and may refuse what it does not know.
  kind: Kind is the type of this object, in CamelCase. It cannot be changed.
  metadata: Standard object's metadata: its name, labels, owners and history.
package io.k8s.apimachinery.pkg.apis.meta.v1
ObjectMeta: ObjectMeta is what every stored object says of itself: its names, its labels, its owners and its history.
  annotations: Annotations are texts by key that tools and controllers keep on the object. Nothing can be selected by them.
  creationTimestamp: CreationTimestamp is a timestamp of the server, the time at which the object was created. Clients cannot set it. It is UTC in RFC 3339 form.
  deletionGracePeriodSeconds: Seconds that the object has to end by itself before it is removed. Set only when deletionTimestamp is set, and it may only be shortened. Read-only.
  deletionTimestamp: Time at or after which the object is removed. The server sets it when a deletion with a grace period or with finalizers is asked for; it cannot be unset. Read-only.
  finalizers: Names of what must be done before the object is removed. Each entry belongs to the component that will remove it; the object stays until the list is empty.
  generateName: Prefix from which the server makes a unique name when name is not given. The answer has the name that was made.
  generation: Number that grows each time the desired state changes. Set by the server. Read-only.
  labels: Labels are texts by key by which objects are organized and selected, by Services and controllers for instance.
  managedFields: Who manages which fields: one entry for each manager, operation, version and subresource. The server maintains it for server-side apply.
  name: Name of the object, unique in its namespace for its kind. It cannot be changed.
  namespace: Namespace within which the name is unique. Empty for objects of the whole cluster. It cannot be changed.
  ownerReferences: Objects that this one depends on. When all of them are gone, the garbage collector deletes it. At most one can be the managing controller.
  resourceVersion: Opaque value for the state of the object as it was read. A change that sends it back is refused when the object was changed in between.
  selfLink: Not set by the server any more.
  uid: Unique value for this object in time and space, made by the server. An object that is created again by the same name has another one. Read-only.
ListMeta: ListMeta is what lists and other answers that are not stored say of themselves.
  continue: Token with which the next page of the list is asked for. Set when the list goes on.
  remainingItemCount: Number of items after this page, when the server knows it.
  resourceVersion: Value for the state of the store that the list shows; a watch can begin here.
  selfLink: Not set by the server any more.
OwnerReference: OwnerReference names an object that another one depends on, in the same namespace or of the whole cluster.
  apiVersion: Group and version of the owner.
  blockOwnerDeletion: Whether the owner stays until this object is gone, when the owner is deleted in the foreground.
  controller: Whether the owner is the controller that manages this object.
  kind: Kind of the owner.
  name: Name of the owner.
  uid: UID of the owner.
ManagedFieldsEntry: ManagedFieldsEntry is what one manager owns of an object.
  apiVersion: Version of the API in which the fields are written.
  fieldsType: How the fields are written; FieldsV1 is the only way.
  fieldsV1: The fields that the manager owns, as a tree of sets.
  manager: Name of the manager.
  operation: How the manager writes: Apply or Update.
  subresource: Name of the subresource through which the manager writes; empty for the object itself.
  time: Time of the entry, or of its last change of fields.
LabelSelector: LabelSelector selects objects by their labels. All its requirements must be met; an empty one selects everything.
  matchExpressions: Requirements on labels, each with an operator.
  matchLabels: Labels that must be there with exactly these values.
LabelSelectorRequirement: LabelSelectorRequirement is a condition on one label.
  key: Label that the condition is about.
  operator: In, NotIn, Exists or DoesNotExist.
  values: Values for In and NotIn; empty for the others.
Condition: Condition is one aspect of the state of an object.
  lastTransitionTime: Time at which the status changed the last time.
  message: Sentence for people about the last transition.
  observedGeneration: Generation of the object that the condition is about.
  reason: Word for programs about the last transition, in CamelCase.
  status: True, False or Unknown.
  type: Name of the condition, in CamelCase.
`;
