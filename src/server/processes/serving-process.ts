// The entry of a process that serves connections: a whole server but for the store, the controllers and the port, which are the owner's. It ends when
// the owner says so, and at once when the owner is gone, since nothing could be committed any more.
import { Socket } from 'node:net';
import { systemClock } from '../../base/index.ts';
import { type SharedValues, StorageHealth, type Store, openSharedValues, prefixRange } from '../../storage/index.ts';
import { useDataDirectory } from '../data-directory.ts';
import type { Listener } from '../http/listener.ts';
import type { ExposedParts, Seams } from '../local/seams.ts';
import { startHeapTrim } from '../memory/heap-trim.ts';
import { keepNewObjectsYoung } from '../memory/young-objects.ts';
import { type Logger, createLogger, describeError } from '../observability/logger.ts';
import { findRoot, noteDiskChange } from '../open-store.ts';
import { type ServerOptions, resolveOptions } from '../options/options.ts';
import { type RunningServer, startServer } from '../server.ts';
import type { StoreAnswer, StoreCall } from '../worker/messages.ts';
import { Channel } from './channel.ts';
import { type Beginning, type FromServing, STORE_PIPE, type ToServing } from './messages.ts';
import { connectStore } from './process-store.ts';

/** Sends to the owner. */
const send = (message: FromServing): void => void process.send?.(message, undefined, undefined, () => {});

class ServingProcess {
  readonly #health = new StorageHealth();
  readonly #joining = new Map<number, (text: string) => void>();
  #listener: Pick<Listener, 'accept'> | undefined;
  #exposed: ExposedParts | undefined;
  #server: Promise<RunningServer> | undefined;
  #stopTrim = (): void => {};
  /** Connections that have ended and are not reported yet. */
  #closed = 0;
  #lastId = 0;

  receive(message: ToServing, socket: Socket | undefined): void {
    switch (message.type) {
      case 'begin': return void this.#begin(message.beginning);
      case 'connection': return this.#take(socket);
      case 'stop': return void this.#stop();
      case 'disk': return noteDiskChange(this.#health, message.change);
      case 'showMetrics': return void this.#exposed?.renderMetrics().then((text) => send({ type: 'shownMetrics', id: message.id, text }));
      case 'metrics': return this.#joining.get(message.id)?.(message.text);
      default: return undefined;
    }
  }

  async #begin(beginning: Beginning): Promise<void> {
    const logger = createLogger({ ...beginning.log, clock: systemClock, write: (line) => process.stderr.write(line) });
    process.on('unhandledRejection', (reason) => logger.error('an error was not handled', describeError(reason)));
    try {
      this.#server = this.#start(beginning, logger);
      await (await this.#server).ready;
      this.#stopTrim = startHeapTrim(systemClock);
      send({ type: 'serving' });
    } catch (error) {
      // The owner starts another one in its place.
      process.send?.({ type: 'failed', message: (error as Error).message } satisfies FromServing, undefined, undefined, () => process.exit(1));
    }
  }

  async #start({ options, port, usesOwner }: Beginning, logger: Logger): Promise<RunningServer> {
    const seams: Seams = {
      ...(usesOwner && { store: await this.#connect(options, logger), health: this.#health }),
      openPort: async (listener) => {
        this.#listener = listener;
        return port;
      },
      expose: (parts) => {
        this.#exposed = parts;
      },
      owner: {
        joinMetrics: (text) => this.#joinMetrics(text), noteTokenUse: (secret) => send({ type: 'tokenUse', secret }),
        askRotation: (bytes) => send({ type: 'rotateAudit', bytes }),
      },
    };
    return startServer({ ...options, logger }, seams);
  }

  /** The owner's Store. */
  async #connect(options: Partial<ServerOptions>, logger: Logger): Promise<Store> {
    const resolved = resolveOptions(options);
    const root = findRoot(resolved);
    const values = await openValues(resolved, logger);
    const pipe = new Socket({ fd: STORE_PIPE });
    const channel = new Channel<StoreCall, StoreAnswer>(pipe, (message) => store.receive(message));
    // The channel of the process decides when it ends.
    pipe.unref();
    const store = connectStore({
      post: (message) => channel.post(message), range: prefixRange(`${root}/`), values,
      report: (error) => logger.warn('the watch of the store begins again', describeError(error)),
    });
    return store.opened;
  }

  #take(socket: Socket | undefined): void {
    // A client that has gone meanwhile leaves a message without a connection.
    send({ type: 'connectionTaken', hasConnection: socket !== undefined });
    if (socket === undefined) return;
    socket.once('close', () => this.#noteClosed());
    // The owner sends connections once this process serves.
    this.#listener?.accept(socket);
  }

  /** Ends of connections are reported once a turn. */
  #noteClosed(): void {
    this.#closed += 1;
    if (this.#closed > 1) return;
    setImmediate(() => {
      send({ type: 'connectionsClosed', count: this.#closed });
      this.#closed = 0;
    });
  }

  #joinMetrics(text: string): Promise<string> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      this.#joining.set(id, (whole) => {
        this.#joining.delete(id);
        resolve(whole);
      });
      send({ type: 'joinMetrics', id, text });
    });
  }

  async #stop(): Promise<void> {
    this.#stopTrim();
    await (await this.#server?.catch(() => undefined))?.close();
    process.exitCode = 0;
    process.removeAllListeners('disconnect');
    process.disconnect();
  }
}

/** The values in the owner's file; without them the caches of this process hold copies. */
async function openValues(options: ServerOptions, logger: Logger): Promise<SharedValues | undefined> {
  const { store } = useDataDirectory(options);
  try {
    return store === '' ? undefined : await openSharedValues(store);
  } catch (error) {
    logger.warn('the file of the store cannot be shared, so that this process keeps copies of the objects', describeError(error));
    return undefined;
  }
}

keepNewObjectsYoung();
const serving = new ServingProcess();
// A signal to the whole group reaches this process as well; the owner ends it in its order.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(1));
process.on('message', (message: ToServing, socket: Socket | undefined) => serving.receive(message, socket));
