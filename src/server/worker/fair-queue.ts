// A bounded queue that is fair by user: users take turns, however much each of them waits for.

/** What waits: for which user, and how many bytes it holds meanwhile. */
export interface Queued {
  readonly user: string;
  readonly bytes: number;
}

/** Tasks in the order of users' turns. */
export class FairQueue<T extends Queued> {
  /** By user, in the order of their turns. */
  readonly #lanes = new Map<string, T[]>();
  readonly #limits: { readonly tasks: number; readonly bytes: number };
  #tasks = 0;
  #bytes = 0;

  constructor(limits: { readonly tasks: number; readonly bytes: number }) {
    this.#limits = limits;
  }

  get length(): number {
    return this.#tasks;
  }

  /** Adds a task. Where the queue is full, the last task of the user with the most tasks is returned: it does not wait any more. */
  push(task: T): T | undefined {
    const lane = this.#lanes.get(task.user);
    if (lane === undefined) this.#lanes.set(task.user, [task]);
    else lane.push(task);
    this.#count(task, 1);
    if (this.#tasks <= this.#limits.tasks && this.#bytes <= this.#limits.bytes) return undefined;
    let longest: readonly T[] = [];
    for (const each of this.#lanes.values()) if (each.length >= longest.length) longest = each;
    const dropped = longest.at(-1) as T;
    this.remove(dropped);
    return dropped;
  }

  /** Takes the next task that `accepts` allows; its user's next turn comes after everybody else's. */
  take(accepts: (task: T) => boolean = () => true): T | undefined {
    for (const [user, lane] of this.#lanes) {
      const task = lane[0] as T;
      if (!accepts(task)) continue;
      lane.shift();
      this.#lanes.delete(user);
      if (lane.length > 0) this.#lanes.set(user, lane);
      this.#count(task, -1);
      return task;
    }
    return undefined;
  }

  /** Removes a task; false when it does not wait. */
  remove(task: T): boolean {
    const lane = this.#lanes.get(task.user);
    const at = lane?.indexOf(task) ?? -1;
    if (lane === undefined || at === -1) return false;
    lane.splice(at, 1);
    if (lane.length === 0) this.#lanes.delete(task.user);
    this.#count(task, -1);
    return true;
  }

  #count({ bytes }: T, sign: 1 | -1): void {
    this.#tasks += sign;
    this.#bytes += sign * bytes;
  }
}
