// Warnings about the containers of a pod: environment variables that hide others, and ports that overlap.
import { type Field, at, each } from '../../../common/validation/check.ts';
import { readPath, toNumber, toText } from '../../../common/values.ts';
import { warnOfFraction } from '../../../common/warnings/quantities.ts';

/** Warns of a variable that replaces an earlier one without referring to it. */
function warnOfEnvironment(container: Field): readonly string[] {
  const seen = new Set<string>();
  return each(at(container, 'env')).flatMap(({ path, value }) => {
    const name = toText(readPath(value, 'name'));
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    const text = toText(readPath(value, 'value'));
    const reference = `$(${name})`;
    const builds = readPath(value, 'valueFrom') === undefined && text !== reference && text.includes(reference);
    return builds ? [] : [`${path}: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`];
  });
}

interface Port {
  readonly path: string;
  readonly name: string;
  readonly key: string;
  readonly hostIp: string;
  readonly hostPort: number;
}

function readPorts(containers: readonly Field[]): readonly Port[] {
  return containers.flatMap((container) => each(at(container, 'ports'))).map(({ path, value }) => ({
    path, name: toText(readPath(value, 'name')), key: `${toNumber(readPath(value, 'containerPort'))}/${toText(readPath(value, 'protocol'))}`,
    hostIp: toText(readPath(value, 'hostIP')), hostPort: toNumber(readPath(value, 'hostPort')),
  }));
}

/** Warns of a hostIP without hostPort; the port prints as a Go struct. */
function warnOfHostIps(containers: readonly Field[]): readonly string[] {
  return containers.flatMap((container) => each(at(container, 'ports'))).flatMap((port) => {
    const [ip, number] = [toText(readPath(port.value, 'hostIP')), toNumber(readPath(port.value, 'hostPort') ?? 0)];
    if (ip === '' || number !== 0) return [];
    const name = toText(readPath(port.value, 'name'));
    const inner = `${toNumber(readPath(port.value, 'containerPort') ?? 0)} Protocol:${toText(readPath(port.value, 'protocol'))} HostIP:${ip}`;
    return [`${port.path}: hostIP set without hostPort: {Name:${name} HostPort:0 ContainerPort:${inner}}`];
  });
}

function relate(port: Port, other: Port): string | undefined {
  if (port.hostIp === other.hostIp && port.hostPort === other.hostPort) return 'duplicate';
  if (port.hostPort === 0 || other.hostPort === 0) return 'overlapping';
  const oneIsOpen = (port.hostIp === '') !== (other.hostIp === '');
  return port.hostPort === other.hostPort && oneIsOpen ? 'dangerously ambiguous' : undefined;
}

/** Each port is compared with at most this many others of the same number, which bounds the work. */
const MAX_COMPARED = 100;

function warnOfPorts(ports: readonly Port[]): readonly string[] {
  const byKey = new Map<string, Port[]>();
  return ports.flatMap((port) => {
    const others = byKey.get(port.key) ?? [];
    byKey.set(port.key, [...others.slice(0, MAX_COMPARED - 1), port]);
    return others.flatMap((other) => {
      const relation = relate(port, other);
      return relation === undefined ? [] : [`${port.path}: ${relation} port definition with ${other.path}`];
    });
  });
}

function warnOfPortNames(ports: readonly Port[]): readonly string[] {
  const byName = new Map<string, string>();
  return ports.flatMap(({ path, name }) => {
    const other = byName.get(name);
    if (name !== '' && other === undefined) byName.set(name, path);
    if (name === '' || other === undefined) return [];
    return [`${path}: duplicate port name "${name}" with ${other}, services and probes that select ports by name will use ${other}`];
  });
}

/** The warnings of containers, given in the order init, main, ephemeral. */
export function warnOfContainers(containers: readonly Field[]): readonly string[] {
  const ports = readPorts(containers);
  const own = (container: Field): readonly string[] => [
    ...['memory', 'ephemeral-storage'].flatMap((name) => ['limits', 'requests'].flatMap((list) => warnOfFraction(at(container, 'resources', list), name))),
    ...warnOfEnvironment(container),
  ];
  return [...containers.flatMap(own), ...warnOfHostIps(containers), ...warnOfPorts(ports), ...warnOfPortNames(ports)];
}
