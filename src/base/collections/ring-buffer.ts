// A queue with memory of positions: every element keeps the sequence number it was pushed under until it is shifted out.
// Cursors are plain numbers, so a reader costs nothing while it does not read, and sees at once that it fell behind `first`.

const SMALLEST = 16;

function makeSlots<T>(length: number): (T | undefined)[] {
  return Array.from({ length }, () => undefined);
}

/** Elements `first` ≤ sequence < `next`, oldest first. Grows by doubling; numbers are never reused. */
export class RingBuffer<T> {
  #slots = makeSlots<T>(SMALLEST);
  #first = 0;
  #next = 0;

  /** Sequence number of the oldest element (equal to `next` when empty). */
  get first(): number {
    return this.#first;
  }

  /** Sequence number that the next element will get. */
  get next(): number {
    return this.#next;
  }

  get size(): number {
    return this.#next - this.#first;
  }

  /** The element under that number, or undefined when it is gone or has not come. */
  at(sequence: number): T | undefined {
    return sequence >= this.#first && sequence < this.#next ? this.#slots[sequence % this.#slots.length] : undefined;
  }

  /** Adds an element and answers its sequence number. */
  push(element: T): number {
    if (this.size === this.#slots.length) this.#resize(this.#slots.length * 2);
    this.#slots[this.#next % this.#slots.length] = element;
    return this.#next++;
  }

  /** Removes and answers the oldest element; undefined when empty. */
  shift(): T | undefined {
    if (this.size === 0) return undefined;
    const slot = this.#first % this.#slots.length;
    const element = this.#slots[slot];
    this.#slots[slot] = undefined;
    this.#first++;
    if (this.#slots.length > SMALLEST && this.size <= this.#slots.length / 8) this.#resize(this.#slots.length / 2);
    return element;
  }

  /** Forgets all elements; numbering continues. */
  clear(): void {
    this.#slots = makeSlots<T>(SMALLEST);
    this.#first = this.#next;
  }

  /** Smallest number whose element is past `isBefore`, which must be true for a prefix of the elements only; `next` when none is. */
  search(isBefore: (element: T) => boolean): number {
    let low = this.#first;
    let high = this.#next;
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      if (isBefore(this.at(middle) as T)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #resize(length: number): void {
    const slots = makeSlots<T>(length);
    for (let i = this.#first; i < this.#next; i++) slots[i % length] = this.#slots[i % this.#slots.length];
    this.#slots = slots;
  }
}
