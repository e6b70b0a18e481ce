// W1 and W2: how long a built server takes to its first answer and to readiness on an empty store, and what it weighs and burns when idle.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, makeRow, quantile, round, type Row, type Scale } from '../load/measure.ts';
import { readCpuMs, readMemoryMb, startOwnServer } from '../load/target.ts';

/** Starts servers of its own, one after the other. */
export async function measureStarts(scale: Scale): Promise<Row[]> {
  const [answers, readies]: [number[], number[]] = [[], []];
  for (let run = 1; ; run += 1) {
    const server = await startOwnServer();
    await answersWith(server, '/api/v1/namespaces');
    answers.push(performance.now() - server.startedMs);
    await answersWith(server, '/readyz');
    readies.push(performance.now() - server.startedMs);
    if (run < scale.starts) {
      await server.close();
      continue;
    }
    await sleep(scale.idleMs);
    const { nowMb } = readMemoryMb(server);
    const cpuMs = readCpuMs(server);
    await sleep(scale.idleMs);
    const idle = { idleRssMb: Math.round(nowMb), idleCpuMsPerMinute: round(((readCpuMs(server) - cpuMs) * 60_000) / scale.idleMs) };
    const rows = [
      makeRow(server, {
        workload: 'W1 first 200', latencies: answers, elapsedMs: sum(answers), usedMs: Number.NaN, extra: { readyP50Ms: quantile(readies, 0.5) },
      }),
      makeRow(server, { workload: 'W2 idle', latencies: [], elapsedMs: 1, usedMs: Number.NaN, extra: idle }),
    ];
    await server.close();
    return rows;
  }
}

const sum = (values: readonly number[]): number => values.reduce((left, right) => left + right, 0);

async function answersWith(server: Awaited<ReturnType<typeof startOwnServer>>, path: string): Promise<void> {
  while ((await callOnce(server, { path })).status !== 200) await sleep(2);
}
