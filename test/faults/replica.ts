// What the tests of replaced servers are made of: the program as a process that can be killed, and a balancer of TCP connections before some of them.
import { type ChildProcess, spawn } from 'node:child_process';
import { type Socket, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/main.js', import.meta.url));

/** A server in a process of its own. */
export interface Replica {
  readonly port: number;
  readonly pid: number;
  /** As the loss of its machine; resolves when it is gone. */
  kill(): Promise<number | null>;
  /** As an orderly replacement: SIGTERM; resolves with the exit code when it is gone. */
  stop(): Promise<number | null>;
}

/** Starts one; resolves when it says that it is ready. */
export async function startReplica(flags: readonly string[]): Promise<Replica> {
  const child: ChildProcess = spawn(process.execPath, [program, '--secure-port', '0', ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const found = /https:\/\/[^\s/]*:(\d+)/.exec(output);
      if (found !== null && output.includes('ready in')) resolve(Number(found[1]));
    });
    void gone.then(() => reject(new Error(`the server stopped before it was ready:\n${output}`)));
  });
  const end = (signal: NodeJS.Signals) => (): Promise<number | null> => {
    child.kill(signal);
    return gone;
  };
  return { port, pid: child.pid as number, kill: end('SIGKILL'), stop: end('SIGTERM') };
}

/** Passes connections on to servers in turn, past those that refuse them. */
export interface Balancer {
  readonly port: number;
  /** Ports of the servers. */
  readonly targets: Set<number>;
  close(): void;
}

/** Listens on a free port of loopback. */
export async function startBalancer(): Promise<Balancer> {
  const targets = new Set<number>();
  const open = new Set<Socket>();
  let turn = 0;
  const pass = (near: Socket, left: readonly number[]): void => {
    const [target, ...others] = left;
    if (target === undefined) return void near.destroy();
    const far = connect(target, '127.0.0.1');
    let stands = false;
    far.once('connect', () => {
      stands = true;
      open.add(far);
      near.pipe(far).pipe(near);
    });
    far.on('error', () => undefined);
    near.once('close', () => far.destroy());
    far.once('close', () => {
      open.delete(far);
      if (stands || near.destroyed) near.destroy();
      else pass(near, others);
    });
  };
  const server = createServer((near) => {
    near.on('error', () => undefined);
    open.add(near);
    near.once('close', () => open.delete(near));
    const all = [...targets];
    turn += 1;
    pass(near, all.map((_, index) => all[(turn + index) % all.length] as number));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    targets,
    port: (server.address() as { port: number }).port,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
