// The server under attack, in a process of its own: all of Pintle on a data directory, and a meter of the longest stretch of its main thread.
import { systemClock } from '../../src/base/index.ts';
import { startServer } from '../../src/server/index.ts';
import { readMainThreadMs, testTokens } from '../../src/test-support/index.ts';

let lastMs = readMainThreadMs();
let longestMs = 0;

function look(): void {
  const nowMs = readMainThreadMs();
  longestMs = Math.max(longestMs, nowMs - lastMs);
  lastMs = nowMs;
}

function lookAgain(): void {
  look();
  systemClock.after(1, lookAgain);
}

const server = await startServer({ dataDir: process.argv[2] ?? '', tokens: [...testTokens], authorizationMode: ['Node', 'RBAC'], securePort: 0 });
await server.ready;
lookAgain();
process.on('message', () => {
  look();
  process.send?.({ longestMs });
  longestMs = 0;
});
process.once('SIGTERM', () => void server.close().then(() => process.exit(0)));
process.send?.({ url: server.url });
