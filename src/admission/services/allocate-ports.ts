// Ports of nodes for one Service. Ports asked for are taken or refused; a port that a new Service has twice, over two protocols, has one number for both.
import { failure, internalError, invalid, invalidValue } from '../../apimachinery/index.ts';
import type { Random } from '../../base/index.ts';
import { type PortRange, createPortPool } from './node-ports.ts';
import { type Claims, takeAny } from './pool.ts';
import type { Reservation } from './reservation.ts';
import { type ServicePort, type ServiceSpec, heldNodePorts, listPorts, mayHoldNodePorts, needsHealthCheck, needsNodePorts } from './service.ts';

interface PortWish {
  /** Nothing is kept, and upstream takes any port that is asked for. */
  readonly isDry: boolean;
  readonly spec: ServiceSpec;
  readonly before: ServiceSpec | undefined;
  readonly reservation: Reservation;
  readonly claims: Claims;
  readonly random: Random;
  readonly portRange: PortRange;
}

/** Ports that this Service has, or has taken in this write. */
type Mine = Set<number>;

async function findProblem({ claims, reservation, isDry, portRange: { first, last } }: PortWish, port: number): Promise<string | undefined> {
  if (isDry) return undefined;
  if (port < first || port > last) return `provided port is not in the valid range. The range of valid ports is ${first}-${last}`;
  if (!(await claims.claim(String(port), reservation.owner))) return 'provided port is already allocated';
  reservation.addTaken(claims, String(port));
  return undefined;
}

/** Upstream's first port for a dry run, less one. It looks at no range, as nothing is kept. */
const DRY_PORT = 32_768;

async function takeFree({ isDry, before, claims, reservation, random, portRange }: PortWish, mine: Mine): Promise<number> {
  if (isDry) {
    const held = new Set(before === undefined ? [] : heldNodePorts(before));
    const taken = [...mine].filter((port) => !held.has(port));
    return Math.max(...taken.length === 0 ? [DRY_PORT] : taken) + 1;
  }
  const port = await takeAny({ claims, owner: reservation.owner, random }, createPortPool(portRange));
  if (port === undefined) throw internalError('failed to allocate a nodePort: range is full');
  reservation.addTaken(claims, port);
  return Number(port);
}

async function givePort(wish: PortWish, { port, mine }: { readonly port: ServicePort; readonly mine: Mine }): Promise<void> {
  const ports = listPorts(wish.spec);
  const twin = ports.find((one) => one !== port && one.port === port.port && one.nodePort);
  const wanted = port.nodePort || (wish.before === undefined ? twin?.nodePort : undefined) || 0;
  if (wanted !== 0) {
    port.nodePort = wanted;
    if (mine.has(wanted)) return;
    const problem = await findProblem(wish, wanted);
    if (problem !== undefined) {
      const errors = [invalidValue(`spec.ports[${ports.indexOf(port)}].nodePort`, wanted, problem)];
      throw invalid({ group: '', kind: 'Service' }, wish.reservation.owner.name, errors);
    }
  } else {
    port.nodePort = await takeFree(wish, mine);
  }
  mine.add(port.nodePort);
}

/** Throws the plain error of an update whose ports name one port of a protocol twice; of a new Service, validation says so. */
function refuseDuplicates(spec: ServiceSpec): void {
  const seen = new Set<string>();
  for (const { protocol = '', nodePort = 0 } of listPorts(spec)) {
    const key = `${protocol} ${nodePort}`;
    if (nodePort !== 0 && seen.has(key)) throw failure(500, '', `duplicate nodePort: {${key}}`);
    seen.add(key);
  }
}

async function giveHealthCheckPort(wish: PortWish, mine: Mine): Promise<void> {
  const { spec, before } = wish;
  if (!needsHealthCheck(spec) || (before !== undefined && needsHealthCheck(before))) return;
  const wanted = spec.healthCheckNodePort ?? 0;
  if (wanted === 0) {
    spec.healthCheckNodePort = await takeFree(wish, mine);
  } else {
    const problem = mine.has(wanted) ? 'provided port is already allocated' : await findProblem(wish, wanted);
    if (problem !== undefined) throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${problem}`);
  }
}

/** Gives the Service the ports of nodes that it needs, in place. */
export async function allocatePorts(wish: PortWish): Promise<void> {
  const { spec, before, reservation, claims } = wish;
  const held = before === undefined ? [] : heldNodePorts(before);
  const mine: Mine = new Set(held);
  if (mayHoldNodePorts(spec)) {
    for (const port of listPorts(spec)) if (port.nodePort || needsNodePorts(spec)) await givePort(wish, { port, mine });
    if (before !== undefined) refuseDuplicates(spec);
    await giveHealthCheckPort(wish, mine);
  }
  const kept = new Set(heldNodePorts(spec));
  for (const port of held) if (!kept.has(port)) reservation.addObsolete(claims, String(port));
}
