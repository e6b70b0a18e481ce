// Schemas of versions that are read and served no more, where their fields are others than those of today: what another release has stored may be in them.
// Numbers are those of upstream's protobuf messages; src/apimachinery/schema/notation.ts explains the notation. Written by hand.

export const formerSchemas = `
package io.k8s.api.networking.v1beta1
HTTPIngressPath: path 1 string ?; pathType 3 string *?; backend 2 IngressBackend
HTTPIngressRuleValue: paths 1 []HTTPIngressPath
Ingress typed: metadata 1 meta.v1.ObjectMeta; spec 2 IngressSpec; status 3 networking.v1.IngressStatus
IngressBackend: serviceName 1 string ?; servicePort 2 IntOrString; resource 3 core.v1.TypedLocalObjectReference *?
IngressRule: host 1 string ?; http 1 HTTPIngressRuleValue *? in=2:IngressRuleValue
IngressSpec: ingressClassName 4 string *?; backend 1 IngressBackend *?; tls 2 []networking.v1.IngressTLS ?; rules 3 []IngressRule ?

package io.k8s.api.extensions.v1beta1
DaemonSet typed: metadata 1 meta.v1.ObjectMeta; spec 2 DaemonSetSpec; status 3 apps.v1.DaemonSetStatus
DaemonSetSpec: selector 1 meta.v1.LabelSelector *?; template 2 core.v1.PodTemplateSpec; updateStrategy 3 apps.v1.DaemonSetUpdateStrategy; minReadySeconds 4 int32 ?; templateGeneration 5 int64 ?; revisionHistoryLimit 6 int32 *?
Deployment typed: metadata 1 meta.v1.ObjectMeta; spec 2 DeploymentSpec; status 3 apps.v1.DeploymentStatus
DeploymentSpec: replicas 1 int32 *?; selector 2 meta.v1.LabelSelector *?; template 3 core.v1.PodTemplateSpec; strategy 4 apps.v1.DeploymentStrategy; minReadySeconds 5 int32 ?; revisionHistoryLimit 6 int32 *?; paused 7 bool ?; rollbackTo 8 RollbackConfig *?; progressDeadlineSeconds 9 int32 *?
RollbackConfig: revision 1 int64 ?

package io.k8s.api.certificates.v1beta1
CertificateSigningRequest typed: metadata 1 meta.v1.ObjectMeta; spec 2 CertificateSigningRequestSpec; status 3 certificates.v1.CertificateSigningRequestStatus
CertificateSigningRequestSpec: request 1 bytes; signerName 7 string *?; expirationSeconds 8 int32 *?; usages 5 []string ?; username 2 string ?; uid 3 string ?; groups 4 []string ?; extra 6 {}()string ?

package io.k8s.api.discovery.v1beta1
Endpoint: addresses 1 []string; conditions 2 discovery.v1.EndpointConditions; hostname 3 string *?; targetRef 4 core.v1.ObjectReference *?; topology 5 {}string ?; nodeName 6 string *?; hints 7 discovery.v1.EndpointHints *?
EndpointSlice typed: metadata 1 meta.v1.ObjectMeta; addressType 4 string; endpoints 2 []Endpoint; ports 3 []discovery.v1.EndpointPort

package io.k8s.api.flowcontrol.v1beta2
LimitedPriorityLevelConfiguration: assuredConcurrencyShares 1 int32; limitResponse 2 flowcontrol.v1.LimitResponse; lendablePercent 3 int32 *?; borrowingLimitPercent 4 int32 *?
PriorityLevelConfiguration typed: metadata 1 meta.v1.ObjectMeta; spec 2 PriorityLevelConfigurationSpec; status 3 flowcontrol.v1.PriorityLevelConfigurationStatus
PriorityLevelConfigurationSpec: type 1 string; limited 2 LimitedPriorityLevelConfiguration *?; exempt 3 flowcontrol.v1.ExemptPriorityLevelConfiguration *?

package io.k8s.api.node.v1alpha1
RuntimeClass typed: metadata 1 meta.v1.ObjectMeta; spec 2 RuntimeClassSpec
RuntimeClassSpec: runtimeHandler 1 string; overhead 2 node.v1.Overhead *?; scheduling 3 node.v1.Scheduling *?

package io.k8s.api.rbac.v1alpha1
ClusterRole typed: metadata 1 meta.v1.ObjectMeta; rules 2 []PolicyRule; aggregationRule 3 rbac.v1.AggregationRule *?
ClusterRoleBinding typed: metadata 1 meta.v1.ObjectMeta; subjects 2 []Subject ?; roleRef 3 rbac.v1.RoleRef
PolicyRule: verbs 1 []string; apiGroups 3 []string ?; resources 4 []string ?; resourceNames 5 []string ?; nonResourceURLs 6 []string ?
Role typed: metadata 1 meta.v1.ObjectMeta; rules 2 []PolicyRule
RoleBinding typed: metadata 1 meta.v1.ObjectMeta; subjects 2 []Subject ?; roleRef 3 rbac.v1.RoleRef
Subject: kind 1 string; apiVersion 2 string ?; name 3 string; namespace 4 string ?
`;
