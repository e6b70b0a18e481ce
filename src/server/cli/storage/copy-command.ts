// `pintle storage copy`: between data directories and etcd.
import { systemClock } from '../../../base/index.ts';
import { copyStorage } from '../../backup/copy.ts';
import { type Place, placeSchema } from '../../backup/place.ts';
import { StartError } from '../../options/options.ts';
import { type SettingsOf, text } from '../../options/schema.ts';
import { type Command, print } from '../command.ts';
import { progressOf, withPlainErrors } from './report.ts';
import { newRevisions } from './restore-command.ts';

const { etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile } = placeSchema;

const schema = {
  from: text({ flag: 'from', help: 'Data directory or URL of an etcd to read.' }),
  to: text({ flag: 'to', help: 'Data directory or URL of an etcd to fill; it must be empty.' }),
  etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile, newRevisions,
} as const;

/** Copies keys, values, revisions, times to live and, between directories, keys and certificates. */
export const storageCopyCommand: Command<typeof schema> = {
  name: 'storage copy', summary: 'Copy a store into an empty one: directory or etcd.', schema,
  run: async ({ settings }) => print(await runCopy(settings)),
};

/** Copies; returns the line to print. */
export async function runCopy({ from, to, newRevisions: renumber, ...rest }: SettingsOf<typeof schema>): Promise<string> {
  if (from === '' || to === '') throw new StartError('storage copy needs --from and --to');
  const progress = { read: progressOf('read', 'keys'), check: progressOf('check', 'bytes'), write: progressOf('write', 'keys') };
  const report = await withPlainErrors(() => copyStorage({ from: placeOf(from, rest), to: placeOf(to, rest), renumber, clock: systemClock, progress }));
  return `copied ${report.keys} keys as of revision ${report.snapshotRevision} into ${to}, which continues from revision ${report.revision}`;
}

/** The place that a text names. */
function placeOf(text: string, rest: Omit<Place, 'dataDir' | 'certDir' | 'etcdServers'>): Place {
  const isEtcd = /^https?:\/\//.test(text);
  return { ...rest, certDir: '', dataDir: isEtcd ? '' : text, etcdServers: isEtcd ? text.split(',') : [] };
}
