// The command with a meter: asked by its parent, it says by how many bytes its old objects have grown, all in all, since the last question.
import { getHeapSpaceStatistics } from 'node:v8';
import { main } from '../../src/program.ts';

const LOOK_EVERY_MS = 2;
const measureOldBytes = (): number => getHeapSpaceStatistics().find((space) => space.space_name === 'old_space')?.space_used_size ?? 0;

let lastBytes = measureOldBytes();
let grownBytes = 0;
setInterval(() => {
  const bytes = measureOldBytes();
  if (bytes > lastBytes) grownBytes += bytes - lastBytes;
  lastBytes = bytes;
}, LOOK_EVERY_MS).unref();
process.on('message', () => {
  process.send?.(grownBytes);
  grownBytes = 0;
});
process.exitCode = await main(process.argv.slice(2));
