// W14: what audit adds to a get by name: with a policy that records nothing, with the stage that policies usually record (ResponseComplete at level
// Metadata), and with both stages of a get. The three are namespaces of one server, with a rule each: two processes that run the same differ
// by more than an event costs. The first two are asked once more over one HTTP/2 session, as client-go asks. Two servers without audit stand beside
// it, one to compare `level None` with, the other for how much two of them differ. All are asked in short turns, in an order that changes, so that what
// else the machine does meets all of them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../load/connection.ts';
import { type Requester, shareSession } from '../load/shared-session.ts';
import { callOnce, makeRow, round, type Row, type Scale } from '../load/measure.ts';
import { collection, createCall, nameOf, populate } from '../load/objects.ts';
import { type Target, readCpuMs, startOwnServer } from '../load/target.ts';

const CLIENTS = 64;
const TURNS_PER_SECOND = 24;
const GETS = 256;
const OBJECTS = 200;

const RECEIVED = 'RequestReceived';
const sorts: readonly (readonly [namespace: string, rule: object, shown: string])[] = [
  ['audit-none', { level: 'None' }, 'level None'],
  ['audit-one', { level: 'Metadata', omitStages: [RECEIVED] }, 'Metadata'],
  ['audit-both', { level: 'Metadata' }, 'Metadata, both stages'],
];
const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: sorts.map(([namespace, rule]) => ({ namespaces: [namespace], ...rule })) };

interface AskedServer {
  readonly target: Target;
  readonly connections: readonly Requester[];
}

const connectTo = (target: Target): AskedServer => ({ target, connections: Array.from({ length: CLIENTS }, () => new Connection(target)) });

/** Gets of one sort, and what its turns came to. */
class Side {
  readonly workload: string;
  readonly shown: string;
  readonly target: Target;
  readonly collection: string;
  readonly #connections: readonly Requester[];
  readonly #latencies: number[] = [];
  readonly #turnsCpuMs: number[] = [];
  #elapsedMs = 0;

  constructor(server: AskedServer, shown: string, path: string) {
    this.workload = `W14 get, ${shown}`;
    this.shown = shown;
    this.target = server.target;
    this.collection = path;
    this.#connections = server.connections;
  }

  async takeTurn(gets: number): Promise<void> {
    const [cpuMs, startedMs] = [readCpuMs(this.target), performance.now()];
    let index = 0;
    await Promise.all(this.#connections.map(async (connection) => {
      while (index < gets) {
        const { status, totalMs } = await connection.send({ path: `${this.collection}/${nameOf('item', (index++ * 79) % OBJECTS)}` });
        if (status !== 200) throw new Error(`W14: the server answered ${status}`);
        this.#latencies.push(totalMs);
      }
    }));
    this.#turnsCpuMs.push(readCpuMs(this.target) - cpuMs);
    this.#elapsedMs += performance.now() - startedMs;
  }

  /** How much CPU its turns took beside those of another around the same time: as a whole, and for a get in the middle of the differences. */
  compare(other: Side | undefined): Record<string, number> {
    if (other === undefined) return {};
    const extraMs = this.#turnsCpuMs.map((ms, turn) => ms - (other.#turnsCpuMs[turn] as number));
    const extraUs = averageMiddle(extraMs) / GETS * 1000;
    return {
      cpuRatio: round(sum(this.#turnsCpuMs) / sum(other.#turnsCpuMs)), extraUs: round(extraUs),
      middleCpuRatio: round(1 + averageMiddle(extraMs) / averageMiddle(other.#turnsCpuMs)),
    };
  }

  describe(extra: Record<string, number> = {}): Row {
    const { workload, target } = this;
    return makeRow(target, { workload, latencies: this.#latencies, elapsedMs: this.#elapsedMs, usedMs: sum(this.#turnsCpuMs), extra });
  }

  /** Forgets the turns so far. */
  begin(): void {
    this.#latencies.length = 0;
    this.#turnsCpuMs.length = 0;
    this.#elapsedMs = 0;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}

/** The average of the middle three fifths: what else the machine does meets few turns, and those hard. */
function averageMiddle(values: readonly number[]): number {
  const cut = Math.floor(values.length / 5);
  const middle = [...values].sort((one, two) => one - two).slice(cut, values.length - cut);
  return sum(middle) / middle.length;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** A row for each sort, with its ratio to the one that it is compared with. Nothing for servers that were started elsewhere. */
export async function measureAudit(target: Target, scale: Scale): Promise<Row[]> {
  if (target.dataDir === undefined) return [];
  const folder = mkdtempSync(join(tmpdir(), 'pintle-audit-'));
  const targets: Target[] = [];
  const sides: Side[] = [];
  try {
    for (const shown of ['audit off', 'off again']) {
      const plain = await startOwnServer();
      targets.push(plain);
      await populate(plain, OBJECTS);
      sides.push(new Side(connectTo(plain), shown, collection));
    }
    const audited = await startAudited(folder);
    targets.push(audited);
    const server = connectTo(audited);
    for (const [namespace, , shown] of sorts) sides.push(new Side(server, shown, await fill(audited, namespace)));
    const session = { target: audited, connections: shareSession(audited, CLIENTS) };
    for (const side of sides.slice(2, 4)) sides.push(new Side(session, `${side.shown} over HTTP/2`, side.collection));
    await takeTurns(sides, Math.round(TURNS_PER_SECOND * scale.seconds));
    const [off, again, none, one, both, noneShared, oneShared] = sides as [Side, Side, Side, Side, Side, Side, Side];
    const pairs: readonly (readonly [Side, Side])[] = [[again, off], [none, off], [one, none], [both, none], [oneShared, noneShared]];
    return sides.map((side) => side.describe(side.compare(pairs.find(([compared]) => compared === side)?.[1])));
  } finally {
    for (const side of sides) side.close();
    await Promise.all(targets.map((each) => each.close()));
    rmSync(folder, { recursive: true });
  }
}

/** The first turns compile the code that the others run. */
async function takeTurns(sides: readonly Side[], turns: number): Promise<void> {
  for (let turn = -turns; turn < turns; turn += 1) {
    if (turn === 0) for (const side of sides) side.begin();
    const order = [...sides];
    for (let left = order.length; left > 0; left -= 1) {
      const [side] = order.splice(Math.floor(Math.random() * left), 1) as [Side];
      await side.takeTurn(GETS);
    }
  }
}

async function startAudited(folder: string): Promise<Target> {
  const file = join(folder, 'policy.json');
  writeFileSync(file, JSON.stringify(policy));
  return startOwnServer(['--audit-policy-file', file, '--audit-log-path', join(folder, 'audit.log')]);
}

/** Makes a namespace with objects; answers their path. */
async function fill(target: Target, namespace: string): Promise<string> {
  await callOnce(target, { method: 'POST', path: '/api/v1/namespaces', body: JSON.stringify({ metadata: { name: namespace } }) });
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  for (let index = 0; index < OBJECTS; index += 1) await callOnce(target, createCall(path, 'item', index));
  return path;
}
