// Ports for programs that get theirs by a flag.
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Systems take the ports of outgoing connections from 32768 on: such a port would be gone between the look and its use. */
const FIRST_PORT = 11_000;
const PORTS = 19_000;

/** Different ports of the loopback address that were free a moment ago. */
export async function findPorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = FIRST_PORT + randomInt(PORTS);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
