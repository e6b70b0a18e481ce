// Ports of nodes for one Service. Ports asked for are taken or refused, one by one in the order of the Service's ports. Two ports of a new Service that
// have the same number, over two protocols, have one port of the nodes; any other port that is asked for twice is refused.
import { failure, internalError, invalid, invalidValue } from '../../apimachinery/index.ts';
import { type Clock, type Random, createTimeSlice } from '../../base/index.ts';
import { type PortRange, createPortPool } from './node-ports.ts';
import { type Claims, type Owner, takeAny } from './pool.ts';
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
  readonly clock: Clock;
  readonly portRange: PortRange;
}

/** Ports that were taken in this write. */
interface Taken {
  readonly ports: Set<number>;
  highest: number;
  /** What others have, read once for a dry run. */
  others?: Promise<ReadonlyMap<string, Owner>>;
}

function addPort(taken: Taken, port: number): void {
  taken.ports.add(port);
  taken.highest = Math.max(taken.highest, port);
}

const ALREADY_TAKEN = 'provided port is already allocated';
/** A Service may have a hundred thousand ports. */
const SLICE_MS = 5;

/** Takes a port that is asked for; the problem where that cannot be. */
async function take({ claims, reservation, isDry, portRange: { first, last } }: PortWish, port: number, taken: Taken): Promise<string | undefined> {
  if (isDry) {
    if (taken.ports.has(port) || (await (taken.others ??= claims.taken())).has(String(port))) return ALREADY_TAKEN;
  } else {
    if (port < first || port > last) return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
    if (!(await claims.claim(String(port), reservation.owner))) return ALREADY_TAKEN;
    reservation.addTaken(claims, String(port));
  }
  addPort(taken, port);
  return undefined;
}

/** Upstream's first port for a dry run, less one. It looks at no range, as nothing is kept. */
const DRY_PORT = 32_768;

async function takeFree({ isDry, claims, reservation, random, portRange }: PortWish, taken: Taken): Promise<number> {
  const port = isDry ? String((taken.ports.size === 0 ? DRY_PORT : taken.highest) + 1)
    : await takeAny({ claims, owner: reservation.owner, random }, createPortPool(portRange));
  if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
  if (!isDry) reservation.addTaken(claims, port);
  addPort(taken, Number(port));
  return Number(port);
}

/** Takes the port that the Service's port at an index asks for, or throws. */
async function takeAsked(wish: PortWish, { asked, index }: { readonly asked: number; readonly index: number }, taken: Taken): Promise<void> {
  const problem = await take(wish, asked, taken);
  if (problem === undefined) return;
  throw invalid({ group: '', kind: 'Service' }, wish.reservation.owner.name, [invalidValue(`spec.ports[${index}].nodePort`, asked, problem)]);
}

/** The ports that are asked for, and those that the ports of a new Service before one of them have been given. */
interface Progress {
  readonly taken: Taken;
  /** The first port of the nodes that is asked for, by the numbers of the Service's ports. */
  readonly asked: ReadonlyMap<number, number>;
  readonly given: Map<number, number>;
}

/** Gives a port of a new Service its port of the nodes. */
async function giveNew(wish: PortWish, [index, port]: readonly [number, ServicePort], { taken, asked: wanted, given }: Progress): Promise<void> {
  const number = port.port ?? 0;
  const known = given.get(number);
  if (known === undefined) {
    const asked = wanted.get(number);
    if (asked !== undefined) await takeAsked(wish, { asked, index }, taken);
    port.nodePort = asked ?? await takeFree(wish, taken);
    given.set(number, port.nodePort);
  } else if (!port.nodePort) {
    port.nodePort = known;
  } else if (port.nodePort !== known) {
    await takeAsked(wish, { asked: port.nodePort, index }, taken);
  }
  omitZero(port);
}

/** The port 0 of a range that begins with it is given out, and shown as absent. */
function omitZero(port: ServicePort): void {
  if (port.nodePort === 0) delete port.nodePort;
}

async function giveAllNew(wish: PortWish, taken: Taken): Promise<void> {
  const ports = listPorts(wish.spec);
  const asked = new Map(ports.flatMap(({ port = 0, nodePort }) => (nodePort ? [[port, nodePort] as const] : [])).reverse());
  const progress = { taken, asked, given: new Map<number, number>() };
  const pause = createTimeSlice(wish.clock, SLICE_MS);
  for (const entry of ports.entries()) {
    await pause();
    if (entry[1].nodePort || needsNodePorts(wish.spec)) await giveNew(wish, entry, progress);
  }
}

/** Gives the ports of a Service that was there before theirs; it may keep those that it had. Throws a plain error where one of a protocol is there twice. */
async function giveAllChanged(wish: PortWish, before: ServiceSpec, taken: Taken): Promise<void> {
  const { spec } = wish;
  const held = new Set(listNodePorts(before));
  const asked = new Set<number>();
  const seen = new Set<string>();
  const pause = createTimeSlice(wish.clock, SLICE_MS);
  for (const [index, port] of listPorts(spec).entries()) {
    await pause();
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
    omitZero(port);
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
  const taken: Taken = { ports: new Set(), highest: 0 };
  if (mayHoldNodePorts(spec)) {
    await (before === undefined ? giveAllNew(wish, taken) : giveAllChanged(wish, before, taken));
    await giveHealthCheckPort(wish, taken);
  }
  const kept = new Set(heldNodePorts(spec));
  for (const port of before === undefined ? [] : heldNodePorts(before)) if (!kept.has(port)) reservation.addObsolete(claims, String(port));
}
