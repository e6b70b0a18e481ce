// `pintle storage snapshot`: a backup of a server, running or not, as one file.
import { systemClock } from '../../../base/index.ts';
import { placeSchema } from '../../backup/place.ts';
import { takeSnapshot, yieldToOthers } from '../../backup/snapshot.ts';
import { StartError } from '../../options/options.ts';
import { text } from '../../options/schema.ts';
import { type Command, print } from '../command.ts';
import { certificatesNote, progressOf, withPlainErrors } from './report.ts';

const schema = { ...placeSchema, to: text({ flag: 'to', help: 'File to write; it must not exist. It holds private keys and Secrets: keep it as you keep those.' }) } as const;

/** Writes the file and prints what it holds. */
export const storageSnapshotCommand: Command<typeof schema> = {
  name: 'storage snapshot', summary: 'Back up a server, running or not: store, keys and certificates as one file.', schema,
  async run({ settings: { to, ...place } }) {
    if (to === '') throw new StartError('storage snapshot needs --to FILE');
    yieldToOthers();
    const { keys, revision, bytes, secrets } = await withPlainErrors(() => (
      takeSnapshot({ place, file: to, clock: systemClock, progress: progressOf('snapshot', 'keys') })
    ));
    if (secrets === 0) process.stderr.write(`pintle: ${certificatesNote(place)}\n`);
    return print(`${to} holds ${keys} keys as of revision ${revision} and ${secrets} files of certificates (${bytes} bytes)`);
  },
};
