// Configuration files that are read again when they change. A file is looked at by its state, not watched, so that files which are put in place by
// renames and links (as mounted ConfigMaps are) are seen as well; what cannot be used is logged, and what was used before stays.
import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../base/index.ts';
import { readTextFile } from '../data-directory.ts';
import { type Logger, describeError } from '../observability/logger.ts';
import type { ServerOptions } from '../options/options.ts';

/** What a file said first, and a way to hear of what it says later. */
export type Followed<Settings> = Settings & {
  /** Calls back with later settings until the function that it returns is called. */
  follow(replace: (settings: Settings) => void): () => void;
};

/** A file that a flag names. */
interface SettingsFile<Settings> {
  readonly flag: string;
  readonly path: string;
  /** How the log calls it. */
  readonly what: string;
  readonly options: ServerOptions;
  /** Throws StartError when the content cannot be used; `first` is what the server began with. */
  readonly read: (content: string, first?: Settings) => Promise<Settings>;
}

/** Reads a file, and again whenever it changes. Throws StartError when it cannot be used at first. */
export async function readFollowed<Settings extends object>({ flag, path, what, options, read }: SettingsFile<Settings>): Promise<Followed<Settings>> {
  const { clock, logger } = options;
  const content = readTextFile(flag, path);
  const first = await read(content);
  return { ...first, follow: (replace) => followFile({ path, content, what, clock, logger, use: async (text) => replace(await read(text, first)) }) };
}

interface FollowOptions {
  readonly path: string;
  /** What the file held when it was read first. */
  readonly content: string;
  readonly what: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with each new content; rejects when it cannot be used. */
  readonly use: (content: string) => Promise<void>;
}

const periodMs = 1000;

/** Follows the file until the function that it answers is called. */
function followFile({ path, content: first, what, clock, logger, use }: FollowOptions): () => void {
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
