// The server under attack, in a process of its own: all of Pintle on a data directory, as the command runs it, a meter of the longest stretch of its
// main thread, and of those of its serving processes, and one of the memory that its objects keep.
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '../../src/base/index.ts';
import { type RunningServer, keepNewObjectsYoung, startHeapTrim, startServer } from '../../src/server/index.ts';
import { startProcesses } from '../../src/server/processes/owner.ts';
import { testTokens } from '../../src/test-support/index.ts';
import { METER_SOCKET, StretchMeter, listenForStretches } from './stretches.ts';

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

/** Processes that serve connections load the meter, for they get the arguments of Node that this one has. */
function startMeasuredProcesses(): Promise<RunningServer> {
  process.execArgv.push('--import', new URL('serving-meter.child.js', import.meta.url).href);
  return startProcesses({ settings, count: Number(workers), log: { verbosity: 0, format: 'json' } });
}

keepNewObjectsYoung();
const meterPath = process.env[METER_SOCKET] = path.join(path.dirname(dataDir), 'meter.sock');
const serving = listenForStretches(meterPath);
const server = await (workers === '1' ? startServer(settings) : startMeasuredProcesses());
await server.ready;
startHeapTrim(systemClock);
const meter = new StretchMeter();
process.on('message', (question) => {
  if (question === 'rest') {
    meter.rest();
    serving.rest();
  } else if (question === 'kept') {
    process.send?.({ keptMb: measureKeptMb() });
    meter.skip();
  } else {
    const ownMs = meter.take();
    void serving.take().then((servingMs) => process.send?.({ longestMs: Math.max(ownMs, servingMs) }));
  }
});
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.send?.({ url: server.url });
