// The spec of a pod, and policies of jobs, as Go structs of the reference with their members in order; go-structs.ts explains the notation.

/** The structs, in the notation of go-structs.ts. */
export const podStructs = `
PodSpec: Volumes []Volume; InitContainers []Container; Containers []Container; EphemeralContainers []EphemeralContainer; RestartPolicy ""; TerminationGracePeriodSeconds; ActiveDeadlineSeconds; DNSPolicy=dnsPolicy ""; NodeSelector; ServiceAccountName ""; AutomountServiceAccountToken; NodeName ""; SecurityContext *PodSecurityContext; ImagePullSecrets []LocalObjectReference; Hostname ""; Subdomain ""; SetHostnameAsFQDN; Affinity *Affinity; SchedulerName ""; Tolerations []Toleration; HostAliases []HostAlias; PriorityClassName ""; Priority; PreemptionPolicy; DNSConfig=dnsConfig *PodDNSConfig; ReadinessGates []PodReadinessGate; RuntimeClassName; Overhead; EnableServiceLinks; TopologySpreadConstraints []TopologySpreadConstraint; OS=os *PodOS; SchedulingGates []PodSchedulingGate; ResourceClaims []PodResourceClaim; Resources *ResourceRequirements; HostnameOverride; SchedulingGroup *PodSchedulingGroup
Volume: Name ""; +VolumeSource
VolumeSource: HostPath *HostPathVolumeSource; EmptyDir *EmptyDirVolumeSource; GCEPersistentDisk=gcePersistentDisk *GCEPersistentDiskVolumeSource; AWSElasticBlockStore=awsElasticBlockStore *AWSElasticBlockStoreVolumeSource; GitRepo *GitRepoVolumeSource; Secret *SecretVolumeSource; NFS=nfs *NFSVolumeSource; ISCSI=iscsi *ISCSIVolumeSource; Glusterfs *GlusterfsVolumeSource; PersistentVolumeClaim *PersistentVolumeClaimVolumeSource; RBD=rbd *RBDVolumeSource; Quobyte *QuobyteVolumeSource; FlexVolume *FlexVolumeSource; Cinder *CinderVolumeSource; CephFS=cephfs *CephFSVolumeSource; Flocker *FlockerVolumeSource; DownwardAPI *DownwardAPIVolumeSource; FC=fc *FCVolumeSource; AzureFile *AzureFileVolumeSource; ConfigMap *ConfigMapVolumeSource; VsphereVolume *VsphereVirtualDiskVolumeSource; AzureDisk *AzureDiskVolumeSource; PhotonPersistentDisk *PhotonPersistentDiskVolumeSource; Projected *ProjectedVolumeSource; PortworxVolume *PortworxVolumeSource; ScaleIO *ScaleIOVolumeSource; StorageOS=storageos *StorageOSVolumeSource; CSI=csi *CSIVolumeSource; Ephemeral *EphemeralVolumeSource; Image *ImageVolumeSource
HostPathVolumeSource: Path ""; Type
EmptyDirVolumeSource: Medium ""; SizeLimit
GCEPersistentDiskVolumeSource: PDName=pdName ""; FSType=fsType ""; Partition 0; ReadOnly false
AWSElasticBlockStoreVolumeSource: VolumeID ""; FSType=fsType ""; Partition 0; ReadOnly false
GitRepoVolumeSource: Repository ""; Revision ""; Directory ""
SecretVolumeSource: SecretName ""; Items []KeyToPath; DefaultMode; Optional
KeyToPath: Key ""; Path ""; Mode
NFSVolumeSource: Server ""; Path ""; ReadOnly false
ISCSIVolumeSource: TargetPortal ""; IQN=iqn ""; Lun 0; ISCSIInterface=iscsiInterface ""; FSType=fsType ""; ReadOnly false; Portals; DiscoveryCHAPAuth=chapAuthDiscovery false; SessionCHAPAuth=chapAuthSession false; SecretRef *LocalObjectReference; InitiatorName
LocalObjectReference: Name ""
GlusterfsVolumeSource: EndpointsName=endpoints ""; Path ""; ReadOnly false
PersistentVolumeClaimVolumeSource: ClaimName ""; ReadOnly false
RBDVolumeSource: CephMonitors=monitors; RBDImage=image ""; FSType=fsType ""; RBDPool=pool ""; RadosUser=user ""; Keyring ""; SecretRef *LocalObjectReference; ReadOnly false
QuobyteVolumeSource: Registry ""; Volume ""; ReadOnly false; User ""; Group ""; Tenant ""
FlexVolumeSource: Driver ""; FSType=fsType ""; SecretRef *LocalObjectReference; ReadOnly false; Options
CinderVolumeSource: VolumeID ""; FSType=fsType ""; ReadOnly false; SecretRef *LocalObjectReference
CephFSVolumeSource: Monitors; Path ""; User ""; SecretFile ""; SecretRef *LocalObjectReference; ReadOnly false
FlockerVolumeSource: DatasetName ""; DatasetUUID ""
DownwardAPIVolumeSource: Items []DownwardAPIVolumeFile; DefaultMode
DownwardAPIVolumeFile: Path ""; FieldRef *ObjectFieldSelector; ResourceFieldRef *ResourceFieldSelector; Mode
ObjectFieldSelector: APIVersion=apiVersion ""; FieldPath ""
ResourceFieldSelector: ContainerName ""; Resource ""; Divisor "0"
FCVolumeSource: TargetWWNs; Lun; FSType=fsType ""; ReadOnly false; WWIDs=wwids
AzureFileVolumeSource: SecretName ""; ShareName ""; ReadOnly false
ConfigMapVolumeSource: +LocalObjectReference; Items []KeyToPath; DefaultMode; Optional
VsphereVirtualDiskVolumeSource: VolumePath ""; FSType=fsType ""; StoragePolicyName ""; StoragePolicyID ""
AzureDiskVolumeSource: DiskName ""; DataDiskURI=diskURI ""; CachingMode; FSType=fsType; ReadOnly; Kind
PhotonPersistentDiskVolumeSource: PdID ""; FSType=fsType ""
ProjectedVolumeSource: Sources []VolumeProjection; DefaultMode
VolumeProjection: Secret *SecretProjection; DownwardAPI *DownwardAPIProjection; ConfigMap *ConfigMapProjection; ServiceAccountToken *ServiceAccountTokenProjection; ClusterTrustBundle *ClusterTrustBundleProjection; PodCertificate *PodCertificateProjection
SecretProjection: +LocalObjectReference; Items []KeyToPath; Optional
DownwardAPIProjection: Items []DownwardAPIVolumeFile
ConfigMapProjection: +LocalObjectReference; Items []KeyToPath; Optional
ServiceAccountTokenProjection: Audience ""; ExpirationSeconds 0; Path ""
ClusterTrustBundleProjection: Name; SignerName; LabelSelector; Optional; Path ""
PodCertificateProjection: SignerName ""; KeyType ""; MaxExpirationSeconds; CredentialBundlePath ""; KeyPath ""; CertificateChainPath ""; UserAnnotations
PortworxVolumeSource: VolumeID ""; FSType=fsType ""; ReadOnly false
ScaleIOVolumeSource: Gateway ""; System ""; SecretRef *LocalObjectReference; SSLEnabled=sslEnabled false; ProtectionDomain ""; StoragePool ""; StorageMode ""; VolumeName ""; FSType=fsType ""; ReadOnly false
StorageOSVolumeSource: VolumeName ""; VolumeNamespace ""; FSType=fsType ""; ReadOnly false; SecretRef *LocalObjectReference
CSIVolumeSource: Driver ""; ReadOnly; FSType=fsType; VolumeAttributes; NodePublishSecretRef *LocalObjectReference
EphemeralVolumeSource: VolumeClaimTemplate *PersistentVolumeClaimTemplate
PersistentVolumeClaimTemplate: Spec PersistentVolumeClaimSpec
PersistentVolumeClaimSpec: AccessModes; Selector; Resources VolumeResourceRequirements; VolumeName ""; StorageClassName; VolumeMode; DataSource *TypedLocalObjectReference; DataSourceRef *TypedObjectReference; VolumeAttributesClassName
VolumeResourceRequirements: Limits; Requests
TypedLocalObjectReference: APIGroup=apiGroup; Kind ""; Name ""
TypedObjectReference: APIGroup=apiGroup; Kind ""; Name ""; Namespace
PersistentVolumeSource: GCEPersistentDisk=gcePersistentDisk *GCEPersistentDiskVolumeSource; AWSElasticBlockStore=awsElasticBlockStore *AWSElasticBlockStoreVolumeSource; HostPath *HostPathVolumeSource; Glusterfs *GlusterfsPersistentVolumeSource; NFS=nfs *NFSVolumeSource; RBD=rbd *RBDPersistentVolumeSource; Quobyte *QuobyteVolumeSource; ISCSI=iscsi *ISCSIPersistentVolumeSource; FlexVolume *FlexPersistentVolumeSource; Cinder *CinderPersistentVolumeSource; CephFS=cephfs *CephFSPersistentVolumeSource; FC=fc *FCVolumeSource; Flocker *FlockerVolumeSource; AzureFile *AzureFilePersistentVolumeSource; VsphereVolume *VsphereVirtualDiskVolumeSource; AzureDisk *AzureDiskVolumeSource; PhotonPersistentDisk *PhotonPersistentDiskVolumeSource; PortworxVolume *PortworxVolumeSource; ScaleIO=scaleIO *ScaleIOPersistentVolumeSource; Local *LocalVolumeSource; StorageOS=storageos *StorageOSPersistentVolumeSource; CSI=csi *CSIPersistentVolumeSource
GlusterfsPersistentVolumeSource: EndpointsName=endpoints ""; Path ""; ReadOnly false; EndpointsNamespace
RBDPersistentVolumeSource: CephMonitors=monitors; RBDImage=image ""; FSType=fsType ""; RBDPool=pool ""; RadosUser=user ""; Keyring ""; SecretRef *SecretReference; ReadOnly false
ISCSIPersistentVolumeSource: TargetPortal ""; IQN=iqn ""; Lun 0; ISCSIInterface=iscsiInterface ""; FSType=fsType ""; ReadOnly false; Portals; DiscoveryCHAPAuth=chapAuthDiscovery false; SessionCHAPAuth=chapAuthSession false; SecretRef *SecretReference; InitiatorName
FlexPersistentVolumeSource: Driver ""; FSType=fsType ""; SecretRef *SecretReference; ReadOnly false; Options
CinderPersistentVolumeSource: VolumeID ""; FSType=fsType ""; ReadOnly false; SecretRef *SecretReference
CephFSPersistentVolumeSource: Monitors; Path ""; User ""; SecretFile ""; SecretRef *SecretReference; ReadOnly false
AzureFilePersistentVolumeSource: SecretName ""; ShareName ""; ReadOnly false; SecretNamespace
ScaleIOPersistentVolumeSource: Gateway ""; System ""; SecretRef *SecretReference; SSLEnabled=sslEnabled false; ProtectionDomain ""; StoragePool ""; StorageMode ""; VolumeName ""; FSType=fsType ""; ReadOnly false
LocalVolumeSource: Path ""; FSType=fsType
StorageOSPersistentVolumeSource: VolumeName ""; VolumeNamespace ""; FSType=fsType ""; ReadOnly false; SecretRef *ObjectReference
CSIPersistentVolumeSource: Driver ""; VolumeHandle ""; ReadOnly false; FSType=fsType ""; VolumeAttributes; ControllerPublishSecretRef *SecretReference; NodeStageSecretRef *SecretReference; NodePublishSecretRef *SecretReference; ControllerExpandSecretRef *SecretReference; NodeExpandSecretRef *SecretReference
SecretReference: Name ""; Namespace ""
ObjectReference: Kind ""; Namespace ""; Name ""; UID=uid ""; APIVersion=apiVersion ""; ResourceVersion ""; FieldPath ""
ImageVolumeSource: Reference ""; PullPolicy ""
Container: Name ""; Image ""; Command; Args; WorkingDir ""; Ports []ContainerPort; EnvFrom []EnvFromSource; Env []EnvVar; Resources ResourceRequirements; ResizePolicy []ContainerResizePolicy; RestartPolicy; RestartPolicyRules []ContainerRestartRule; VolumeMounts []VolumeMount; VolumeDevices []VolumeDevice; LivenessProbe *Probe; ReadinessProbe *Probe; StartupProbe *Probe; Lifecycle *Lifecycle; TerminationMessagePath ""; TerminationMessagePolicy ""; ImagePullPolicy ""; SecurityContext *SecurityContext; Stdin false; StdinOnce false; TTY=tty false
ContainerPort: Name ""; HostPort 0; ContainerPort 0; Protocol ""; HostIP ""
EnvFromSource: Prefix ""; ConfigMapRef *ConfigMapEnvSource; SecretRef *SecretEnvSource
ConfigMapEnvSource: +LocalObjectReference; Optional
SecretEnvSource: +LocalObjectReference; Optional
EnvVar: Name ""; Value ""; ValueFrom *EnvVarSource
EnvVarSource: FieldRef *ObjectFieldSelector; ResourceFieldRef *ResourceFieldSelector; ConfigMapKeyRef *ConfigMapKeySelector; SecretKeyRef *SecretKeySelector; FileKeyRef *FileKeySelector
ConfigMapKeySelector: +LocalObjectReference; Key ""; Optional
SecretKeySelector: +LocalObjectReference; Key ""; Optional
FileKeySelector: VolumeName ""; Path ""; Key ""; Optional
ResourceRequirements: Limits; Requests; Claims []ResourceClaim
ResourceClaim: Name ""; Request ""
ContainerResizePolicy: ResourceName ""; RestartPolicy ""
ContainerRestartRule: Action ""; ExitCodes *ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes: Operator ""; Values
VolumeMount: Name ""; ReadOnly false; RecursiveReadOnly; MountPath ""; SubPath ""; MountPropagation; SubPathExpr ""
VolumeDevice: Name ""; DevicePath ""
Probe: +ProbeHandler; InitialDelaySeconds 0; TimeoutSeconds 0; PeriodSeconds 0; SuccessThreshold 0; FailureThreshold 0; TerminationGracePeriodSeconds
ProbeHandler: Exec *ExecAction; HTTPGet=httpGet *HTTPGetAction; TCPSocket=tcpSocket *TCPSocketAction; GRPC=grpc *GRPCAction
ExecAction: Command
HTTPGetAction: Path ""; Port 0; Host ""; Scheme ""; HTTPHeaders=httpHeaders []HTTPHeader
HTTPHeader: Name ""; Value ""
TCPSocketAction: Port 0; Host ""
GRPCAction: Port 0; Service
Lifecycle: PostStart *LifecycleHandler; PreStop *LifecycleHandler; StopSignal
LifecycleHandler: Exec *ExecAction; HTTPGet=httpGet *HTTPGetAction; TCPSocket=tcpSocket *TCPSocketAction; Sleep *SleepAction
SleepAction: Seconds 0
SecurityContext: Capabilities *Capabilities; Privileged; SELinuxOptions=seLinuxOptions *SELinuxOptions; WindowsOptions *WindowsSecurityContextOptions; RunAsUser; RunAsGroup; RunAsNonRoot; ReadOnlyRootFilesystem; AllowPrivilegeEscalation; ProcMount; SeccompProfile *SeccompProfile; AppArmorProfile *AppArmorProfile
Capabilities: Add; Drop
SELinuxOptions: User ""; Role ""; Type ""; Level ""
WindowsSecurityContextOptions: GMSACredentialSpecName=gmsaCredentialSpecName; GMSACredentialSpec=gmsaCredentialSpec; RunAsUserName; HostProcess
SeccompProfile: Type ""; LocalhostProfile
AppArmorProfile: Type ""; LocalhostProfile
EphemeralContainer: +EphemeralContainerCommon; TargetContainerName ""
EphemeralContainerCommon: Name ""; Image ""; Command; Args; WorkingDir ""; Ports []ContainerPort; EnvFrom []EnvFromSource; Env []EnvVar; Resources ResourceRequirements; ResizePolicy []ContainerResizePolicy; RestartPolicy; RestartPolicyRules []ContainerRestartRule; VolumeMounts []VolumeMount; VolumeDevices []VolumeDevice; LivenessProbe *Probe; ReadinessProbe *Probe; StartupProbe *Probe; Lifecycle *Lifecycle; TerminationMessagePath ""; TerminationMessagePolicy ""; ImagePullPolicy ""; SecurityContext *SecurityContext; Stdin false; StdinOnce false; TTY=tty false
PodSecurityContext: HostNetwork false; HostPID false; HostIPC false; ShareProcessNamespace; HostUsers; SELinuxOptions=seLinuxOptions *SELinuxOptions; WindowsOptions *WindowsSecurityContextOptions; RunAsUser; RunAsGroup; RunAsNonRoot; SupplementalGroups; SupplementalGroupsPolicy; FSGroup=fsGroup; FSGroupChangePolicy=fsGroupChangePolicy; Sysctls []Sysctl; SeccompProfile *SeccompProfile; AppArmorProfile *AppArmorProfile; SELinuxChangePolicy=seLinuxChangePolicy
Sysctl: Name ""; Value ""
Affinity: NodeAffinity *NodeAffinity; PodAffinity *PodAffinity; PodAntiAffinity *PodAntiAffinity
NodeAffinity: RequiredDuringSchedulingIgnoredDuringExecution *NodeSelector; PreferredDuringSchedulingIgnoredDuringExecution []PreferredSchedulingTerm
NodeSelector: NodeSelectorTerms []NodeSelectorTerm
NodeSelectorTerm: MatchExpressions []NodeSelectorRequirement; MatchFields []NodeSelectorRequirement
NodeSelectorRequirement: Key ""; Operator ""; Values
PreferredSchedulingTerm: Weight 0; Preference NodeSelectorTerm
PodAffinity: RequiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm; PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
PodAffinityTerm: LabelSelector; Namespaces; TopologyKey ""; NamespaceSelector; MatchLabelKeys; MismatchLabelKeys
WeightedPodAffinityTerm: Weight 0; PodAffinityTerm PodAffinityTerm
PodAntiAffinity: RequiredDuringSchedulingIgnoredDuringExecution []PodAffinityTerm; PreferredDuringSchedulingIgnoredDuringExecution []WeightedPodAffinityTerm
Toleration: Key ""; Operator ""; Value ""; Effect ""; TolerationSeconds
HostAlias: IP=ip ""; Hostnames
PodDNSConfig: Nameservers; Searches; Options []PodDNSConfigOption
PodDNSConfigOption: Name ""; Value
PodReadinessGate: ConditionType ""
TopologySpreadConstraint: MaxSkew 0; TopologyKey ""; WhenUnsatisfiable ""; LabelSelector; MinDomains; NodeAffinityPolicy; NodeTaintsPolicy; MatchLabelKeys
PodOS: Name ""
PodSchedulingGate: Name ""
PodResourceClaim: Name ""; ResourceClaimName; ResourceClaimTemplateName
PodSchedulingGroup: PodGroupName
PodFailurePolicy: Rules []PodFailurePolicyRule
PodFailurePolicyRule: Action ""; OnExitCodes *PodFailurePolicyOnExitCodes; OnPodConditions []PodFailurePolicyOnPodConditions
PodFailurePolicyOnExitCodes: ContainerName; Operator ""; Values
PodFailurePolicyOnPodConditions: Type ""; Status ""
SuccessPolicy: Rules []SuccessPolicyRule
SuccessPolicyRule: SucceededIndexes; SucceededCount
`;
