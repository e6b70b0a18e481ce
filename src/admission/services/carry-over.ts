// What a client that updates a Service left out although it was allocated: carried over from the stored Service. Mirrors patchAllocatedValues
// and normalizeClusterIPs of the reference, so that a PUT of a manifest keeps addresses and ports.
import { type ServiceSpec, isSameList, listPorts, needsClusterIp, needsHealthCheck, needsNodePorts } from './service.ts';

function carryNodePorts(spec: ServiceSpec, before: ServiceSpec): void {
  const used = new Set(listPorts(spec).map(({ nodePort }) => nodePort));
  const byName = new Map(listPorts(before).map(({ name = '', nodePort }) => [name, nodePort]));
  for (const port of listPorts(spec)) {
    const known = byName.get(port.name ?? '');
    if (port.nodePort || !known || used.has(known)) continue;
    port.nodePort = known;
    used.add(known);
  }
}

function carryAllocated(spec: ServiceSpec, before: ServiceSpec): void {
  if (needsClusterIp(before) && needsClusterIp(spec)) {
    if (!spec.clusterIP && before.clusterIP) spec.clusterIP = before.clusterIP;
    if (!spec.clusterIPs?.length && before.clusterIPs) spec.clusterIPs = [...before.clusterIPs];
  }
  if (needsNodePorts(before) && needsNodePorts(spec)) carryNodePorts(spec, before);
  if (needsHealthCheck(before) && needsHealthCheck(spec) && before.healthCheckNodePort) spec.healthCheckNodePort ||= before.healthCheckNodePort;
}

/** Fills in what was left out and makes clusterIP and clusterIPs agree, in place; `before` is undefined for a new Service. */
export function carryOver(spec: ServiceSpec, before: ServiceSpec | undefined): void {
  if (before === undefined) {
    if (spec.clusterIP && !spec.clusterIPs?.length) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  carryAllocated(spec, before);
  const [ip, oldIp] = [spec.clusterIP ?? '', before.clusterIP ?? ''];
  if (ip === oldIp) {
    if (!spec.clusterIPs?.length && before.clusterIPs?.length) spec.clusterIPs = [...before.clusterIPs];
  } else if (isSameList(spec.clusterIPs, before.clusterIPs)) {
    if (ip === '') delete spec.clusterIPs;
    else spec.clusterIPs = [ip];
  }
}
