// A server on a data directory; prints its URL, and ends with its standard input.
import { startTestServer } from '../../src/test-support/index.ts';

const server = await startTestServer({ dataDir: process.argv[2] as string, tls: false });
process.stdout.write(`${server.url}\n`);
process.stdin.resume();
process.stdin.on('end', () => void server.close());
