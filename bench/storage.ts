// Measures durable creates of 1.3 KB on the embedded Store: rate, latency and CPU of one writer and of 64.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/base/index.ts';
import { type Store, openEmbeddedStore } from '../src/storage/index.ts';

const valueBytes = 1300;

/** Prints one JSON object with a row for each number of writers. */
export async function run(options: { readonly seconds: number }): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'pintle-bench-'));
  const store = await openEmbeddedStore({ directory, clock: systemClock });
  try {
    await measure(store, 64, 0.2);
    const rows = [await measure(store, 1, options.seconds / 2), await measure(store, 64, options.seconds / 2)];
    process.stdout.write(`${JSON.stringify({ bench: 'storage', valueBytes, rows })}\n`);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

async function measure(store: Store, writers: number, seconds: number): Promise<Record<string, number>> {
  const latencies: number[] = [];
  const value = Buffer.alloc(valueBytes, 'x');
  const cpu = process.cpuUsage();
  const started = performance.now();
  const end = started + seconds * 1000;
  const write = async (writer: number): Promise<void> => {
    for (let at = performance.now(), index = 0; at < end; index += 1) {
      await store.txn({ key: `/registry/pods/default/w${writers}-${writer}-${seconds}-${index}`, expect: 0, value });
      const next = performance.now();
      latencies.push(next - at);
      at = next;
    }
  };
  await Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const elapsed = (performance.now() - started) / 1000;
  const used = process.cpuUsage(cpu);
  latencies.sort((left, right) => left - right);
  const quantile = (part: number): number => round(latencies[Math.floor(latencies.length * part)] ?? 0);
  const cpuMsPerTxn = round((used.user + used.system) / 1000 / latencies.length);
  return { writers, createsPerSecond: Math.round(latencies.length / elapsed), p50Ms: quantile(0.5), p99Ms: quantile(0.99), cpuMsPerTxn };
}

const round = (value: number): number => Math.round(value * 10_000) / 10_000;
