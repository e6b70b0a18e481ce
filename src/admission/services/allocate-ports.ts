// Ports of nodes for one Service. Ports asked for are taken or refused, one by one in the order of the Service's ports. Two ports of a new Service that
// have the same number, over two protocols, have one port of the nodes; any other port that is asked for twice is refused.
import { failure, internalError, invalid, invalidValue } from '../../apimachinery/index.ts';
import type { Random } from '../../base/index.ts';
import { type PortRange, createPortPool } from './node-ports.ts';
import { type Claims, takeAny } from './pool.ts';
import type { Reservation } from './reservation.ts';
import { type ServicePort, type ServiceSpec, heldNodePorts, listNodePorts, listPorts, mayHoldNodePorts, needsHealthCheck, needsNodePorts } from './service.ts';

interface PortWish {
  /** Nothing is kept: only ports that another Service has are refused, whatever the range. */
  readonly isDry: boolean;
  readonly spec: ServiceSpec;
  readonly before: ServiceSpec | undefined;
  readonly reservation: Reservation;
  readonly claims: Claims;
  readonly random: Random;
  readonly portRange: PortRange;
}

/** Ports that were taken in this write. */
type Taken = Set<number>;

const ALREADY_TAKEN = 'provided port is already allocated';

/** Takes a port that is asked for; the problem where that cannot be. */
async function take({ claims, reservation, isDry, portRange: { first, last } }: PortWish, port: number, taken: Taken): Promise<string | undefined> {
  if (isDry) {
    if (taken.has(port) || await claims.isTaken(String(port))) return ALREADY_TAKEN;
  } else {
    if (port < first || port > last) return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
    if (!(await claims.claim(String(port), reservation.owner))) return ALREADY_TAKEN;
    reservation.addTaken(claims, String(port));
  }
  taken.add(port);
  return undefined;
}

/** Upstream's first port for a dry run, less one. It looks at no range, as nothing is kept. */
const DRY_PORT = 32_768;

async function takeFree({ isDry, claims, reservation, random, portRange }: PortWish, taken: Taken): Promise<number> {
  const port = isDry ? String(Math.max(...taken.size === 0 ? [DRY_PORT] : taken) + 1)
    : await takeAny({ claims, owner: reservation.owner, random }, createPortPool(portRange));
  if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
  if (!isDry) reservation.addTaken(claims, port);
  taken.add(Number(port));
  return Number(port);
}

/** Takes the port that the Service's port at an index asks for, or throws. */
async function takeAsked(wish: PortWish, { asked, index }: { readonly asked: number; readonly index: number }, taken: Taken): Promise<void> {
  const problem = await take(wish, asked, taken);
  if (problem === undefined) return;
  throw invalid({ group: '', kind: 'Service' }, wish.reservation.owner.name, [invalidValue(`spec.ports[${index}].nodePort`, asked, problem)]);
}

/** Gives a port of a new Service its port of the nodes; `given` has those of the ports before it, by their numbers. */
async function giveNew(wish: PortWish, port: ServicePort, { taken, given }: { readonly taken: Taken; readonly given: Map<number, number> }): Promise<void> {
  const ports = listPorts(wish.spec);
  const [index, number] = [ports.indexOf(port), port.port ?? 0];
  const known = given.get(number);
  if (known === undefined) {
    const asked = ports.find((one) => (one.port ?? 0) === number && one.nodePort)?.nodePort;
    if (asked !== undefined) await takeAsked(wish, { asked, index }, taken);
    port.nodePort = asked ?? await takeFree(wish, taken);
    given.set(number, port.nodePort);
  } else if (!port.nodePort) {
    port.nodePort = known;
  } else if (port.nodePort !== known) {
    await takeAsked(wish, { asked: port.nodePort, index }, taken);
  }
}

async function giveAllNew(wish: PortWish, taken: Taken): Promise<void> {
  const given = new Map<number, number>();
  for (const port of listPorts(wish.spec)) if (port.nodePort || needsNodePorts(wish.spec)) await giveNew(wish, port, { taken, given });
}

/** Gives the ports of a Service that was there before theirs; it may keep those that it had. Throws a plain error where one of a protocol is there twice. */
async function giveAllChanged(wish: PortWish, before: ServiceSpec, taken: Taken): Promise<void> {
  const { spec } = wish;
  const held = new Set(listNodePorts(before));
  const asked = new Set<number>();
  const seen = new Set<string>();
  for (const [index, port] of listPorts(spec).entries()) {
    if (!port.nodePort && !needsNodePorts(spec)) continue;
    if (!port.nodePort) {
      port.nodePort = await takeFree(wish, taken);
    } else if (!held.has(port.nodePort) && !asked.has(port.nodePort)) {
      await takeAsked(wish, { asked: port.nodePort, index }, taken);
      asked.add(port.nodePort);
    }
    const key = `${port.protocol ?? ''} ${port.nodePort}`;
    if (seen.has(key)) throw failure(500, '', `duplicate nodePort: {${key}}`);
    seen.add(key);
  }
}

async function giveHealthCheckPort(wish: PortWish, taken: Taken): Promise<void> {
  const { spec, before } = wish;
  if (!needsHealthCheck(spec) || (before !== undefined && needsHealthCheck(before))) return;
  const wanted = spec.healthCheckNodePort ?? 0;
  if (wanted === 0) {
    spec.healthCheckNodePort = await takeFree(wish, taken);
  } else {
    const problem = await take(wish, wanted, taken);
    if (problem !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem}`);
  }
}

/** Gives the Service the ports of nodes that it needs, in place. */
export async function allocatePorts(wish: PortWish): Promise<void> {
  const { spec, before, reservation, claims } = wish;
  const taken: Taken = new Set();
  if (mayHoldNodePorts(spec)) {
    await (before === undefined ? giveAllNew(wish, taken) : giveAllChanged(wish, before, taken));
    await giveHealthCheckPort(wish, taken);
  }
  const kept = new Set(heldNodePorts(spec));
  for (const port of before === undefined ? [] : heldNodePorts(before)) if (!kept.has(port)) reservation.addObsolete(claims, String(port));
}
