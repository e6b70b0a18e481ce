// Descriptions of containers: what they run, with which environment, resources, probes and rights, and what their status says.
// src/apimachinery/schema/descriptions.ts explains the notation.

const containerFields = (isEphemeral: boolean): string => {
  const barred = isEphemeral ? ' Not allowed for ephemeral containers.' : '';
  return `  args: Arguments of the command. Default: those of the image. $(NAME) stands for a variable of the environment, $$(NAME) for that text itself.
  command: Program and first arguments, run without a shell. Default: the entry point of the image. $(NAME) stands for a variable of the environment.
  env: Variables of the environment, in this order.
  envFrom: ConfigMaps and Secrets whose keys become variables of the environment. Later ones replace earlier ones; env replaces both.
  image: Name of the image.
  imagePullPolicy: When the image is pulled: Always, IfNotPresent or Never. Default: Always for the tag latest, else IfNotPresent.
  lifecycle: Actions after the start and before the end.${barred}
  livenessProbe: Probe whose failure restarts the container.${barred}
  name: Name of the container, unique in the pod. A DNS label.
  ports: Ports that the container listens on. For information; a port that is not listed can be reached as well.${barred}
  readinessProbe: Probe whose failure takes the pod out of Services.${barred}
  resizePolicy: What happens to the container when its resources change.${barred}
  resources: Resources that the container gets.${isEphemeral ? ' Not allowed: they use what is free in the pod.' : ''}
  restartPolicy: Restart policy of this container alone. ${isEphemeral ? 'Not allowed for ephemeral containers.' : 'Always makes an init container a sidecar.'}
  restartPolicyRules: Rules by the exit code that come before restartPolicy.${barred}
  securityContext: Rights and identities of the container. They come before those of the pod.
  startupProbe: Probe that must succeed before the others begin; its failure restarts the container.${barred}
  stdin: Whether the container has a standard input. Default false.
  stdinOnce: Whether standard input is closed after the first client that was attached. Default false.
  terminationMessagePath: File whose last bytes become the message of the container's end. Default /dev/termination-log.
  terminationMessagePolicy: Where that message comes from: File (the default), or FallbackToLogsOnError, which takes the log when the file is empty.
  tty: Whether the container has a terminal; needs stdin. Default false.
  volumeDevices: Volumes that the container sees as block devices.
  volumeMounts: Volumes that are mounted into the container.${isEphemeral ? ' Without subPath.' : ''}
  workingDir: Working directory. Default: that of the image.`;
};

const handlers = `  exec: Runs a command in the container.
  httpGet: Sends an HTTP GET.`;

