// Descriptions of configuration and identity: ConfigMaps, Secrets, Namespaces, ServiceAccounts, roles and bindings. src/apimachinery/schema/descriptions.ts
// explains the notation.

const subjects = '  subjects: Users, groups and service accounts that get the rights.';
const rules = '  rules: What is allowed.';

export const configurationDescriptions = `
package io.k8s.api.core.v1
ConfigMap: ConfigMap holds settings for pods: texts and bytes by key.
  binaryData: Bytes by key, in base64. Keys must not be in data as well.
  data: Texts by key. Keys consist of letters, digits, '-', '_' and '.'.
  immutable: Whether data and binaryData can no longer be changed. It cannot be unset.
Secret: Secret holds what must stay secret, such as passwords and keys: bytes by key. All values together have at most 1 MiB.
  data: Bytes by key, in base64. Keys consist of letters, digits, '-', '_' and '.'.
  immutable: Whether the data can no longer be changed. It cannot be unset.
  stringData: Texts by key, which the server adds to data. Only for writing.
  type: What the Secret is for; some types need certain keys. Default Opaque. Cannot be changed.
Namespace: Namespace is a space in which names are unique, and to which rights and quotas apply.
  spec: What is wanted of the namespace.
  status: What was last seen of the namespace. Written by the system, read-only for users.
NamespaceSpec: NamespaceSpec is what is wanted of a namespace.
  finalizers: What must be done before the namespace is removed; kubernetes stands for the deletion of all that it holds.
NamespaceStatus: NamespaceStatus is what was last seen of a namespace.
  conditions: How far a deletion is.
  phase: Active or Terminating.
NamespaceCondition: NamespaceCondition is one aspect of the state of a namespace.
  lastTransitionTime: Time at which the status changed the last time.
  message: Sentence for people about the last transition.
  reason: Word for programs about the last transition, in CamelCase.
  status: True, False or Unknown.
  type: Type of the condition.
ServiceAccount: ServiceAccount is the identity under which pods talk to the API server.
  automountServiceAccountToken: Whether pods get a token of this account. What a pod says of itself comes first.
  imagePullSecrets: Secrets of the namespace with which pods of this account pull images.
  secrets: Secrets of the namespace that pods of this account may use, where the annotation kubernetes.io/enforce-mountable-secrets is true. Deprecated.
package io.k8s.api.rbac.v1
Role: Role is a set of rights within one namespace.
${rules}
ClusterRole: ClusterRole is a set of rights in the whole cluster, or in a namespace where a RoleBinding refers to it.
  aggregationRule: ClusterRoles whose rules a controller gathers here. Rules that are written by hand are then replaced.
${rules}
AggregationRule: AggregationRule says whose rules a ClusterRole gathers.
  clusterRoleSelectors: Selectors of ClusterRoles by label; those that match one of them are gathered.
PolicyRule: PolicyRule allows verbs on resources or paths. There are no rules that forbid.
  apiGroups: Groups of the resources; "" for the core group, * for all.
  nonResourceURLs: Paths that are no resources, with * at the end for all below. Only in ClusterRoles, and not together with resources.
  resourceNames: Names of objects that the rule is for. Empty for all.
  resources: Resources; RESOURCE/SUBRESOURCE for a subresource, * for all.
  verbs: Verbs, such as get, list, watch, create, update, patch and delete; * for all.
RoleBinding: RoleBinding gives the rights of a Role or ClusterRole in its namespace.
  roleRef: Role of the namespace, or ClusterRole. It cannot be changed.
${subjects}
ClusterRoleBinding: ClusterRoleBinding gives the rights of a ClusterRole in the whole cluster.
  roleRef: The ClusterRole. It cannot be changed.
${subjects}
Subject: Subject is a user, a group or a service account.
  apiGroup: Group of the subject: "" for service accounts, rbac.authorization.k8s.io for users and groups. Default: by the kind.
  kind: User, Group or ServiceAccount.
  name: Name of the subject.
  namespace: Namespace of a service account; empty for others.
RoleRef: RoleRef names a role.
  apiGroup: Group of the role: rbac.authorization.k8s.io.
  kind: Role or ClusterRole.
  name: Name of the role.
`;
