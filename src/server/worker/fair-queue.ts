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

  /** Adds a task. Answers the tasks that do not wait any more: where the queue is over a limit, users with the most lose their last tasks. */
  push(task: T): readonly T[] {
    const lane = this.#lanes.get(task.user);
    if (lane === undefined) this.#lanes.set(task.user, [task]);
    else lane.push(task);
    this.#count(task, 1);
    const dropped: T[] = [];
    while (this.#tasks > this.#limits.tasks || this.#bytes > this.#limits.bytes) dropped.push(this.#dropOne());
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

  /** Removes the last task of the user with the most bytes, where there are too many, or else with the most tasks. */
  #dropOne(): T {
    const measure = this.#bytes > this.#limits.bytes ? sumBytes : (lane: readonly T[]): number => lane.length;
    let [largest, most]: [readonly T[], number] = [[], 0];
    for (const lane of this.#lanes.values()) {
      const size = measure(lane);
      if (size >= most) [largest, most] = [lane, size];
    }
    const dropped = largest.at(-1) as T;
    this.remove(dropped);
    return dropped;
  }

  #count({ bytes }: T, sign: 1 | -1): void {
    this.#tasks += sign;
    this.#bytes += sign * bytes;
  }
}

const sumBytes = (lane: readonly Queued[]): number => lane.reduce((sum, { bytes }) => sum + bytes, 0);
