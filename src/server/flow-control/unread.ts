// Answers that are written and wait for clients that do not read them. They take memory and no work, so they give their seats back: a user with as many
// such connections as a level has seats would hold up all others of that level until the requests time out.
import type { User } from '../../auth/index.ts';
import type { PriorityLevel } from './level.ts';

/** An answer that waits, with what it had a seat of. */
interface Unread {
  readonly flow: { readonly level: PriorityLevel };
  readonly holder: { readonly user: User; cut(reason: string): void };
}

/** The answers of one level, by user; each user's in the order in which they came. */
interface LevelAnswers {
  count: number;
  readonly byUser: Map<string, Set<Unread>>;
}

/** Answers that may wait unread beside the seats of a level that has fewer. */
const MIN_UNREAD = 20;

/** The unread answers of a server: as many for a level as it has seats. One more cuts off the oldest of the user with the most of them. */
export class UnreadAnswers {
  readonly #levels = new Map<PriorityLevel, LevelAnswers>();

  /** Takes over an answer whose seat is given back. */
  add(answer: Unread): void {
    const { level } = answer.flow;
    const { name } = answer.holder.user;
    let answers = this.#levels.get(level);
    if (answers === undefined) this.#levels.set(level, answers = { count: 0, byUser: new Map() });
    const own = answers.byUser.get(name);
    if (own === undefined) answers.byUser.set(name, new Set([answer]));
    else own.add(answer);
    answers.count++;
    if (answers.count <= Math.max(MIN_UNREAD, level.nominalSeats)) return;
    const cut = oldestOfLargest(answers.byUser);
    this.delete(cut);
    cut.holder.cut('the client does not read the answer');
  }

  /** Takes an answer that has ended out; false when it has its seat. */
  delete(answer: Unread): boolean {
    const { level } = answer.flow;
    const { name } = answer.holder.user;
    const answers = this.#levels.get(level);
    const own = answers?.byUser.get(name);
    if (answers === undefined || own === undefined || !own.delete(answer)) return false;
    if (own.size === 0) answers.byUser.delete(name);
    answers.count--;
    if (answers.count === 0) this.#levels.delete(level);
    return true;
  }

  count(level: PriorityLevel): number {
    return this.#levels.get(level)?.count ?? 0;
  }
}

/** The oldest answer of the user with the most. */
function oldestOfLargest(byUser: ReadonlyMap<string, ReadonlySet<Unread>>): Unread {
  let largest: ReadonlySet<Unread> = new Set();
  for (const own of byUser.values()) if (own.size > largest.size) largest = own;
  const [oldest] = largest;
  return oldest as Unread;
}
