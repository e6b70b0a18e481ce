// `pintle storage check`: reads every record of a store that no server has open.
import { findStoreDirectory } from '../data-directory.ts';
import { StartError } from '../options/options.ts';
import { servingOptions } from '../options/serving.ts';
import { type Command, print } from './command.ts';

const schema = { dataDir: servingOptions.dataDir } as const;

/** Prints one line for each problem, or how much is sound. */
export const storageCheckCommand: Command<typeof schema> = {
  name: 'storage check', summary: 'Read every record of a stopped server\'s store and report damage.', schema,
  async run({ settings: { dataDir } }) {
    const { checkEmbeddedStore } = await import('../../storage/index.ts');
    const directory = findStoreDirectory(dataDir);
    try {
      const report = await checkEmbeddedStore(directory);
      if (report.ok) return print(`ok: ${report.keys} keys at revision ${report.revision}`);
      for (const problem of report.problems) process.stderr.write(`${problem}\n`);
      return 1;
    } catch (error) {
      throw new StartError((error as Error).message, { cause: error });
    }
  },
};
