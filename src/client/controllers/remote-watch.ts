// A watch over a connection in the form that the reflector reads. When the server ends it in good order it continues from the last event or bookmark.
import { type StatusError, failure } from '../../apimachinery/index.ts';
import { systemClock } from '../../base/index.ts';
import type { ReflectedWatch } from '../../registry/index.ts';
import type { KubernetesObject } from '../objects.ts';
import type { RemoteClient } from '../remote-client.ts';
import type { KeptObject } from './informer.ts';

interface WatchParts {
  readonly client: RemoteClient;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly revision: number;
  readonly keep: (object: KubernetesObject) => KeptObject;
}

type Event = ReturnType<ReflectedWatch<KeptObject>['take']>[number];

/** How long the server keeps a watch open, and how long it may be late with the end. */
const [TIMEOUT_SECONDS, GRACE_MS] = [300, 30_000];
/** Events that wait to be taken; the connection is not read meanwhile. */
const WAITING_LIMIT = 1000;

/** One watch. */
export class RemoteWatch implements ReflectedWatch<KeptObject> {
  readonly #parts: WatchParts;
  readonly #abort = new AbortController();
  #revision: number;
  #waiting: Event[] = [];
  #wake: (() => void) | undefined;
  #onTaken: (() => void) | undefined;
  #end: 'expired' | 'closed' | undefined;
  #error: StatusError | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
    this.#revision = parts.revision;
    void this.#run();
  }

  get end(): 'expired' | 'closed' | undefined {
    return this.#waiting.length === 0 ? this.#end : undefined;
  }

  get error(): StatusError | undefined {
    return this.#error;
  }

  take(limit: number): readonly Event[] {
    const taken = this.#waiting.splice(0, limit);
    if (this.#waiting.length < WAITING_LIMIT) this.#onTaken?.();
    return taken;
  }

  onReadable(wake: () => void): void {
    if (this.#waiting.length > 0 || this.#end !== undefined) wake();
    else this.#wake = wake;
  }

  close(): void {
    this.#finish('closed');
    this.#abort.abort();
    this.#onTaken?.();
  }

  async #run(): Promise<void> {
    while (this.#end === undefined) {
      try {
        await this.#follow();
      } catch (error) {
        // The reflector waits and lists again.
        this.#finish('expired', failure(503, 'ServiceUnavailable', (error as Error).message));
      }
    }
  }

  /** One request, to its end in good order. */
  async #follow(): Promise<void> {
    const { client, path, query } = this.#parts;
    const options = new URLSearchParams({
      ...query, watch: 'true', allowWatchBookmarks: 'true', resourceVersion: String(this.#revision), timeoutSeconds: String(TIMEOUT_SECONDS),
    });
    const overdue = new AbortController();
    const timer = systemClock.after(TIMEOUT_SECONDS * 1000 + GRACE_MS, () => overdue.abort());
    try {
      for await (const { type, object } of client.watch(`${path}?${options}`, AbortSignal.any([this.#abort.signal, overdue.signal]))) {
        if (type === 'ERROR') return this.#finish('expired', failure(Number(object?.code ?? 500), object?.reason ?? '', object?.message ?? 'the watch failed'));
        await this.#add(type, object as KubernetesObject);
        if (this.#end !== undefined) return;
      }
    } finally {
      timer.cancel();
    }
  }

  async #add(type: string, object: KubernetesObject): Promise<void> {
    this.#revision = Number(object.metadata?.resourceVersion ?? this.#revision);
    if (type === 'ADDED' || type === 'MODIFIED' || type === 'DELETED') {
      this.#waiting.push({ type, object: this.#parts.keep(object), revision: this.#revision });
      this.#announce();
    }
    if (this.#waiting.length >= WAITING_LIMIT) {
      await new Promise<void>((resolve) => {
        this.#onTaken = resolve;
      });
    }
  }

  #finish(end: 'expired' | 'closed', error?: StatusError): void {
    this.#end ??= end;
    this.#error ??= error;
    this.#announce();
  }

  #announce(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
