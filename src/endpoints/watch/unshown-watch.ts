// A watch whose events cannot be shown as asked: an event is no list, so that a client that asks for lists of metadata gets an answer that ends,
// empty, with the first event, as in the reference.
import type { Clock } from '../../base/index.ts';
import type { RegistryWatch } from '../../registry/index.ts';
import type { Sink } from '../exchange.ts';

interface Parts {
  readonly watch: RegistryWatch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Resolves with the first event, the timeout, the end of the watch or that of the receiver. */
export function endAtFirstEvent({ watch, clock, timeoutMs }: Parts, { signal }: Pick<Sink, 'signal'>): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      timer.cancel();
      watch.close();
      resolve();
    };
    const timer = clock.after(timeoutMs, end);
    const look = (): void => {
      if (watch.take(1).length > 0 || watch.end !== undefined) end();
      else watch.onReadable(look);
    };
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    else look();
  });
}
