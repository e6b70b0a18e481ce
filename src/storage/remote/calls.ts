// The calls of a Store elsewhere: those under way when it closes, and questions that many callers ask at once.
import { StorageClosedError } from '../errors.ts';

/** Calls that began before close are answered; later ones are refused. */
export class RunningCalls {
  readonly #running = new Set<Promise<unknown>>();
  #closing: Promise<void> | undefined;

  track<T>(run: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(new StorageClosedError());
    const running = run();
    this.#running.add(running);
    const forget = (): void => void this.#running.delete(running);
    running.then(forget, forget);
    return running;
  }

  /** Waits for the calls under way, then runs `end`; again and again the same. */
  close(end: () => Promise<void>): Promise<void> {
    this.#closing ??= Promise.allSettled(this.#running).then(end);
    return this.#closing;
  }
}

/** A question whose answer is as of a moment after it was asked: all callers until it is sent share its answer. */
export class SharedQuestion<T> {
  readonly #send: () => Promise<T>;
  #upcoming: Promise<T> | undefined;
  #asking: Promise<unknown> = Promise.resolve();

  constructor(send: () => Promise<T>) {
    this.#send = send;
  }

  ask(): Promise<T> {
    this.#upcoming ??= this.#asking.then(() => {
      this.#upcoming = undefined;
      const answer = this.#send();
      this.#asking = answer.catch(() => undefined);
      return answer;
    });
    return this.#upcoming;
  }
}
