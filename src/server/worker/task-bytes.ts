// The bytes of tasks on their way to a worker. They may lie in a large piece of memory, which a message would copy as a whole, so that the server's
// thread hands over a copy. The copy is on pages of its own: from the heap of the C library megabytes would be taken by one thread and given back by
// another, which leaves room there that the system does not get back. The worker, which reads the bytes one by one, makes a copy of that.
import { allocateLasting } from '../../base/index.ts';

function mapBytes(input: unknown, map: (bytes: Uint8Array) => Uint8Array): unknown {
  if (input instanceof Uint8Array) return map(input);
  if (typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, value instanceof Uint8Array ? map(value) : value as unknown]));
}

/** The input of a task with copies of its bytes, and the copies, which are to be transferred. */
export function handOver(input: unknown): { readonly input: unknown; readonly copies: readonly ArrayBuffer[] } {
  const copies: ArrayBuffer[] = [];
  const handed = mapBytes(input, (bytes) => {
    const copy = allocateLasting(bytes.length);
    copy.set(bytes);
    copies.push(copy.buffer);
    return copy;
  });
  return { input: handed, copies };
}

/** The input as the worker reads it. */
export const takeOver = (input: unknown): unknown => mapBytes(input, (bytes) => new Uint8Array(bytes));
