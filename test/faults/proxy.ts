// TCP proxies that tests put between programs: open, refusing, or silent. The one between etcd's members knows the two ends of a connection by the
// headers of etcd's peer protocol, so that one member can be cut off in both directions.
import { type Server, type Socket, connect, createServer } from 'node:net';

/** What happens to connections: passed on; closed, as by a machine that is down; or held without a byte passing, as by a lost route. */
type ProxyMode = 'open' | 'refuse' | 'silent';

export interface Proxy {
  readonly port: number;
  set(mode: ProxyMode): void;
  close(): void;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
}

/** Listens on a free port of loopback and passes on to `target`. */
export async function startProxy(target: number): Promise<Proxy> {
  const pairs = new Set<Pair>();
  let mode: ProxyMode = 'open';
  const { server, port } = await listen((near) => {
    if (mode === 'refuse') return void near.destroy();
    const far = connect(target, '127.0.0.1');
    const pair = { near, far };
    pairs.add(pair);
    join(pair, () => pairs.delete(pair));
    if (mode === 'silent') hold(pair);
  });
  return {
    port,
    set(next) {
      mode = next;
      for (const pair of pairs) {
        if (next === 'refuse') drop(pair);
        else if (next === 'silent') hold(pair);
        else for (const socket of [pair.near, pair.far]) socket.resume();
      }
    },
    close() {
      server.close();
      for (const pair of pairs) drop(pair);
    },
  };
}

/** Proxies before the peer ports of a cluster's members. */
export class PeerNetwork {
  readonly #proxies: Server[] = [];
  readonly #links = new Set<{ readonly pair: Pair; readonly to: number; from: string }>();
  /** Member ids as etcd's peers name them, by index; learnt from what passes. */
  readonly #ids = new Map<number, string>();
  #cut: number | undefined;

  /** For ClusterOptions.advertisePeer. */
  readonly advertise = async (target: number, index: number): Promise<number> => {
    const { server, port } = await listen((near) => near.once('data', (first: Buffer) => this.#accept({ near, first, target, index })));
    this.#proxies.push(server);
    return port;
  };

  /** Member `index` is cut off from all others, in both directions. */
  cutOff(index: number): void {
    this.#cut = index;
    for (const link of this.#links) if (this.#isCut(link.from, link.to)) drop(link.pair);
  }

  mend(): void {
    this.#cut = undefined;
  }

  close(): void {
    for (const server of this.#proxies) server.close();
    for (const { pair } of this.#links) drop(pair);
  }

  #accept({ near, first, target, index }: { near: Socket; first: Buffer; target: number; index: number }): void {
    const head = first.toString('latin1');
    const from = /^X-Server-From: (\w+)/im.exec(head)?.[1] ?? '';
    const to = /^X-Raft-To: (\w+)/im.exec(head)?.[1];
    if (to !== undefined) this.#ids.set(index, to);
    if (this.#isCut(from, index)) return void near.destroy();
    const pair = { near, far: connect(target, '127.0.0.1') };
    const link = { pair, to: index, from };
    this.#links.add(link);
    pair.far.write(first);
    join(pair, () => this.#links.delete(link));
  }

  #isCut(from: string, to: number): boolean {
    return this.#cut !== undefined && (to === this.#cut || from === this.#ids.get(this.#cut));
  }
}

function listen(accept: (socket: Socket) => void): Promise<{ readonly server: Server; readonly port: number }> {
  return new Promise((resolve) => {
    const server = createServer({ noDelay: true }, (socket) => {
      socket.on('error', () => undefined);
      accept(socket);
    });
    server.listen(0, '127.0.0.1', () => resolve({ server, port: (server.address() as { port: number }).port }));
  });
}

function join(pair: Pair, done: () => void): void {
  const { near, far } = pair;
  far.setNoDelay(true);
  near.pipe(far);
  far.pipe(near);
  for (const socket of [near, far]) {
    socket.on('error', () => drop(pair));
    socket.on('close', () => {
      drop(pair);
      done();
    });
  }
}

/** Piped sockets resume by themselves unless they are unpiped; a paused reader is enough here because nothing is written to it. */
function hold({ near, far }: Pair): void {
  near.pause();
  far.pause();
}

function drop({ near, far }: Pair): void {
  near.destroy();
  far.destroy();
}
