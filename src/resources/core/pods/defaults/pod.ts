// Defaults of pods and pod templates (upstream's SetDefaults_Pod, _PodSpec, _Container, _Volume, _Probe …). Templates get all of them except
// the few that only a pod has: requests taken from limits, resources of the pod as a whole, and service links.
import type { JsonObject, KubeObject } from '../../../../apimachinery/index.ts';
import { ensureStruct, mergeMissing, readPointer, readStructs, roundResources, setAbsent, setZero } from '../../../common/defaults.ts';
import { toNumber } from '../../../common/values.ts';
import { applyClaimSpecDefaults, applyVolumeDefaults } from '../../volumes/defaults.ts';
import { choosePullPolicy } from './images.ts';
import { applyPodLevelDefaults } from './pod-level.ts';

const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };

function applyHttpDefaults(handler: JsonObject | undefined): void {
  const http = readPointer(handler, 'httpGet');
  if (http !== undefined) setZero(http, { path: '/', scheme: 'HTTP' });
}

function applyProbeDefaults(probe: JsonObject | undefined): void {
  if (probe === undefined) return;
  setZero(probe, probeDefaults);
  applyHttpDefaults(probe);
  const grpc = readPointer(probe, 'grpc');
  if (grpc !== undefined) setAbsent(grpc, { service: '' });
}

function applyEnvDefaults(container: JsonObject): void {
  for (const variable of readStructs(container, 'env')) {
    const source = readPointer(variable, 'valueFrom');
    const [field, file] = [readPointer(source, 'fieldRef'), readPointer(source, 'fileKeyRef')];
    if (field !== undefined) setZero(field, { apiVersion: 'v1' });
    if (file !== undefined) setAbsent(file, { optional: false });
  }
}

function applyContainerDefaults(container: JsonObject): void {
  setZero(container, {
    terminationMessagePath: '/dev/termination-log', terminationMessagePolicy: 'File', imagePullPolicy: choosePullPolicy(container['image']),
  });
  for (const port of readStructs(container, 'ports')) setZero(port, { protocol: 'TCP' });
  applyEnvDefaults(container);
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) applyProbeDefaults(readPointer(container, probe));
  const lifecycle = readPointer(container, 'lifecycle');
  for (const hook of ['postStart', 'preStop']) applyHttpDefaults(readPointer(lifecycle, hook));
  roundResources(readPointer(container, 'resources'), 'limits', 'requests');
}

/** Keeps serviceAccountName and serviceAccount equal. */
function mirrorServiceAccount(spec: JsonObject): void {
  const name = spec['serviceAccountName'] || spec['serviceAccount'];
  if (!name) return;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
}

/** Defaults of a pod spec, in pods and in templates. */
function applyPodSpecDefaults(spec: JsonObject): void {
  setZero(spec, { restartPolicy: 'Always', dnsPolicy: 'ClusterFirst', schedulerName: 'default-scheduler' });
  setAbsent(spec, { terminationGracePeriodSeconds: 30, securityContext: {} });
  mirrorServiceAccount(spec);
  for (const volume of readStructs(spec, 'volumes')) {
    applyVolumeDefaults(volume);
    const template = readPointer(readPointer(volume, 'ephemeral'), 'volumeClaimTemplate');
    if (template !== undefined) applyClaimSpecDefaults(ensureStruct(template, 'spec'));
  }
  for (const field of ['initContainers', 'containers', 'ephemeralContainers']) readStructs(spec, field).forEach(applyContainerDefaults);
  roundResources(spec, 'overhead');
  roundResources(readPointer(spec, 'resources'), 'limits', 'requests');
}

/** Defaults of the pod template that a spec holds; `before` is the spec that an update replaces. */
export function applyTemplateDefaults(parent: Record<string, unknown>, before?: unknown): void {
  if (isShared(parent, before, 'template')) return;
  applyPodSpecDefaults(ensureStruct(ensureStruct(parent, 'template'), 'spec'));
}

/** Requests default to the limits. */
function requestLimits(container: JsonObject): void {
  const resources = readPointer(container, 'resources');
  const limits = readPointer(resources, 'limits');
  if (resources === undefined || limits === undefined || Object.keys(limits).length === 0) return;
  const requests = mergeMissing(resources['requests'], limits);
  if (requests !== resources['requests']) resources['requests'] = requests;
}

/** Ports of a pod on the network of its node are those of the node; templates do without this default. */
function exposePorts(container: JsonObject): void {
  for (const port of readStructs(container, 'ports')) if (port['containerPort'] !== undefined) setZero(port, { hostPort: port['containerPort'] });
}

/** Keeps hostIP and the first of hostIPs equal. */
function mirrorAddress(status: JsonObject | undefined): void {
  if (status === undefined) return;
  const list = readStructs(status, 'podIPs');
  const first = list[0]?.['ip'];
  if (list.length === 0 && status['podIP']) status['podIPs'] = [{ ip: status['podIP'] }];
  else if (first) setZero(status, { podIP: first });
}

/** Whether an update shares a struct with what it replaces, so that the struct has its defaults. */
function isShared(object: Readonly<Record<string, unknown>>, before: unknown, name: string): boolean {
  return before !== undefined && object[name] !== undefined && object[name] === readPointer(before, name);
}

/** Defaults of a pod. */
export function applyPodDefaults(pod: KubeObject, before?: KubeObject): void {
  if (!isShared(pod, before, 'spec')) applyOwnSpecDefaults(pod);
  if (!isShared(pod, before, 'status')) applyStatusDefaults(readPointer(pod, 'status'));
}

function applyStatusDefaults(status: JsonObject | undefined): void {
  mirrorAddress(status);
  const ofContainers = ['initContainerStatuses', 'containerStatuses', 'ephemeralContainerStatuses'].flatMap((name) => readStructs(status, name));
  for (const holder of [...ofContainers, status]) {
    roundResources(holder, 'allocatedResources');
    roundResources(readPointer(holder, 'resources'), 'limits', 'requests');
  }
}

/** Defaults of the spec of a pod, some of which templates do without. */
function applyOwnSpecDefaults(pod: KubeObject): void {
  const spec = ensureStruct(pod, 'spec');
  const containers = ['containers', 'initContainers'].flatMap((field) => readStructs(spec, field));
  containers.forEach(requestLimits);
  // The amounts are added before they are rounded.
  applyPodLevelDefaults(spec);
  applyPodSpecDefaults(spec);
  if (spec['hostNetwork'] === true) containers.forEach(exposePorts);
  setAbsent(spec, { enableServiceLinks: true });
  // A negative time of grace is one second, in pods and not in templates.
  if (toNumber(spec['terminationGracePeriodSeconds']) < 0) spec['terminationGracePeriodSeconds'] = 1;
}
