// Measuring a stream of calls: rate, latencies, the server's CPU, its memory, and a hash of what came back.
import { createHash } from 'node:crypto';
import { type Answer, type Call, Connection } from './connection.ts';
import { type Target, readCpuMs, readMemoryMb } from './target.ts';

/** One line of the result. */
export interface Row {
  readonly workload: string;
  readonly target: string;
  readonly ops: number;
  readonly opsPerSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly cpuMsPerOp: number;
  readonly rssMb: number;
  readonly hash: string;
  /** Further figures, by name. */
  readonly extra?: Readonly<Record<string, number>>;
}

/** How much of everything. */
export interface Scale {
  readonly seconds: number;
  readonly objects: number;
  readonly watchers: number;
  readonly updatesPerSecond: number;
  readonly idleMs: number;
  readonly starts: number;
}

interface LoadOptions {
  readonly workload: string;
  readonly clients: number;
  readonly seconds: number;
  /** The call with this number; unique numbers over all clients. */
  readonly call: (index: number) => Call;
  /** Stop after this many calls. */
  readonly limit?: number;
  /** Is given the answer to the call with this number. */
  readonly answered?: (index: number, answer: Answer) => void;
}

/** Keeps `clients` connections busy; a status other than 2xx voids the row. */
export async function measureLoad(target: Target, options: LoadOptions): Promise<Row> {
  const connections = Array.from({ length: options.clients }, () => new Connection(target));
  await Promise.all(connections.map((connection) => connection.send({ path: '/version' })));
  const latencies: number[] = [];
  const firstBytes: number[] = [];
  let index = 0;
  const cpuMs = readCpuMs(target);
  const startedMs = performance.now();
  const limit = options.limit ?? Number.POSITIVE_INFINITY;
  const drive = async (connection: Connection): Promise<void> => {
    while (index < limit && performance.now() - startedMs < options.seconds * 1000) {
      const number = index++;
      const answer = await connection.send(options.call(number));
      if (answer.status < 200 || answer.status > 299) throw new Error(`${options.workload}: the server answered ${answer.status}`);
      latencies.push(answer.totalMs);
      firstBytes.push(answer.firstByteMs);
      options.answered?.(number, answer);
    }
  };
  await Promise.all(connections.map(drive));
  const elapsedMs = performance.now() - startedMs;
  const usedMs = readCpuMs(target) - cpuMs;
  for (const connection of connections) connection.close();
  return makeRow(target, { workload: options.workload, latencies, elapsedMs, usedMs, extra: { firstByteP50Ms: quantile(firstBytes, 0.5) } });
}

interface Measured {
  readonly workload: string;
  readonly latencies: number[];
  readonly elapsedMs: number;
  readonly usedMs: number;
  readonly hash?: string;
  readonly extra?: Readonly<Record<string, number>>;
}

/** A row from raw figures. */
export function makeRow(target: Target, { workload, latencies, elapsedMs, usedMs, hash = '', extra }: Measured): Row {
  const ops = latencies.length;
  return {
    workload, target: target.name, ops, opsPerSecond: round((ops * 1000) / elapsedMs), p50Ms: quantile(latencies, 0.5), p99Ms: quantile(latencies, 0.99),
    cpuMsPerOp: round(usedMs / ops), rssMb: Math.round(readMemoryMb(target).nowMb), hash, ...(extra !== undefined && { extra }),
  };
}

/** Quantile of some numbers, rounded; 0 when there are none. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
}

/** Three digits that matter. */
export const round = (value: number): number => (Number.isFinite(value) ? Number(value.toPrecision(4)) : value);

/** One call on a connection of its own. */
export async function callOnce(target: Target, call: Call): Promise<Answer> {
  const connection = new Connection(target);
  try {
    return await connection.send(call);
  } finally {
    connection.close();
  }
}

/** A short hash of names and data: the same objects give the same hash on any server. */
export function hashItems(body: Buffer): string {
  const parsed = JSON.parse(body.toString('utf8')) as { readonly items?: readonly any[] };
  const items = (parsed.items ?? [parsed]).map((item) => [item.metadata.name, item.data]);
  return createHash('sha256').update(JSON.stringify(items)).digest('hex').slice(0, 12);
}
