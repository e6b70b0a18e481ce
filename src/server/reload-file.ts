// Configuration files that are read again when they change. A file is looked at by its state, not watched, so that files which are put in place by
// renames and links (as mounted ConfigMaps are) are seen as well; what cannot be used is logged, and what was used before stays.
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../base/index.ts';
import { type Logger, describeError } from './logger.ts';

interface FollowOptions {
  readonly path: string;
  /** What the file held when it was read first. */
  readonly content: string;
  /** How the log calls it. */
  readonly what: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with each new content; rejects when it cannot be used. */
  readonly use: (content: string) => Promise<void>;
}

const periodMs = 1000;

/** Follows the file until the function that it answers is called. */
export function followFile({ path, content: first, what, clock, logger, use }: FollowOptions): () => void {
  let [content, state, stopped] = [first, '', false];
  const look = async (): Promise<void> => {
    const { mtimeMs, ctimeMs, size, ino } = await stat(path);
    const current = [mtimeMs, ctimeMs, size, ino].join();
    if (current === state) return;
    const text = await readFile(path, 'utf8');
    state = current;
    if (text === content || stopped) return;
    content = text;
    await use(text);
    logger.info(1, `${what} is in use as it is now`, { path });
  };
  // A file that is gone stays gone for a while: one line says so.
  let told = '';
  const tell = (error: unknown): void => {
    const described = describeError(error);
    if (described.error !== told) logger.warn(`${what} cannot be used; the one before stays`, { path, error: described.error });
    told = described.error;
  };
  const wait = () => clock.after(periodMs, () => {
    void look().then(() => {
      told = '';
    }, tell).finally(() => {
      if (!stopped) timer = wait();
    });
  });
  let timer = wait();
  return () => {
    stopped = true;
    timer.cancel();
  };
}
