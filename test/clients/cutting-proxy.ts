// A TCP proxy that breaks things: it cuts every connection, or takes none for a while. TLS passes through untouched.
import { type AddressInfo, type Socket, connect, createServer } from 'node:net';

/** A way to a server that can be cut. */
export interface CuttingProxy {
  readonly url: string;
  /** Ends every connection at once, without a good-bye. */
  cut(): void;
  /** While true, new connections end at once. */
  refuse(refused: boolean): void;
  /** Connections taken since the start. */
  readonly taken: number;
  close(): Promise<void>;
}

/** Starts one in front of a port of this machine. */
export async function startCuttingProxy(targetPort: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  const state = { refused: false, taken: 0 };
  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    track(client);
    if (state.refused) return void client.resetAndDestroy();
    state.taken += 1;
    const target = connect(targetPort, '127.0.0.1');
    track(target);
    client.pipe(target).pipe(client);
    client.on('close', () => target.destroy());
    target.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    refuse(refused) {
      state.refused = refused;
      if (refused) cut();
    },
    get taken() {
      return state.taken;
    },
    close() {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
