// Files that flags name and that are read again when they change: configurations, certificates with their keys, authorities. A file is looked at by
// its state, not watched, so that files which are put in place by renames and links (as mounted ConfigMaps and Secrets are) are seen as well. Files
// that belong together are read together; what cannot be used, as between the two writes of a rotation, is logged, and what was used before stays.
import { readFile, stat } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock } from '../../base/index.ts';
import { readTextFile } from '../data-directory.ts';
import { type Logger, describeError } from '../observability/logger.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { ReloadObserver } from '../metrics/reload-metrics.ts';
import { parseAuthorities } from '../tls/client-certificate.ts';

/** What a file said first, and a way to hear of what it says later. */
export type Followed<Settings> = Settings & {
  /** Calls back with later settings until the function that it returns is called. */
  follow(replace: (settings: Settings) => void): () => void;
};

/** A file, and the flag that names it. */
interface NamedFile {
  readonly flag: string;
  readonly path: string;
}

/** A file of settings. */
interface SettingsFile<Settings> extends NamedFile {
  /** How the log calls it. */
  readonly what: string;
  readonly options: Pick<ServerOptions, 'clock' | 'logger'>;
  /** Throws StartError when the content cannot be used; `first` is what the server began with. */
  readonly read: (content: string, first?: Settings) => Promise<Settings>;
  /** Hears of the file at the start and of its changes. */
  readonly observer?: ReloadObserver | undefined;
}

/** Reads a file, and again whenever it changes. Throws StartError when it cannot be used at first. */
export async function readFollowed<Settings extends object>({
  flag, path, what, options, read, observer,
}: SettingsFile<Settings>): Promise<Followed<Settings>> {
  const content = readTextFile(flag, path);
  const first = await read(content);
  observer?.loaded(content);
  const readAgain = (text: string): Promise<Settings> => read(text, first).catch((error: unknown) => {
    observer?.reloaded('failure');
    throw error;
  });
  const follow = (replace: (settings: Settings) => void): (() => void) => followFiles({
    ...options, what, files: [{ flag, path }], contents: [content],
    async use([text = '']) {
      replace(await readAgain(text));
      observer?.reloaded('success', text);
    },
  });
  return { ...first, follow };
}

/** A value made of files, as they are at the moment. */
export interface Current<Value> {
  readonly value: Value;
  /** Calls back after each change. */
  onChange(callback: () => void): void;
  stop(): void;
}

/** A value that is made of the texts of files. */
interface ValueFiles<Value> {
  readonly files: readonly NamedFile[];
  readonly what: string;
  readonly options: Pick<ServerOptions, 'clock' | 'logger'>;
  /** Throws for what cannot be used. */
  readonly read: (texts: readonly string[]) => Value;
}

/** Makes the value, and follows its files until it is stopped. Throws StartError when it cannot be made at first. */
export function readCurrent<Value>({ files, what, options, read }: ValueFiles<Value>): Current<Value> {
  const contents = files.map(({ flag, path }) => readTextFile(flag, path));
  const callbacks: (() => void)[] = [];
  let value = readFirst(files, () => read(contents));
  const stop = files.length === 0 ? () => {} : followFiles({
    ...options, what, files, contents,
    async use(texts) {
      value = read(texts);
      for (const callback of callbacks) callback();
    },
  });
  return {
    get value() {
      return value;
    },
    onChange: (callback) => void callbacks.push(callback),
    stop,
  };
}

function readFirst<Value>([file]: readonly NamedFile[], read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof StartError || file === undefined) throw error;
    throw new StartError(`${file.flag}: ${file.path}: ${(error as Error).message}`, { cause: error });
  }
}

/** A certificate and its key, in PEM. */
export interface KeyPairTexts {
  readonly certificate: string;
  readonly key: string;
}

/** The pair of two files; undefined where they are not named. Throws StartError for files that do not belong together. */
export function readKeyPair(
  certificate: NamedFile, key: NamedFile, parts: Pick<ValueFiles<unknown>, 'what' | 'options'>,
): Current<KeyPairTexts> | undefined {
  return certificate.path === '' || key.path === '' ? undefined : readCurrent({ ...parts, files: [certificate, key], read: joinPair });
}

function joinPair([certificate = '', key = '']: readonly string[]): KeyPairTexts {
  createSecureContext({ cert: certificate, key });
  return { certificate, key };
}

/** The certificates of a file of authorities, as text; undefined where none is named. Throws StartError for a file without certificates. */
export function readAuthorities(file: NamedFile, options: Pick<ServerOptions, 'clock' | 'logger'>): Current<string> | undefined {
  if (file.path === '') return undefined;
  const read = ([text = '']: readonly string[]): string => {
    if (countCertificates(text) === 0) throw new StartError(`${file.flag}: ${file.path} holds no certificates that can be read`);
    return text;
  };
  return readCurrent({ files: [file], what: `the file of ${file.flag}`, options, read });
}

function countCertificates(text: string): number {
  try {
    return parseAuthorities([text]).length;
  } catch {
    return 0;
  }
}

interface FollowOptions {
  readonly files: readonly NamedFile[];
  /** What the files held when they were read first. */
  readonly contents: readonly string[];
  readonly what: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called with each new content; rejects when it cannot be used. */
  readonly use: (contents: readonly string[]) => Promise<void>;
}

const PERIOD_MS = 1000;

async function describeState(path: string): Promise<string> {
  const { mtimeMs, ctimeMs, size, ino } = await stat(path);
  return [mtimeMs, ctimeMs, size, ino].join();
}

/** Follows the files until the function that it answers is called. */
function followFiles({ files, contents: first, what, clock, logger, use }: FollowOptions): () => void {
  const paths = files.map(({ path }) => path);
  let [contents, state, stopped] = [first, '', false];
  const look = async (): Promise<void> => {
    const current = (await Promise.all(paths.map(describeState))).join(' ');
    if (current === state) return;
    const texts = await Promise.all(paths.map((path) => readFile(path, 'utf8')));
    state = current;
    if (stopped || texts.every((text, index) => text === contents[index])) return;
    contents = texts;
    await use(texts);
    logger.info(1, `${what} is in use as it is now`, { path: paths.join() });
  };
  // A file that is gone stays gone for a while: one line says so.
  let told = '';
  const tell = (error: unknown): void => {
    const described = describeError(error);
    if (described.error !== told) logger.warn(`${what} cannot be used; the one before stays`, { path: paths.join(), error: described.error });
    told = described.error;
  };
  const stop = lookAgain(clock, () => look().then(() => {
    told = '';
  }, tell));
  return () => {
    stopped = true;
    stop();
  };
}

/** Looks once a second, one look after the other, until the function that it answers is called. */
export function lookAgain(clock: Clock, look: () => Promise<void>): () => void {
  let isStopped = false;
  const wait = () => clock.after(PERIOD_MS, () => {
    void look().finally(() => {
      if (!isStopped) timer = wait();
    });
  });
  let timer = wait();
  return () => {
    isStopped = true;
    timer.cancel();
  };
}
