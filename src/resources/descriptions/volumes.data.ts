// Descriptions of the volumes of pods, and of claims of persistent volumes. src/apimachinery/schema/descriptions.ts explains the notation.

const fsType = '  fsType: File system of the volume, for instance ext4. Default: chosen by the driver.';
const readOnly = '  readOnly: Whether the volume is mounted read-only. Default false.';
const secretRef = '  secretRef: Secret of the namespace with the credentials.';
const keyFields = (kind: string): string => `  items: Keys that become files, and their paths. Without it every key is a file of its own name.
  optional: Whether the ${kind} or its keys may be missing.`;
const defaultMode = '  defaultMode: Mode of the files where an item has none, from 0 to 0777. Default 0644.';

export const volumeDescriptions = `
package io.k8s.api.core.v1
Volume: Volume is storage under a name that containers of the pod mount; one source says what it is.
  awsElasticBlockStore: Disk of AWS. Removed; csi does it.
  azureDisk: Disk of Azure. Removed; csi does it.
  azureFile: File share of Azure. Removed; csi does it.
  cephfs: CephFS. Removed.
  cinder: Disk of OpenStack. Removed; csi does it.
  configMap: Keys of a ConfigMap as files.
  csi: Storage of a CSI driver that lives as long as the pod.
  downwardAPI: Fields of the pod as files.
  emptyDir: Empty directory that lives as long as the pod.
  ephemeral: Claim that is made for the pod and removed with it.
  fc: Fibre Channel disk.
  flexVolume: Storage of a program on the node. Deprecated; csi does it.
  flocker: Flocker. Removed.
  gcePersistentDisk: Disk of Google Cloud. Removed; csi does it.
  gitRepo: Clone of a Git repository. Deprecated; an init container does it.
  glusterfs: GlusterFS. Removed.
  hostPath: File or directory of the node.
  image: Files of an image, read-only.
  iscsi: ISCSI disk.
  name: Name of the volume, unique in the pod. A DNS label.
  nfs: NFS export.
  persistentVolumeClaim: PersistentVolumeClaim of the namespace.
  photonPersistentDisk: Disk of Photon. Removed.
  portworxVolume: Volume of Portworx. Removed; csi does it.
  projected: Several sources in one directory.
  quobyte: Quobyte. Removed.
  rbd: Rados block device. Removed.
  scaleIO: ScaleIO. Removed.
  secret: Keys of a Secret as files.
  storageos: StorageOS. Removed.
  vsphereVolume: Disk of vSphere. Removed; csi does it.
HostPathVolumeSource: HostPathVolumeSource is a file or directory of the node.
  path: Path on the node. A link is followed.
  type: What must be there: DirectoryOrCreate, Directory, FileOrCreate, File, Socket, CharDevice or BlockDevice. Default: no check.
EmptyDirVolumeSource: EmptyDirVolumeSource is an empty directory.
  medium: Where it is: empty for the disk of the node, Memory for RAM.
  sizeLimit: The most that it may hold. The pod is evicted when it holds more.
GCEPersistentDiskVolumeSource: GCEPersistentDiskVolumeSource is a disk of Google Cloud.
${fsType}
  partition: Partition of the disk; 0 for the whole.
  pdName: Name of the disk.
${readOnly}
AWSElasticBlockStoreVolumeSource: AWSElasticBlockStoreVolumeSource is a disk of AWS.
${fsType}
  partition: Partition of the disk; 0 for the whole.
${readOnly}
  volumeID: Identifier of the disk.
GitRepoVolumeSource: GitRepoVolumeSource is a clone of a Git repository.
  directory: Directory of the clone; '.' for the volume itself.
  repository: URL of the repository.
  revision: Commit that is checked out.
SecretVolumeSource: SecretVolumeSource has the keys of a Secret as files.
${defaultMode}
${keyFields('Secret')}
  secretName: Name of the Secret.
KeyToPath: KeyToPath says which file a key becomes.
  key: The key.
  mode: Mode of the file, from 0 to 0777. Default: that of the volume.
  path: Path of the file in the volume, without '..'.
NFSVolumeSource: NFSVolumeSource is an NFS export.
  path: Path that the server exports.
${readOnly}
  server: Name or address of the server.
ISCSIVolumeSource: ISCSIVolumeSource is an ISCSI disk.
  chapAuthDiscovery: Whether discovery authenticates by CHAP.
  chapAuthSession: Whether the session authenticates by CHAP.
${fsType}
  initiatorName: Name of the initiator. With iscsiInterface a new interface is made for it.
  iqn: Qualified name of the target.
  iscsiInterface: Interface of the initiator. Default: default.
  lun: Number of the unit.
  portals: Further addresses of the target.
${readOnly}
${secretRef}
  targetPortal: Address of the target, with its port unless that is 860 or 3260.
LocalObjectReference: LocalObjectReference names an object of the same namespace.
  name: Name of the object.
GlusterfsVolumeSource: GlusterfsVolumeSource is a volume of GlusterFS.
  endpoints: Endpoints object with the servers.
  path: Path of the volume.
${readOnly}
PersistentVolumeClaimVolumeSource: PersistentVolumeClaimVolumeSource is the volume that a claim is bound to.
  claimName: Name of the claim, in the namespace of the pod.
  readOnly: Whether all mounts are read-only. Default false.
RBDVolumeSource: RBDVolumeSource is a Rados block device.
${fsType}
  image: Name of the image.
  keyring: Keyring of the user. Default /etc/ceph/keyring.
  monitors: Addresses of Ceph monitors.
  pool: Name of the pool. Default rbd.
${readOnly}
  secretRef: Secret of the namespace with the key, instead of keyring.
  user: Name of the user. Default admin.
FlexVolumeSource: FlexVolumeSource is storage of a program on the node.
  driver: Name of the program.
${fsType}
  options: Options of the program.
${readOnly}
${secretRef}
CinderVolumeSource: CinderVolumeSource is a disk of OpenStack.
${fsType}
${readOnly}
${secretRef}
  volumeID: Identifier of the disk.
CephFSVolumeSource: CephFSVolumeSource is a mount of CephFS.
  monitors: Addresses of Ceph monitors.
  path: Path that is mounted. Default /.
${readOnly}
  secretFile: File with the key of the user. Default /etc/ceph/user.secret.
  secretRef: Secret of the namespace with the key, instead of secretFile.
  user: Name of the user. Default admin.
FlockerVolumeSource: FlockerVolumeSource is a dataset of Flocker.
  datasetName: Name of the dataset.
  datasetUUID: UUID of the dataset.
DownwardAPIVolumeSource: DownwardAPIVolumeSource has fields of the pod as files.
${defaultMode}
  items: The files.
DownwardAPIVolumeFile: DownwardAPIVolumeFile is a file with a field of the pod.
  fieldRef: Field of the pod: annotations, labels, name, namespace or uid of its metadata.
  mode: Mode of the file, from 0 to 0777. Default: that of the volume.
  path: Path of the file in the volume, without '..'.
  resourceFieldRef: Resource of a container, such as limits.cpu or requests.memory.
ObjectFieldSelector: ObjectFieldSelector is a field of an object.
  apiVersion: Version in which the path is written. Default v1.
  fieldPath: Path of the field.
ResourceFieldSelector: ResourceFieldSelector is a resource of a container.
  containerName: The container. Needed in volumes, not in variables of the environment.
  divisor: Unit of the value. Default 1.
  resource: Resource, such as limits.cpu.
FCVolumeSource: FCVolumeSource is a Fibre Channel disk.
${fsType}
  lun: Number of the unit.
${readOnly}
  targetWWNs: World wide names of the target.
  wwids: World wide identifiers of the volume, instead of targetWWNs and lun.
AzureFileVolumeSource: AzureFileVolumeSource is a file share of Azure.
${readOnly}
  secretName: Secret with the name and key of the account.
  shareName: Name of the share.
ConfigMapVolumeSource: ConfigMapVolumeSource has the keys of a ConfigMap as files.
${defaultMode}
${keyFields('ConfigMap')}
  name: Name of the ConfigMap.
VsphereVirtualDiskVolumeSource: VsphereVirtualDiskVolumeSource is a disk of vSphere.
${fsType}
  storagePolicyID: Identifier of the storage policy.
  storagePolicyName: Name of the storage policy.
  volumePath: Path of the disk.
QuobyteVolumeSource: QuobyteVolumeSource is a volume of Quobyte.
  group: Group that mounts it. Default: none.
${readOnly}
  registry: Addresses of the registry, separated by commas.
  tenant: Tenant that owns the volume.
  user: User that mounts it. Default: that of the service.
  volume: Name of the volume.
AzureDiskVolumeSource: AzureDiskVolumeSource is a disk of Azure.
  cachingMode: Cache of the host: None, ReadOnly or ReadWrite.
  diskName: Name of the disk.
  diskURI: URI of the disk.
${fsType}
  kind: Shared, Dedicated or Managed.
${readOnly}
PhotonPersistentDiskVolumeSource: PhotonPersistentDiskVolumeSource is a disk of Photon.
${fsType}
  pdID: Identifier of the disk.
ProjectedVolumeSource: ProjectedVolumeSource puts several sources into one directory.
${defaultMode}
  sources: The sources.
VolumeProjection: VolumeProjection is one source of a projected volume; exactly one of its fields is set.
  clusterTrustBundle: Certificates of ClusterTrustBundles as a file.
  configMap: Keys of a ConfigMap as files.
  downwardAPI: Fields of the pod as files.
  podCertificate: Private key and certificate of the pod, renewed in time.
  secret: Keys of a Secret as files.
  serviceAccountToken: Token of the pod's service account, renewed in time.
SecretProjection: SecretProjection has the keys of a Secret as files.
${keyFields('Secret')}
  name: Name of the Secret.
DownwardAPIProjection: DownwardAPIProjection has fields of the pod as files.
  items: The files.
ConfigMapProjection: ConfigMapProjection has the keys of a ConfigMap as files.
${keyFields('ConfigMap')}
  name: Name of the ConfigMap.
ServiceAccountTokenProjection: ServiceAccountTokenProjection is a token in a file.
  audience: Audience of the token. Default: the API server.
  expirationSeconds: Seconds for which a token is good; it is renewed before. At least 600, default 3600.
  path: Path of the file in the volume.
ClusterTrustBundleProjection: ClusterTrustBundleProjection is a file with certificates of ClusterTrustBundles.
  labelSelector: Labels of the bundles, with signerName. An empty selector means all of them, none means no bundle.
  name: Name of one bundle. Not together with signerName and labelSelector.
  optional: Whether the bundles may be missing; the file is empty then.
  path: Path of the file in the volume.
  signerName: Signer of the bundles.
PodCertificateProjection: PodCertificateProjection has a private key and certificates for the pod.
  certificateChainPath: File for the certificates alone.
  credentialBundlePath: File for the key and the certificates together.
  keyPath: File for the key alone.
  keyType: Sort of the key: RSA3072, RSA4096, ECDSAP256, ECDSAP384, ECDSAP521 or ED25519.
  maxExpirationSeconds: The longest time for which the certificate may be good. At least an hour, at most 91 days. Default a day.
  signerName: Signer that issues the certificate.
  userAnnotations: Texts for the signer, by keys with a domain as prefix.
PortworxVolumeSource: PortworxVolumeSource is a volume of Portworx.
${fsType}
${readOnly}
  volumeID: Identifier of the volume.
ScaleIOVolumeSource: ScaleIOVolumeSource is a volume of ScaleIO.
${fsType}
  gateway: Address of the gateway.
  protectionDomain: Name of the protection domain.
${readOnly}
${secretRef}
  sslEnabled: Whether the gateway is asked over TLS. Default false.
  storageMode: ThickProvisioned or ThinProvisioned (the default).
  storagePool: Storage pool of the protection domain.
  system: Name of the system.
  volumeName: Name of the volume.
StorageOSVolumeSource: StorageOSVolumeSource is a volume of StorageOS.
${fsType}
${readOnly}
${secretRef}
  volumeName: Name of the volume.
  volumeNamespace: Namespace of the volume in StorageOS. Default: that of the pod.
CSIVolumeSource: CSIVolumeSource is storage of a CSI driver.
  driver: Name of the driver.
${fsType}
  nodePublishSecretRef: Secret of the namespace with the credentials for mounting.
${readOnly}
  volumeAttributes: Settings for the driver.
EphemeralVolumeSource: EphemeralVolumeSource is a claim that belongs to the pod.
  volumeClaimTemplate: What the claim looks like. Its name is that of the pod, a hyphen and that of the volume.
PersistentVolumeClaimTemplate: PersistentVolumeClaimTemplate is what claims that are made for pods look like.
  metadata: Labels and annotations of the claim.
  spec: What the claim asks for.
ImageVolumeSource: ImageVolumeSource has the files of an image.
  pullPolicy: When the image is pulled: Always, IfNotPresent or Never. Default: Always for the tag latest, else IfNotPresent.
  reference: Name of the image.
PersistentVolumeClaim: PersistentVolumeClaim asks for storage, and is bound to a volume that has it.
  metadata: Standard object's metadata: its name, labels, owners and history.
  spec: What the claim asks for.
  status: What the claim is bound to. Written by the system, read-only for users.
PersistentVolumeClaimSpec: PersistentVolumeClaimSpec is what a claim asks for.
  accessModes: How the volume must be mountable: ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod.
  dataSource: VolumeSnapshot or claim of the namespace whose data the new volume has.
  dataSourceRef: The same for any kind of object and, where enabled, of other namespaces.
  resources: How much storage is asked for.
  selector: Labels that the volume must have.
  storageClassName: StorageClass of the volume. Empty: volumes without a class; unset: the default class.
  volumeAttributesClassName: VolumeAttributesClass with the settings of the volume. It can be changed later.
  volumeMode: Filesystem (the default) or Block.
  volumeName: Volume that the claim is bound to.
VolumeResourceRequirements: VolumeResourceRequirements says how much storage is asked for.
  limits: The most that is wanted, by resource.
  requests: What is needed at least, by resource.
TypedLocalObjectReference: TypedLocalObjectReference names an object of the same namespace.
  apiGroup: Group of the object. Unset for the core group.
  kind: Kind of the object.
  name: Name of the object.
TypedObjectReference: TypedObjectReference names an object.
  apiGroup: Group of the object. Unset for the core group.
  kind: Kind of the object.
  name: Name of the object.
  namespace: Namespace of the object. Another one needs a ReferenceGrant there.
PersistentVolumeClaimStatus: PersistentVolumeClaimStatus is what was last seen of a claim.
  accessModes: How the volume can be mounted.
  allocatedResourceStatuses: How far a change of the size is, by resource.
  allocatedResources: Size that a change is going to, by resource.
  capacity: Size of the volume, by resource.
  conditions: Aspects of the state, such as Resizing and FileSystemResizePending.
  currentVolumeAttributesClassName: VolumeAttributesClass that the volume has now.
  modifyVolumeStatus: How far a change of the VolumeAttributesClass is.
  phase: Pending, Bound or Lost.
PersistentVolumeClaimCondition: PersistentVolumeClaimCondition is one aspect of the state of a claim.
  lastProbeTime: Time of the last look.
  lastTransitionTime: Time at which the status changed the last time.
  message: Sentence for people about the last transition.
  reason: Word for programs about the last transition, in CamelCase.
  status: True, False or Unknown.
  type: Type of the condition.
ModifyVolumeStatus: ModifyVolumeStatus is the state of a change of the VolumeAttributesClass.
  status: Pending, InProgress or Infeasible.
  targetVolumeAttributesClassName: VolumeAttributesClass that the volume will have.
`;
