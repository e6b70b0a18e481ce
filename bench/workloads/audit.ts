// W14: what audit adds to a get by name: on servers of their own without audit, with a policy that records nothing, with the stage that policies usually
// record (ResponseComplete at level Metadata), and with both stages of a get. The servers are asked in turns, so that what else the machine does meets
// all of them. A second server without audit says how much two runs of the same differ.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '../load/connection.ts';
import { makeRow, quantile, round, type Row, type Scale } from '../load/measure.ts';
import { collection, nameOf, populate } from '../load/objects.ts';
import { type Target, readCpuMs, startOwnServer } from '../load/target.ts';

const CLIENTS = 64;
const TURNS = 30;
const OBJECTS = 200;

const policyOf = (rule: object): string => JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [rule] });

const sorts: readonly (readonly [shown: string, policy: string | undefined])[] = [
  ['audit off', undefined], ['off again', undefined], ['level None', policyOf({ level: 'None' })],
  ['Metadata', policyOf({ level: 'Metadata', omitStages: ['RequestReceived'] })], ['Metadata, both stages', policyOf({ level: 'Metadata' })],
];

/** Gets on one server, and what its turns came to. */
class Side {
  readonly workload: string;
  readonly target: Target;
  readonly #connections: readonly Connection[];
  readonly #latencies: number[] = [];
  readonly #turnsCpuMs: number[] = [];
  #elapsedMs = 0;

  constructor(target: Target, shown: string) {
    this.workload = `W14 get, ${shown}`;
    this.target = target;
    this.#connections = Array.from({ length: CLIENTS }, () => new Connection(target));
  }

  async takeTurn(gets: number): Promise<void> {
    const [cpuMs, startedMs] = [readCpuMs(this.target), performance.now()];
    let index = 0;
    await Promise.all(this.#connections.map(async (connection) => {
      while (index < gets) {
        const { status, totalMs } = await connection.send({ path: `${collection}/${nameOf('item', (index++ * 79) % OBJECTS)}` });
        if (status !== 200) throw new Error(`W14: the server answered ${status}`);
        this.#latencies.push(totalMs);
      }
    }));
    this.#turnsCpuMs.push(readCpuMs(this.target) - cpuMs);
    this.#elapsedMs += performance.now() - startedMs;
  }

  /** How much CPU its turns took beside the turns of another, as a whole and as the median. */
  compare(other: Side): Record<string, number> {
    const ratios = this.#turnsCpuMs.map((ms, turn) => ms / (other.#turnsCpuMs[turn] as number));
    return { cpuRatio: round(sum(this.#turnsCpuMs) / sum(other.#turnsCpuMs)), medianCpuRatio: quantile(ratios, 0.5) };
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

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** A row for each server, with the ratio to the one without audit. Nothing for servers that were started elsewhere. */
export async function measureAudit(target: Target, scale: Scale): Promise<Row[]> {
  if (target.dataDir === undefined) return [];
  const folder = mkdtempSync(join(tmpdir(), 'pintle-audit-'));
  const sides: Side[] = [];
  try {
    for (const [shown, policy] of sorts) sides.push(new Side(await startAudited(folder, policy), shown));
    const gets = Math.max(CLIENTS, Math.round(200 * scale.seconds));
    for (let turn = -TURNS; turn < TURNS; turn += 1) {
      if (turn === 0) for (const side of sides) side.begin();
      for (let at = 0; at < sides.length; at += 1) await (sides[(TURNS + turn + at) % sides.length] as Side).takeTurn(gets);
    }
    const [off] = sides as [Side];
    return sides.map((side) => side.describe(side === off ? {} : side.compare(off)));
  } finally {
    for (const side of sides) side.close();
    await Promise.all(sides.map((side) => side.target.close()));
    rmSync(folder, { recursive: true });
  }
}

let started = 0;

/** A server with objects; without a policy it has no audit. */
async function startAudited(folder: string, policy: string | undefined): Promise<Target> {
  const [file, log] = [join(folder, `${started}.json`), join(folder, `${started++}.log`)];
  if (policy !== undefined) writeFileSync(file, policy);
  const target = await startOwnServer(policy === undefined ? [] : ['--audit-policy-file', file, '--audit-log-path', log]);
  await populate(target, OBJECTS);
  return target;
}
