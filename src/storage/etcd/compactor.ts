// Compaction by one of many servers, as kube-apiserver does it: in each interval they race to write the key `compact_rev_key`, and the
// winner compacts up to the revision of the interval before. Servers of both programs agree through the same key.
import type { Clock, Timer } from '../../base/index.ts';
import type { EtcdConnection } from './grpc/connection.ts';
import { decodeTxn, encodeTxn } from './grpc/messages.ts';

interface CompactorOptions {
  readonly connection: EtcdConnection;
  readonly clock: Clock;
  /** 0: never. */
  readonly intervalMs: number;
  readonly compact: (revision: number) => Promise<unknown>;
  readonly report: (error: unknown) => void;
}

const SHARED_KEY = 'compact_rev_key';

/** Runs until it is stopped. */
export class Compactor {
  readonly #options: CompactorOptions;
  /** The version of the shared key, and the revision of the store, as of the interval before. */
  #time = 0;
  #revision = 0;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: CompactorOptions) {
    this.#options = options;
    if (options.intervalMs > 0) this.#schedule();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  #schedule(): void {
    this.#timer = this.#options.clock.after(this.#options.intervalMs, () => {
      if (this.#stopped) return;
      this.#schedule();
      this.#race().catch((error: unknown) => this.#stopped || this.#options.report(error));
    });
  }

  async #race(): Promise<void> {
    const { connection, compact } = this.#options;
    const [time, revision] = [this.#time, this.#revision];
    const value = new TextEncoder().encode(String(revision));
    const call = encodeTxn({ key: SHARED_KEY, compare: { target: 'version', equals: time }, value });
    const answer = decodeTxn(await connection.call('/etcdserverpb.KV/Txn', call, { type: 'write' }));
    this.#revision = answer.revision;
    if (!answer.succeeded) {
      this.#time = answer.current?.version ?? 0;
      return;
    }
    this.#time = time + 1;
    // The first one only marks where the interval began.
    if (revision > 0) await compact(revision);
  }
}
