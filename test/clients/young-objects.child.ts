// The command with a meter: asked by its parent, it says by how many bytes its old objects have grown, all in all, since the last question, and how many
// full collections there were.
import { PerformanceObserver, constants } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { main } from '../../src/program.ts';

const LOOK_EVERY_MS = 2;
const measureOldBytes = (): number => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;

let lastBytes = measureOldBytes();
let grownBytes = 0;
let collections = 0;
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries() as unknown as readonly { readonly detail: { readonly kind: number } }[]) {
    if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) collections += 1;
  }
}).observe({ entryTypes: ['gc'] });
setInterval(() => {
  const bytes = measureOldBytes();
  if (bytes > lastBytes) grownBytes += bytes - lastBytes;
  lastBytes = bytes;
}, LOOK_EVERY_MS).unref();
process.on('message', () => {
  process.send?.({ grownBytes, collections });
  grownBytes = collections = 0;
});
process.exitCode = await main(process.argv.slice(2));
