// Descriptions of workloads: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and CronJobs. src/apimachinery/schema/descriptions.ts explains
// the notation.

const objectFields = (kind: string): string => `  metadata: Standard object's metadata: its name, labels, owners and history.
  spec: What is wanted of the ${kind}.
  status: What the controller has last seen of the ${kind}. Written by the system, read-only for users.`;

const conditionFields = `  lastTransitionTime: Time at which the status changed the last time.
  message: Sentence for people about the last transition.
  reason: Word for programs about the last transition, in CamelCase.
  status: True, False or Unknown.
  type: Type of the condition.`;

const observedGeneration = '  observedGeneration: Generation of the object that the controller has seen.';
const collisionCount = '  collisionCount: How often the name of a new revision was taken already. The controller uses it to make another one.';
const minReadySeconds = '  minReadySeconds: Seconds that a new pod must be ready without a restart to count as available. Default 0.';
const revisionHistoryLimit = '  revisionHistoryLimit: Number of old revisions that are kept to go back to. Default 10.';

export const workloadDescriptions = `
package io.k8s.api.apps.v1
Deployment: Deployment keeps a number of equal pods running, and replaces them step by step when their template changes.
${objectFields('Deployment')}
DeploymentSpec: DeploymentSpec is what is wanted of a Deployment.
${minReadySeconds}
  paused: Whether changes of the template wait.
  progressDeadlineSeconds: Seconds without progress after which a rollout counts as failed, in the condition Progressing. Default 600.
  replicas: Number of pods. Default 1.
${revisionHistoryLimit}
  selector: Labels of the pods. The template must have them; they cannot be changed.
  strategy: How old pods are replaced by new ones.
  template: What the pods look like. Their restartPolicy is Always.
DeploymentStrategy: DeploymentStrategy is how old pods are replaced.
  rollingUpdate: Settings of RollingUpdate.
  type: RollingUpdate (the default), or Recreate, which ends all old pods first.
RollingUpdateDeployment: RollingUpdateDeployment says how far the number of pods may differ from the wanted one during a rollout.
  maxSurge: Number or percentage of pods that may be there beyond the wanted number. Rounded up; default 25%.
  maxUnavailable: Number or percentage of pods that may be missing. Rounded down; default 25%.
DeploymentStatus: DeploymentStatus is what was last seen of a Deployment.
  availableReplicas: Pods that have been ready for minReadySeconds.
${collisionCount}
  conditions: Aspects of the state: Available, Progressing and ReplicaFailure.
${observedGeneration}
  readyReplicas: Pods that are ready.
  replicas: Pods that are there and are not being ended.
  terminatingReplicas: Pods that are being ended.
  unavailableReplicas: Pods that are still missing: they run but are not available, or are not there yet.
  updatedReplicas: Pods of the current template.
DeploymentCondition: DeploymentCondition is one aspect of the state of a Deployment.
${conditionFields}
  lastUpdateTime: Time of the last update of the condition.
ReplicaSet: ReplicaSet keeps a number of equal pods running. Deployments make them.
${objectFields('ReplicaSet')}
ReplicaSetSpec: ReplicaSetSpec is what is wanted of a ReplicaSet.
${minReadySeconds}
  replicas: Number of pods. Default 1.
  selector: Labels of the pods. The template must have them; they cannot be changed.
  template: What new pods look like.
ReplicaSetStatus: ReplicaSetStatus is what was last seen of a ReplicaSet.
  availableReplicas: Pods that have been ready for minReadySeconds.
  conditions: Aspects of the state, such as ReplicaFailure.
  fullyLabeledReplicas: Pods with all labels of the template.
${observedGeneration}
  readyReplicas: Pods that are ready.
  replicas: Pods that are there and are not being ended.
  terminatingReplicas: Pods that are being ended.
ReplicaSetCondition: ReplicaSetCondition is one aspect of the state of a ReplicaSet.
${conditionFields}
StatefulSet: StatefulSet keeps pods running that have lasting names, network names and storage.
${objectFields('StatefulSet')}
StatefulSetSpec: StatefulSetSpec is what is wanted of a StatefulSet.
${minReadySeconds}
  ordinals: How the pods are numbered. Default: from 0.
  persistentVolumeClaimRetentionPolicy: What becomes of claims when pods or the whole set go. Default: all are kept.
  podManagementPolicy: Order of starts and ends: OrderedReady (the default) or Parallel.
  replicas: Number of pods. Default 1.
${revisionHistoryLimit}
  selector: Labels of the pods. The template must have them; they cannot be changed.
  serviceName: Service that gives the pods their names in DNS. It must be there before the set.
  template: What the pods look like. Their names are that of the set, a hyphen and a number.
  updateStrategy: How pods are replaced when the template changes.
  volumeClaimTemplates: Claims that each pod gets for itself. They come before volumes of the same name in the template.
StatefulSetUpdateStrategy: StatefulSetUpdateStrategy is how pods are replaced.
  rollingUpdate: Settings of RollingUpdate.
  type: RollingUpdate (the default), or OnDelete, which waits until pods are deleted by hand.
RollingUpdateStatefulSetStrategy: RollingUpdateStatefulSetStrategy says which pods are replaced, and how many at a time.
  maxUnavailable: Number or percentage of pods that may be missing. Rounded up; default 1.
  partition: Pods with this number and above are replaced, those below stay as they are. Default 0.
StatefulSetPersistentVolumeClaimRetentionPolicy: StatefulSetPersistentVolumeClaimRetentionPolicy says what becomes of claims that the set has made.
  whenDeleted: When the set is deleted: Retain (the default) or Delete.
  whenScaled: When the set becomes smaller: Retain (the default) or Delete.
StatefulSetOrdinals: StatefulSetOrdinals says how pods are numbered.
  start: Number of the first pod. Default 0.
StatefulSetStatus: StatefulSetStatus is what was last seen of a StatefulSet.
  availableReplicas: Pods that have been ready for minReadySeconds.
${collisionCount}
  conditions: Aspects of the state.
  currentReplicas: Pods of currentRevision.
  currentRevision: Revision of the pods that are not replaced yet.
${observedGeneration}
  readyReplicas: Pods that are ready.
  replicas: Pods that the controller has made.
  updateRevision: Revision of the pods that are replaced already.
  updatedReplicas: Pods of updateRevision.
StatefulSetCondition: StatefulSetCondition is one aspect of the state of a StatefulSet.
${conditionFields}
DaemonSet: DaemonSet runs one pod on each node that its template allows.
${objectFields('DaemonSet')}
DaemonSetSpec: DaemonSetSpec is what is wanted of a DaemonSet.
${minReadySeconds}
${revisionHistoryLimit}
  selector: Labels of the pods. The template must have them; they cannot be changed.
  template: What the pods look like. Node selector and affinity choose the nodes. Their restartPolicy is Always.
  updateStrategy: How pods are replaced when the template changes.
DaemonSetUpdateStrategy: DaemonSetUpdateStrategy is how pods are replaced.
  rollingUpdate: Settings of RollingUpdate.
  type: RollingUpdate (the default), or OnDelete, which waits until pods are deleted by hand.
RollingUpdateDaemonSet: RollingUpdateDaemonSet says how many pods are replaced at a time.
  maxSurge: Number or percentage of nodes that may have the old and the new pod at the same time. Rounded up; default 0.
  maxUnavailable: Number or percentage of nodes whose pod may be missing. Rounded up; default 1.
DaemonSetStatus: DaemonSetStatus is what was last seen of a DaemonSet.
${collisionCount}
  conditions: Aspects of the state.
  currentNumberScheduled: Nodes that should have a pod and have one.
  desiredNumberScheduled: Nodes that should have a pod.
  numberAvailable: Nodes whose pod has been ready for minReadySeconds.
  numberMisscheduled: Nodes that have a pod and should not.
  numberReady: Nodes whose pod is ready.
  numberUnavailable: Nodes whose pod is missing or not available.
${observedGeneration}
  updatedNumberScheduled: Nodes with a pod of the current template.
DaemonSetCondition: DaemonSetCondition is one aspect of the state of a DaemonSet.
${conditionFields}
package io.k8s.api.batch.v1
Job: Job runs pods until a number of them have ended well.
${objectFields('Job')}
JobSpec: JobSpec is what is wanted of a Job.
  activeDeadlineSeconds: Seconds after which the Job is ended and has failed. Time in which it is suspended does not count.
  backoffLimit: Number of failures after which the Job has failed. Default 6, and no limit with backoffLimitPerIndex.
  backoffLimitPerIndex: The same for each index of an Indexed Job. Cannot be changed.
  completionMode: NonIndexed (the default), or Indexed, where each pod has a number from 0 to completions - 1.
  completions: Number of pods that must end well. Unset: one success ends the Job, with any parallelism.
  managedBy: Controller that looks after the Job. Default: kubernetes.io/job-controller. Cannot be changed.
  manualSelector: Whether the selector is the user's own. Left unset, the system makes labels and selector.
  maxFailedIndexes: Number of failed indexes after which the Job has failed. Only with backoffLimitPerIndex.
  parallelism: The most pods that run at the same time. Default 1.
  podFailurePolicy: Rules about failed pods; the first that matches decides. Needs restartPolicy Never.
  podReplacementPolicy: When a pod gets a successor: TerminatingOrFailed (the default) or Failed.
  selector: Labels of the pods. Normally made by the system.
  successPolicy: When an Indexed Job has succeeded before all its pods have.
  suspend: Whether the Job has no pods for now; running ones are ended. Default false.
  template: What the pods look like. Their restartPolicy is Never or OnFailure.
  ttlSecondsAfterFinished: Seconds after its end in which the Job is kept. 0 removes it at once; unset: it stays.
PodFailurePolicy: PodFailurePolicy says what failures of pods mean.
  rules: The rules, in this order; the first that matches decides. At most 20.
PodFailurePolicyRule: PodFailurePolicyRule says what a certain failure means; either onExitCodes or onPodConditions is set.
  action: FailJob, FailIndex, Ignore (the failure does not count) or Count.
  onExitCodes: Exit codes for which the rule counts.
  onPodConditions: Conditions of the pod, one of which must be there. At most 20.
PodFailurePolicyOnExitCodesRequirement: PodFailurePolicyOnExitCodesRequirement matches exit codes of containers.
  containerName: Container that is looked at. Default: all.
  operator: In or NotIn.
  values: The exit codes, in order and without doubles; not 0 for In. At most 255.
PodFailurePolicyOnPodConditionsPattern: PodFailurePolicyOnPodConditionsPattern matches a condition of a pod.
  status: Status of the condition. Default True.
  type: Type of the condition.
SuccessPolicy: SuccessPolicy says when an Indexed Job has succeeded.
  rules: The rules; the first that is met ends the Job. At most 20.
SuccessPolicyRule: SuccessPolicyRule is met by successes of certain indexes; at least one of its fields is set.
  succeededCount: Number of indexes that must succeed, of succeededIndexes where that is set.
  succeededIndexes: Indexes that must succeed, as in 1,3-5.
JobStatus: JobStatus is what was last seen of a Job.
  active: Pods that are pending or running and are not being ended.
  completedIndexes: Indexes that have succeeded, as in 1,3-5.
  completionTime: Time at which the Job succeeded. Unset for others.
  conditions: Aspects of the state: Complete, Failed, Suspended, SuccessCriteriaMet and FailureTarget.
  failed: Pods that have failed.
  failedIndexes: Indexes that have failed, as in 1,3-5.
  ready: Pods that are ready.
  startTime: Time at which the controller began the Job, or resumed it.
  succeeded: Pods that have succeeded.
  terminating: Pods that are being ended.
  uncountedTerminatedPods: Ended pods that are not in the numbers yet.
JobCondition: JobCondition is one aspect of the state of a Job.
  lastProbeTime: Time of the last look.
${conditionFields}
UncountedTerminatedPods: UncountedTerminatedPods are ended pods that the controller is about to count.
  failed: UIDs of failed pods.
  succeeded: UIDs of pods that have succeeded.
CronJob: CronJob makes Jobs at certain times.
${objectFields('CronJob')}
CronJobSpec: CronJobSpec is what is wanted of a CronJob.
  concurrencyPolicy: What happens when the Job before still runs: Allow (the default), Forbid (the new one is left out) or Replace.
  failedJobsHistoryLimit: Number of failed Jobs that are kept. Default 1.
  jobTemplate: What the Jobs look like.
  schedule: Times in the form of cron: minute, hour, day of the month, month, day of the week.
  startingDeadlineSeconds: Seconds by which a Job may be late; later ones are left out. Default: no limit.
  successfulJobsHistoryLimit: Number of successful Jobs that are kept. Default 3.
  suspend: Whether no further Jobs are made. Default false.
  timeZone: Time zone of the schedule, as in Europe/Berlin. Default: that of kube-controller-manager.
JobTemplateSpec: JobTemplateSpec is what Jobs that are made look like.
  metadata: Labels and annotations that the Jobs get.
  spec: What is wanted of the Jobs.
CronJobStatus: CronJobStatus is what was last seen of a CronJob.
  active: Jobs that run.
  lastScheduleTime: Time for which the last Job was made.
  lastSuccessfulTime: Time at which a Job succeeded the last time.
package io.k8s.api.core.v1
ObjectReference: ObjectReference names an object, or a part of it.
  apiVersion: Version of the object.
  fieldPath: Part of the object, as in spec.containers{web}.
  kind: Kind of the object.
  name: Name of the object.
  namespace: Namespace of the object.
  resourceVersion: Version of the object that is meant.
  uid: UID of the object.
`;
