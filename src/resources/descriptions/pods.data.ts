// Descriptions of pods: what they ask for, where they run, and what their status says; containers and volumes have files of their own.
// src/apimachinery/schema/descriptions.ts explains the notation.

const objectFields = (kind: string): string => `  metadata: Standard object's metadata: its name, labels, owners and history.
  spec: What is wanted of the ${kind}.
  status: What was last seen of the ${kind}. Written by the system, read-only for users.`;

export const podDescriptions = `
package io.k8s.api.core.v1
Pod: Pod is a group of containers that run together on one node and share its network address and volumes.
${objectFields('pod')}
PodTemplate: PodTemplate is a stored template for pods.
  template: The template.
PodTemplateSpec: PodTemplateSpec is what pods that a controller makes look like.
  metadata: Labels, annotations and finalizers that the pods get.
  spec: What is wanted of the pods.
PodSpec: PodSpec is what a pod runs, with which storage, where and with which rights.
  activeDeadlineSeconds: Seconds, counted from the start of the pod, after which it is stopped and marked as failed. A positive number.
  affinity: Rules about the nodes, and about the neighbours on them, that the scheduler obeys or prefers.
  automountServiceAccountToken: Whether a token of the service account is mounted into the containers. Default: what the service account says, else true.
  containers: The containers of the pod; at least one. Containers cannot be added or removed later.
  dnsConfig: DNS servers, search domains and options, added to what dnsPolicy brings.
  dnsPolicy: How names are resolved: ClusterFirst (the default), ClusterFirstWithHostNet, Default (as the node does) or None (only dnsConfig).
  enableServiceLinks: Whether the Services of the namespace appear as environment variables. Default true.
  ephemeralContainers: Containers that were added to the running pod for debugging, through the ephemeralcontainers subresource. They cannot be removed.
  hostAliases: Further lines for /etc/hosts of the pod.
  hostIPC: Whether the containers use the IPC namespace of the node. Default false.
  hostNetwork: Whether the containers use the network of the node. Ports are then ports of the node. Default false.
  hostPID: Whether the containers see the processes of the node. Default false.
  hostUsers: Whether the containers share the user namespace of the node. False gives the pod one of its own. Default true.
  hostname: Host name of the pod. Default: the name of the pod.
  hostnameOverride: Host name that the pod sees, whatever its name, hostname and subdomain are. Not together with setHostnameAsFQDN or hostNetwork.
  imagePullSecrets: Secrets of the namespace with which images are pulled.
  initContainers: Containers that run to their end, one after the other, before the others start; one with restartPolicy Always goes on as a sidecar.
  nodeName: Node on which the pod runs. The scheduler sets it; a pod that names one itself is not scheduled.
  nodeSelector: Labels that a node must have for the pod to run on it.
  os: Operating system that the containers need. Fields that belong to another one must be unset.
  overhead: Resources that running the pod takes besides its containers. Set from the RuntimeClass at creation.
  preemptionPolicy: Whether pods of lower priority may be ended for this one: PreemptLowerPriority (the default) or Never.
  priority: Priority as a number, taken from priorityClassName at creation. Higher numbers come first.
  priorityClassName: Name of the PriorityClass. Without it the default class counts, or 0 where there is none.
  readinessGates: Conditions that must be True, besides ready containers, for the pod to be ready.
  resourceClaims: ResourceClaims that must be allocated before the pod starts, under names that containers refer to. Cannot be changed.
  resources: Resources of all containers together. Containers without figures of their own share what is left.
  restartPolicy: When containers that have ended start again: Always (the default), OnFailure or Never.
  runtimeClassName: RuntimeClass with which the pod runs. Without it the default runtime of the node is used.
  schedulerName: Scheduler that places the pod. Default default-scheduler.
  schedulingGates: Reasons why the scheduler does not look at the pod yet. They can be removed one by one, and added at creation only.
  schedulingGroup: Group of pods that are scheduled together with this one.
  securityContext: Rights and identities of the whole pod. What a container says of itself comes first.
  serviceAccount: Older name of serviceAccountName.
  serviceAccountName: ServiceAccount under which the pod runs. Default: default.
  setHostnameAsFQDN: Whether the host name of the pod is its full DNS name. Default false.
  shareProcessNamespace: Whether all containers see each other's processes. Not together with hostPID. Default false.
  subdomain: With it the DNS name of the pod is hostname.subdomain.namespace.svc and the domain of the cluster.
  terminationGracePeriodSeconds: Seconds that the processes have after they are asked to end. 0 ends them at once. Default 30.
  tolerations: Taints of nodes that the pod puts up with.
  topologySpreadConstraints: How pods are spread over zones, nodes and other parts of the cluster. All constraints count.
  volumes: Storage that containers of the pod can mount.
Affinity: Affinity holds rules about the place of a pod.
  nodeAffinity: Rules about labels and fields of nodes.
  podAffinity: Rules about pods that should be near.
  podAntiAffinity: Rules about pods that should not be near.
NodeAffinity: NodeAffinity holds rules about nodes.
  preferredDuringSchedulingIgnoredDuringExecution: Terms with weights; nodes with a higher sum are preferred. Pods that already run stay where they are.
  requiredDuringSchedulingIgnoredDuringExecution: Terms of which a node must match one. Pods that already run stay where they are.
NodeSelector: NodeSelector selects nodes that match at least one of its terms.
  nodeSelectorTerms: The terms, of which one must match.
NodeSelectorTerm: NodeSelectorTerm matches nodes that meet all its requirements. An empty one matches none.
  matchExpressions: Requirements on labels.
  matchFields: Requirements on fields; metadata.name is the only one.
NodeSelectorRequirement: NodeSelectorRequirement is a condition on one label or field.
  key: Label or field.
  operator: In, NotIn, Exists, DoesNotExist, Gt or Lt.
  values: Values for In and NotIn, one whole number for Gt and Lt, none for the others.
PreferredSchedulingTerm: PreferredSchedulingTerm is a term that counts for nodes that match it.
  preference: The term.
  weight: How much it counts, from 1 to 100.
PodAffinity: PodAffinity holds rules about pods in whose neighbourhood this one should run.
  preferredDuringSchedulingIgnoredDuringExecution: Terms with weights; nodes with a higher sum are preferred. Pods that already run stay where they are.
  requiredDuringSchedulingIgnoredDuringExecution: Terms that must all be met at scheduling. Pods that already run stay where they are.
PodAntiAffinity: PodAntiAffinity holds rules about pods whose neighbourhood this one should avoid.
  preferredDuringSchedulingIgnoredDuringExecution: Terms with weights; nodes with a lower sum are preferred. Pods that already run stay where they are.
  requiredDuringSchedulingIgnoredDuringExecution: Terms none of which may be met at scheduling. Pods that already run stay where they are.
PodAffinityTerm: PodAffinityTerm selects pods, and says what counts as their neighbourhood.
  labelSelector: Labels of the pods. Without it no pod is selected.
  matchLabelKeys: Labels whose values are taken from the new pod: pods with the same values are selected. Not keys of labelSelector.
  mismatchLabelKeys: Labels whose values are taken from the new pod: pods with other values are selected. Not keys of labelSelector.
  namespaceSelector: Labels of namespaces in which pods are looked for, besides namespaces. An empty selector means all.
  namespaces: Namespaces in which pods are looked for. Without it and without namespaceSelector: that of the pod itself.
  topologyKey: Label of nodes; nodes with the same value are one neighbourhood.
WeightedPodAffinityTerm: WeightedPodAffinityTerm is a term with its weight.
  podAffinityTerm: The term.
  weight: How much it counts, from 1 to 100.
Toleration: Toleration lets a pod run on nodes with taints that match it.
  effect: Effect of the taints: NoSchedule, PreferNoSchedule or NoExecute. Empty for all.
  key: Key of the taints. Empty, with the operator Exists, for all.
  operator: How the value is compared: Exists, Equal (the default), or Lt and Gt for numbers.
  tolerationSeconds: How long the pod stays on the node after a NoExecute taint has come. Without it: for ever; 0 and less: not at all.
  value: Value of the taints; empty for Exists.
TopologySpreadConstraint: TopologySpreadConstraint says how evenly matching pods are spread over domains of nodes.
  labelSelector: Labels of the pods that are counted in each domain.
  matchLabelKeys: Labels whose values are taken from the new pod, as further conditions on the pods that are counted. Not keys of labelSelector.
  maxSkew: How much fuller than the emptiest domain any domain may become. At least 1.
  minDomains: Number of domains below which the emptiest counts as having no pods. Only with DoNotSchedule. Default 1.
  nodeAffinityPolicy: Whether only nodes that match the node affinity of the pod count: Honor (the default) or Ignore.
  nodeTaintsPolicy: Whether nodes with taints that the pod does not tolerate are left out: Honor, or Ignore (the default).
  topologyKey: Label of nodes; nodes with the same value are one domain.
  whenUnsatisfiable: What happens where the constraint cannot be met: DoNotSchedule or ScheduleAnyway.
HostAlias: HostAlias is a line of /etc/hosts.
  hostnames: Names for the address.
  ip: The address.
PodDNSConfig: PodDNSConfig is what a pod adds to its DNS settings.
  nameservers: Addresses of DNS servers, at most three in all.
  options: Options of the resolver; later ones replace earlier ones of the same name.
  searches: Domains in which short names are looked for.
PodDNSConfigOption: PodDNSConfigOption is an option of the resolver.
  name: Name of the option, for instance ndots.
  value: Its value; absent for options without one.
PodOS: PodOS is the operating system that a pod needs.
  name: linux or windows.
PodReadinessGate: PodReadinessGate names a condition that readiness depends on.
  conditionType: Type of a condition of the pod.
PodResourceClaim: PodResourceClaim is a ResourceClaim of the pod under a name of its own.
  name: Name by which containers refer to the claim, unique in the pod.
  resourceClaimName: Existing ResourceClaim of the namespace. Either this or resourceClaimTemplateName.
  resourceClaimTemplateName: Template from which a ResourceClaim is made for this pod, which is removed with it.
PodSchedulingGate: PodSchedulingGate is a reason why the scheduler waits.
  name: Name of the gate, unique in the pod.
PodSchedulingGroup: PodSchedulingGroup says with which pods this one is scheduled.
  podGroupName: PodGroup of the namespace.
PodSecurityContext: PodSecurityContext holds the rights and identities of all containers of a pod.
  appArmorProfile: AppArmor profile of the containers. Linux only.
  fsGroup: Group that owns the volumes that support it, and that all processes belong to. Linux only.
  fsGroupChangePolicy: When owners and modes of volumes are changed for fsGroup: Always (the default) or OnRootMismatch. Linux only.
  runAsGroup: Group of the processes. Default: that of the image or the runtime. Linux only.
  runAsNonRoot: Whether containers that would run as root are refused by the kubelet.
  runAsUser: User of the processes. Default: that of the image. Linux only.
  seLinuxChangePolicy: How volumes get the SELinux label of the pod: Recursive or MountOption (the default). Linux only.
  seLinuxOptions: SELinux labels of the containers. Default: chosen by the runtime. Linux only.
  seccompProfile: Seccomp profile of the containers. Linux only.
  supplementalGroups: Further groups of the processes. Linux only.
  supplementalGroupsPolicy: Whether groups of the image count as well: Merge (the default) or Strict. Linux only.
  sysctls: Settings of the kernel for the pod. Linux only.
  windowsOptions: Settings for Windows.
Sysctl: Sysctl is a setting of the kernel.
  name: Name of the setting.
  value: Its value.
PodStatus: PodStatus is what the kubelet and controllers have last seen of a pod.
  allocatedResources: Resources that the node has set aside for the pod as a whole.
  conditions: Aspects of the state of the pod, such as PodScheduled, Initialized, ContainersReady and Ready.
  containerStatuses: States of the containers.
  ephemeralContainerStatuses: States of the ephemeral containers.
  extendedResourceClaimStatus: ResourceClaim that was made for extended resources of the containers.
  hostIP: Address of the node. Empty as long as the pod has none.
  hostIPs: Addresses of the node, the first of which is hostIP.
  initContainerStatuses: States of the init containers. A container is ready when it has ended well or, for a sidecar, has started.
  message: Sentence for people: why the pod is in this state.
  nodeAllocatableResourceClaimStatuses: ResourceClaims of the pod that take from the ordinary resources of the node.
  nominatedNodeName: Node on which the pod will probably run once pods that make room for it are gone.
  observedGeneration: Generation of the pod that the status is about.
  phase: Summary of the state: Pending, Running, Succeeded, Failed or Unknown.
  podIP: Address of the pod in the cluster. Empty as long as it has none.
  podIPs: Addresses of the pod, the first of which is podIP; at most one of each family.
  qosClass: Class by which the node decides what to end first when memory is short: Guaranteed, Burstable or BestEffort.
  reason: Word for programs: why the pod is in this state, for instance Evicted.
  resize: State of a change of resources. Conditions say it since 1.33.
  resourceClaimStatuses: Names of ResourceClaims that were made from templates.
  resources: Resources that the running pod has as a whole.
  startTime: Time at which the kubelet took the pod on, before it pulled images.
PodCondition: PodCondition is one aspect of the state of a pod.
  lastProbeTime: Time of the last look.
  lastTransitionTime: Time at which the status changed the last time.
  message: Sentence for people about the last transition.
  observedGeneration: Generation of the pod that the condition is about.
  reason: Word for programs about the last transition, in CamelCase.
  status: True, False or Unknown.
  type: Type of the condition.
HostIP: HostIP is an address of a node.
  ip: The address.
PodIP: PodIP is an address of a pod.
  ip: The address.
PodResourceClaimStatus: PodResourceClaimStatus names the ResourceClaim of an entry of resourceClaims.
  name: Name of the entry in the spec.
  resourceClaimName: ResourceClaim that was made from the template. Unset when none was needed.
PodExtendedResourceClaimStatus: PodExtendedResourceClaimStatus says which ResourceClaim stands for extended resources.
  requestMappings: Which request of the claim stands for which resource of which container.
  resourceClaimName: The ResourceClaim, in the namespace of the pod.
ContainerExtendedResourceRequest: ContainerExtendedResourceRequest maps an extended resource to a request of a claim.
  containerName: Container that asks for the resource.
  requestName: Request of the ResourceClaim that stands for it.
  resourceName: Extended resource.
NodeAllocatableResourceClaimStatus: NodeAllocatableResourceClaimStatus says what a ResourceClaim takes from the ordinary resources of the node.
  containers: Containers that use the claim.
  resourceClaimName: The ResourceClaim.
  resources: How much it takes of each resource.
`;
