// The server under attack, in a process of its own: all of Pintle on a data directory, as the command runs it, a meter of the longest stretch of its
// main thread, and one of the memory that its objects keep.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Timer, systemClock } from '../../src/base/index.ts';
import { keepNewObjectsYoung, startHeapTrim, startServer } from '../../src/server/index.ts';
import { startProcesses } from '../../src/server/processes/owner.ts';
import { readMainThreadMs, testTokens } from '../../src/test-support/index.ts';

let lastMs = readMainThreadMs();
let longestMs = 0;
let nextLook: Timer;

function look(): void {
  const nowMs = readMainThreadMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
}

function lookAgain(): void {
  look();
  nextLook = systemClock.after(1, lookAgain);
}

/** Memory of the heap and of buffers after a full collection. */
function measureKeptMb(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}

const [dataDir = '', encryptionProviderConfig = '', workers = '1'] = process.argv.slice(2);
const settings = {
  dataDir, encryptionProviderConfig, tokens: [...testTokens], authorizationMode: ['Node' as const, 'RBAC' as const], securePort: 0, console: workers === '1' };
keepNewObjectsYoung();
// With several processes the stretches are those of the one that owns the store.
const server = workers === '1' ? await startServer(settings)
  : await startProcesses({ settings, count: Number(workers), log: { verbosity: 0, format: 'json' } });
await server.ready;
startHeapTrim(systemClock);
lookAgain();
process.on('message', (question) => {
  if (question === 'rest') return nextLook.cancel();
  // A question ends a rest.
  nextLook.cancel();
  lookAgain();
  if (question === 'kept') {
    process.send?.({ keptMb: measureKeptMb() });
    lastMs = readMainThreadMs();
    return;
  }
  process.send?.({ longestMs });
  longestMs = 0;
});
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.send?.({ url: server.url });
