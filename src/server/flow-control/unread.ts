// Answers that are written and wait for clients that do not read them. They take memory and no work, so they give their seats back: a user with as many
// such connections as a level has seats would hold up all others of that level until the requests time out.
import type { User } from '../../auth/index.ts';
import type { PriorityLevel } from './level.ts';

/** An answer that waits, with what it had a seat of. */
interface Unread {
  readonly flow: { readonly level: PriorityLevel };
  readonly holder: { readonly user: User; cut(reason: string): void };
}

/** Answers that may wait unread beside the seats of a level that has fewer. */
const MIN_UNREAD = 20;

/** The unread answers of a server: as many for a level as it has seats. One more cuts off the oldest of the user with the most of them. */
export class UnreadAnswers {
  readonly #answers = new Set<Unread>();

  /** Takes over an answer whose seat is given back. */
  add(answer: Unread): void {
    this.#answers.add(answer);
    const { level } = answer.flow;
    const own = [...this.#answers].filter(({ flow }) => flow.level === level);
    if (own.length <= Math.max(MIN_UNREAD, level.nominalSeats)) return;
    const cut = oldestOfLargest(own);
    this.#answers.delete(cut);
    cut.holder.cut('the client does not read the answer');
  }

  /** Takes an answer that has ended out; false when it has its seat. */
  delete(answer: Unread): boolean {
    return this.#answers.delete(answer);
  }

  count(level: PriorityLevel): number {
    let count = 0;
    for (const { flow } of this.#answers) if (flow.level === level) count++;
    return count;
  }
}

/** The oldest answer of the user with the most. */
function oldestOfLargest(answers: readonly Unread[]): Unread {
  const byUser = new Map<string, Unread[]>();
  for (const answer of answers) {
    const { name } = answer.holder.user;
    const own = byUser.get(name);
    if (own === undefined) byUser.set(name, [answer]);
    else own.push(answer);
  }
  const [largest = []] = [...byUser.values()].sort((a, b) => b.length - a.length);
  return largest[0] as Unread;
}
