// `pintle storage check`: reads every record of a store that no server has open, and moves damaged ones out of it when it is asked to.
import { type CheckReport, checkEmbeddedStore, repairEmbeddedStore } from '../../../storage/index.ts';
import { findStoreDirectory } from '../../data-directory.ts';
import { toggle } from '../../options/schema.ts';
import { servingOptions } from '../../options/serving.ts';
import { type Command, print } from '../command.ts';
import { withPlainErrors } from './report.ts';

const schema = {
  dataDir: servingOptions.dataDir,
  repair: toggle({ flag: 'repair', default: false, help: 'Move damaged records into a file in the store\'s directory, so that everything else is whole.' }),
} as const;

const howToRestore = [
  'To put an object back: take its value out of the file with',
  "  jq -r 'select(.key == \"KEY\").value' FILE | base64 -d > object.json",
  'correct what is damaged in it, remove metadata.resourceVersion and metadata.uid, start the server, and run kubectl create -f object.json.',
  'A value that the server had encrypted, or stored as protobuf, comes back from a backup.',
].join('\n');

/** Prints one line for each problem, or how much is sound. */
export const storageCheckCommand: Command<typeof schema> = {
  name: 'storage check', summary: 'Read every record of a stopped server\'s store and report damage.', schema,
  async run({ settings: { dataDir, repair } }) {
    const directory = findStoreDirectory(dataDir);
    return printReport(await withPlainErrors(() => (repair ? repairStore(directory) : checkEmbeddedStore(directory))));
  },
};

function printReport({ ok, keys, revision, problems }: CheckReport): number {
  if (ok) return print(`ok: ${keys} keys at revision ${revision}`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  return 1;
}

/** Repairs, and prints the keys that were moved and how they come back. */
async function repairStore(directory: string): Promise<CheckReport> {
  const { check, moved, file } = await repairEmbeddedStore(directory);
  for (const { key, modRevision, cause } of moved) print(`moved ${key === '' ? `revision ${modRevision}` : key}: ${cause}`);
  if (file !== undefined) print(`${file} holds ${moved.length} records, one JSON object a line.\n${howToRestore}`);
  return check;
}
