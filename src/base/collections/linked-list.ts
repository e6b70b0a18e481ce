// A list in the order of arrival for entries that come and leave quickly. A Set copies its table every few hundred insertions; the old one, once it
// has grown old with its owner, keeps alive what it held and the tables after it until a full collection (measured: a third of
// everything that requests allocate survives). A link that is taken out here refers to nothing any more.

/** A place in a list; remove it there. */
export interface Link<T> {
  readonly value: T;
  next: Link<T> | undefined;
  previous: Link<T> | undefined;
  listed: boolean;
}

/** Values in the order in which they were added. */
export class LinkedList<T> implements Iterable<T> {
  #first: Link<T> | undefined;
  #last: Link<T> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The value that has been there longest. */
  get first(): T | undefined {
    return this.#first?.value;
  }

  add(value: T): Link<T> {
    const link: Link<T> = { value, next: undefined, previous: this.#last, listed: true };
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#size += 1;
    return link;
  }

  /** Takes a link of this list out; idempotent. */
  remove(link: Link<T>): void {
    if (!link.listed) return;
    const { next, previous } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    link.next = undefined;
    link.previous = undefined;
    link.listed = false;
    this.#size -= 1;
  }

  /** Takes out the value that has been there longest. */
  shift(): T | undefined {
    const first = this.#first;
    if (first !== undefined) this.remove(first);
    return first?.value;
  }

  /** The values as they are when it begins, so that what is done with one may change the list. */
  [Symbol.iterator](): Iterator<T> {
    const values: T[] = [];
    for (let link = this.#first; link !== undefined; link = link.next) values.push(link.value);
    return values[Symbol.iterator]();
  }
}
