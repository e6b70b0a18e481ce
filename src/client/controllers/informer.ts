// The objects of a kind as a program follows them: complete once synced, then never far behind. Over a server of this process an informer keeps the
// server's own objects and decodes them when they are read; over a connection it keeps what it has received. The reflector is the same.
import type { Clock } from '../../base/index.ts';
import { type Reflector, type ReflectorSource, followSource } from '../../registry/index.ts';
import type { KubernetesObject } from '../objects.ts';
import type { ObjectName } from './kinds.ts';

/** One object as it is kept. */
export interface KeptObject {
  readonly namespace: string;
  readonly name: string;
  /** A copy. */
  read(): KubernetesObject;
}

/** Receives the name and the state of an object that came, changed, or is gone (as it was last). */
export type InformerListener = (object: KeptObject) => void;

/** The identity of an object within its kind. */
export const keyOf = ({ namespace, name }: ObjectName): string => `${namespace}/${name}`;

/** Objects by name. */
export class Informer {
  readonly #kept = new Map<string, KeptObject>();
  readonly #listeners = new Set<InformerListener>();
  readonly #reflector: Reflector;
  readonly synced: Promise<void>;
  readonly namespaced: boolean;

  /** Begins to follow the source. */
  constructor(source: ReflectorSource<KeptObject>, { clock, namespaced, onError }: {
    readonly clock: Clock; readonly namespaced: boolean; readonly onError: (error: unknown) => void;
  }) {
    this.namespaced = namespaced;
    this.#reflector = followSource(source, {
      clock, onError,
      onChange: (type, object) => {
        if (type === 'present') this.#kept.set(keyOf(object), object);
        else this.#kept.delete(keyOf(object));
        this.#announce(object);
      },
      onListed: ({ items }) => this.#forgetAllBut(new Set(Array.from(items, keyOf))),
    });
    this.synced = this.#reflector.synced;
  }

  get(name: ObjectName): KubernetesObject | undefined {
    this.#reflector.catchUp();
    return this.#kept.get(keyOf(name))?.read();
  }

  list(): KubernetesObject[] {
    this.#reflector.catchUp();
    return Array.from(this.#kept.values(), (kept) => kept.read());
  }

  /** Calls the listener for every object that is there, and for every change from now on. */
  listen(listener: InformerListener): void {
    this.#listeners.add(listener);
    for (const kept of this.#kept.values()) listener(kept);
  }

  stop(): void {
    this.#reflector.stop();
  }

  #announce(object: KeptObject): void {
    for (const listener of this.#listeners) listener(object);
  }

  /** Objects that a list no longer has are gone without an event. */
  #forgetAllBut(present: ReadonlySet<string>): void {
    for (const [key, kept] of this.#kept) {
      if (present.has(key)) continue;
      this.#kept.delete(key);
      this.#announce(kept);
    }
  }
}
