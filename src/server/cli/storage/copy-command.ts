// `pintle storage copy`: between data directories, etcd and PostgreSQL.
import { systemClock } from '../../../base/index.ts';
import { copyStorage } from '../../backup/copy.ts';
import { type StoreLocation, describePlace, placeSchema } from '../../backup/place.ts';
import { isPostgresUrl } from '../../../storage/index.ts';
import { StartError } from '../../options/options.ts';
import { type SettingsOf, text } from '../../options/schema.ts';
import { type Command, print } from '../command.ts';
import { progressOf, withPlainErrors } from './report.ts';
import { newRevisions } from './restore-command.ts';

const { etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile, datastoreCaFile, datastoreCertFile, datastoreKeyFile } = placeSchema;

const schema = {
  from: text({ flag: 'from', help: 'Data directory, or URL of an etcd or a PostgreSQL, to read.' }),
  to: text({ flag: 'to', help: 'Data directory, or URL of an etcd or a PostgreSQL, to fill; it must be empty.' }),
  etcdPrefix, etcdCaFile, etcdCertFile, etcdKeyFile, datastoreCaFile, datastoreCertFile, datastoreKeyFile, newRevisions,
} as const;

/** Copies keys, values, revisions, times to live and, between directories, keys and certificates. */
export const storageCopyCommand: Command<typeof schema> = {
  name: 'storage copy', summary: 'Copy a store into an empty one: directory, etcd or PostgreSQL.', schema,
  run: async ({ settings }) => print(await runCopy(settings)),
};

/** Copies; returns the line to print. */
export async function runCopy({ from, to, newRevisions: renumber, ...rest }: SettingsOf<typeof schema>): Promise<string> {
  if (from === '' || to === '') throw new StartError('storage copy needs --from and --to');
  const progress = { read: progressOf('read', 'keys'), check: progressOf('check', 'bytes'), write: progressOf('write', 'keys') };
  const [source, target] = [placeOf(from, rest), placeOf(to, rest)];
  const report = await withPlainErrors(() => copyStorage({ from: source, to: target, renumber, clock: systemClock, progress }));
  return `copied ${report.keys} keys as of revision ${report.snapshotRevision} into ${describePlace(target)}, which continues from revision ${report.revision}`;
}

/** The place that a text names. */
function placeOf(text: string, rest: Omit<StoreLocation, 'dataDir' | 'certDir' | 'etcdServers' | 'datastoreEndpoint'>): StoreLocation {
  const isEtcd = /^https?:\/\//.test(text);
  const isPostgres = isPostgresUrl(text);
  return {
    ...rest, certDir: '', dataDir: isEtcd || isPostgres ? '' : text, etcdServers: isEtcd ? text.split(',') : [], datastoreEndpoint: isPostgres ? text : '',
  };
}