export const containerDescriptions = `
package io.k8s.api.core.v1
Container: Container is one program of a pod, with its image and all that it needs.
${containerFields(false)}
EphemeralContainer: EphemeralContainer is a container that is added to a running pod for debugging. It has no resources of its own and is never restarted.
${containerFields(true)}
  targetContainerName: Container of the pod whose processes this one sees.
ContainerPort: ContainerPort is a port that a container listens on.
  containerPort: The port, from 1 to 65535.
  hostIP: Address of the node to which hostPort is bound.
  hostPort: Port of the node that leads to this one. With hostNetwork it must be the same.
  name: Name by which Services can refer to the port, unique in the pod.
  protocol: TCP (the default), UDP or SCTP.
EnvFromSource: EnvFromSource names a source of variables.
  configMapRef: ConfigMap whose keys become variables.
  prefix: Text in front of each name.
  secretRef: Secret whose keys become variables.
ConfigMapEnvSource: ConfigMapEnvSource names a ConfigMap.
  name: Name of the ConfigMap.
  optional: Whether the container starts without it.
SecretEnvSource: SecretEnvSource names a Secret.
  name: Name of the Secret.
  optional: Whether the container starts without it.
EnvVar: EnvVar is a variable of the environment.
  name: Name of the variable.
  value: Its value. $(NAME) stands for a variable before it. Default: empty.
  valueFrom: Where the value comes from, instead of value.
EnvVarSource: EnvVarSource says where a value comes from; exactly one of its fields is set.
  configMapKeyRef: Key of a ConfigMap.
  fieldRef: Field of the pod, such as metadata.name, metadata.labels['KEY'], spec.nodeName or status.podIP.
  fileKeyRef: Key of a file that an earlier container wrote to a volume.
  resourceFieldRef: Resource of a container, such as limits.cpu or requests.memory.
  secretKeyRef: Key of a Secret.
ConfigMapKeySelector: ConfigMapKeySelector is a key of a ConfigMap.
  key: The key.
  name: Name of the ConfigMap.
  optional: Whether the key or the ConfigMap may be missing.
SecretKeySelector: SecretKeySelector is a key of a Secret.
  key: The key.
  name: Name of the Secret.
  optional: Whether the key or the Secret may be missing.
FileKeySelector: FileKeySelector is a key of a file with lines of the form NAME=VALUE.
  key: The key.
  optional: Whether the key or the file may be missing. Default false.
  path: Path of the file in the volume, without '..'.
  volumeName: Volume with the file.
ResourceRequirements: ResourceRequirements says how much of each resource is set aside and how much may be used.
  claims: ResourceClaims of the pod that the container uses.
  limits: The most that may be used, by resource.
  requests: What is set aside at least, by resource. Default: the limits.
ResourceClaim: ResourceClaim names an entry of the pod's resourceClaims.
  name: Name of the entry.
  request: Request of that claim; empty for all of them.
ContainerResizePolicy: ContainerResizePolicy says how a change of one resource reaches the running container.
  resourceName: cpu or memory.
  restartPolicy: NotRequired (the default) or RestartContainer.
ContainerRestartRule: ContainerRestartRule says what happens after an end with certain exit codes.
  action: What happens when the rule matches: Restart, or RestartAllContainers.
  exitCodes: Exit codes for which the rule counts.
ContainerRestartRuleOnExitCodes: ContainerRestartRuleOnExitCodes matches exit codes.
  operator: In or NotIn.
  values: The exit codes, at most 255 of them.
VolumeMount: VolumeMount is the place of a volume in a container.
  mountPath: Path in the container; without ':'.
  mountPropagation: Whether mounts spread between node and container: None (the default), HostToContainer or Bidirectional.
  name: Name of the volume.
  readOnly: Whether the container can only read. Default false.
  recursiveReadOnly: Whether mounts below are read-only too: Disabled, IfPossible or Enabled.
  subPath: Path in the volume that is mounted. Default: its root.
  subPathExpr: The same with $(NAME) for variables of the environment. Not together with subPath.
VolumeDevice: VolumeDevice is the place of a block device in a container.
  devicePath: Path of the device in the container.
  name: Name of a volume of the pod that is a PersistentVolumeClaim.
Probe: Probe is a check that the kubelet makes again and again.
  exec: Runs a command; exit code 0 means success.
  failureThreshold: Failures in a row after which the probe has failed. Default 3.
  grpc: Calls the gRPC health service.
  httpGet: Sends an HTTP GET; 200 to 399 mean success.
  initialDelaySeconds: Seconds after the start before the first check.
  periodSeconds: Seconds between checks. Default 10.
  successThreshold: Successes in a row after which a failed probe counts as passed. Default 1, which liveness and startup need.
  tcpSocket: Opens a TCP connection.
  terminationGracePeriodSeconds: Seconds that the processes have to end after this probe has failed. Default: those of the pod.
  timeoutSeconds: Seconds after which a check has failed. Default 1.
ExecAction: ExecAction runs a command in a container.
  command: Program and arguments, without a shell. The directory is the root of the container.
HTTPGetAction: HTTPGetAction sends an HTTP GET.
  host: Host to connect to. Default: the address of the pod. A name for the Host header belongs to httpHeaders.
  httpHeaders: Headers of the request.
  path: Path of the request.
  port: Number or name of the port.
  scheme: HTTP (the default) or HTTPS; certificates are not verified.
HTTPHeader: HTTPHeader is a header of a probe.
  name: Name of the header.
  value: Its value.
TCPSocketAction: TCPSocketAction opens a TCP connection.
  host: Host to connect to. Default: the address of the pod.
  port: Number or name of the port.
GRPCAction: GRPCAction calls the gRPC health service.
  port: Port of the service.
  service: Service that the call names. Default: empty.
Lifecycle: Lifecycle holds what is done around the life of a container.
  postStart: Done right after the start; the container counts as running when it is done. A failure ends the container.
  preStop: Done before the container is asked to end, within the grace period.
  stopSignal: Signal that asks the container to end. Default: that of the image or the runtime. Needs spec.os.name.
LifecycleHandler: LifecycleHandler is what is done; exactly one of its fields is set.
${handlers}
  sleep: Waits.
  tcpSocket: Not supported; kept for older objects.
SleepAction: SleepAction waits.
  seconds: How long.
SecurityContext: SecurityContext holds the rights and identities of one container.
  allowPrivilegeEscalation: Whether a process can gain more rights than its parent. Always true for privileged containers. Linux only.
  appArmorProfile: AppArmor profile of the container. Linux only.
  capabilities: Capabilities that are added to and dropped from those of the runtime. Linux only.
  privileged: Whether the container has all the rights of root on the node. Default false. Linux only.
  procMount: How /proc is mounted: Default or Unmasked. Linux only.
  readOnlyRootFilesystem: Whether the root file system is read-only. Default false. Linux only.
  runAsGroup: Group of the processes. Linux only.
  runAsNonRoot: Whether the container is refused by the kubelet when it would run as root.
  runAsUser: User of the processes. Default: that of the image. Linux only.
  seLinuxOptions: SELinux labels of the container. Linux only.
  seccompProfile: Seccomp profile of the container. Linux only.
  windowsOptions: Settings for Windows.
Capabilities: Capabilities are parts of the rights of root.
  add: Capabilities that are added.
  drop: Capabilities that are dropped; ALL for all.
SELinuxOptions: SELinuxOptions are the labels of a container.
  level: Level.
  role: Role.
  type: Type.
  user: User.
WindowsSecurityContextOptions: WindowsSecurityContextOptions are settings for containers of Windows.
  gmsaCredentialSpec: Text of the credential specification; a webhook fills it in from gmsaCredentialSpecName.
  gmsaCredentialSpecName: Name of the credential specification.
  hostProcess: Whether the container runs on the host itself. All containers of a pod must agree, and hostNetwork must be true.
  runAsUserName: User of the entry point. Default: that of the image.
SeccompProfile: SeccompProfile names a filter of system calls.
  localhostProfile: File of the profile on the node, for Localhost.
  type: Localhost, RuntimeDefault or Unconfined.
AppArmorProfile: AppArmorProfile names a profile.
  localhostProfile: Profile that is loaded on the node, for Localhost.
  type: Localhost, RuntimeDefault or Unconfined.
ContainerStatus: ContainerStatus is what the kubelet has last seen of a container.
  allocatedResources: Resources that the node has set aside for the container.
  allocatedResourcesStatus: State of devices that the container uses.
  containerID: Identifier of the container, as runtime://id.
  image: Image that the container runs; it may be another name of the image in the spec.
  imageID: Identifier of the image.
  lastState: State before the last restart.
  name: Name of the container.
  ready: Whether the container passes its readiness probe.
  resources: Resources that the running container has.
  restartCount: How often the container was restarted. Ended containers that were cleared away no longer count.
  started: Whether the container has passed its startup probe and its postStart action.
  state: State of the container.
  stopSignal: Signal that asks the container to end.
  user: Identity of the first process.
  volumeMounts: State of the mounts.
ContainerState: ContainerState is the state of a container; one of its fields is set, without any it is waiting.
  running: Set while it runs.
  terminated: Set when it has ended.
  waiting: Set while it cannot start yet.
ContainerStateWaiting: ContainerStateWaiting says why a container does not run yet.
  message: Sentence for people.
  reason: Word for programs, for instance ImagePullBackOff.
ContainerStateRunning: ContainerStateRunning says since when a container runs.
  startedAt: Time of the last start.
ContainerStateTerminated: ContainerStateTerminated says how a container has ended.
  containerID: Identifier of the container, as runtime://id.
  exitCode: Exit code.
  finishedAt: Time of the end.
  message: What the container left in terminationMessagePath.
  reason: Word for programs, for instance Completed, Error or OOMKilled.
  signal: Signal that ended it.
  startedAt: Time of its start.
VolumeMountStatus: VolumeMountStatus is the state of a mount.
  mountPath: Path in the container.
  name: Name of the mount.
  readOnly: Whether it is read-only.
  recursiveReadOnly: Disabled or Enabled: what IfPossible came to.
  volumeStatus: State of the volume behind it.
VolumeStatus: VolumeStatus is the state of a volume.
  image: State of a volume that is an image.
ImageVolumeStatus: ImageVolumeStatus is the state of a volume that is an image.
  imageRef: Digest of the image.
ContainerUser: ContainerUser is the identity of the first process of a container.
  linux: User and groups on Linux.
LinuxContainerUser: LinuxContainerUser is an identity on Linux.
  gid: First group.
  supplementalGroups: Further groups.
  uid: User.
ResourceStatus: ResourceStatus is the state of the devices of one resource.
  name: Name of the resource, or claim:NAME/REQUEST.
  resources: State of each device.
ResourceHealth: ResourceHealth is the state of one device.
  health: Healthy, Unhealthy or Unknown.
  message: Sentence for people.
  resourceID: Identifier of the device.
`;
