// Opens the Store that the options ask for, and says in one line why it cannot.
import { type Store, createMemoryStore } from '../storage/index.ts';
import type { DataDirectory } from './data-directory.ts';
import { type ServerOptions, StartError } from './options.ts';

/** Longer than any server runs. */
const neverMs = 1e15;

/** The Store in the data directory, or one in memory. */
export async function openStore(options: ServerOptions, directory: DataDirectory): Promise<Store> {
  const { clock, historyMs } = options;
  const common = { clock, historyMs, compactionIntervalMs: options.compactionIntervalMs === 0 ? neverMs : options.compactionIntervalMs };
  if (directory.store === '') return createMemoryStore(common);
  try {
    // Only servers with a disk pay for loading the database library.
    const { openEmbeddedStore } = await import('../storage/index.ts');
    return await openEmbeddedStore({ ...common, directory: directory.store });
  } catch (error) {
    throw new StartError(`cannot open the store: ${(error as Error).message}`, { cause: error });
  }
}
