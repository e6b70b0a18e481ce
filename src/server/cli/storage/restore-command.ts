// `pintle storage restore`: a data directory, an etcd or a PostgreSQL, from a snapshot.
import { systemClock } from '../../../base/index.ts';
import { describePlace, placeSchema } from '../../backup/place.ts';
import { restoreSnapshot } from '../../backup/restore.ts';
import { StartError } from '../../options/options.ts';
import { text, toggle } from '../../options/schema.ts';
import { type Command, print } from '../command.ts';
import { progressOf, withPlainErrors } from './report.ts';

/** Whether objects that etcd gets have new revisions. */
export const newRevisions = toggle({
  flag: 'new-revisions', default: false, help: 'In etcd: give objects new resource versions, instead of using up one revision after the other until theirs come.',
});

const schema = {
  from: text({ flag: 'from', help: 'File that storage snapshot has written.' }),
  ...placeSchema,
  bump: text({
    flag: 'bump', help: 'How far the revision is raised beyond the snapshot\'s: more than was written after it. By default 1000000000, 0 in etcd.',
    check: (given) => (/^\d{0,15}$/.test(given) ? undefined : `must be a whole number, not ${JSON.stringify(given)}`),
  }),
  newRevisions,
} as const;

/** Restores, and prints from which revision the store continues. */
export const storageRestoreCommand: Command<typeof schema> = {
  name: 'storage restore', summary: 'Make a data directory, or fill an empty etcd or PostgreSQL, from a snapshot.', schema,
  async run({ settings: { from, bump, newRevisions: renumber, ...place } }) {
    if (from === '') throw new StartError('storage restore needs --from FILE');
    const progress = { check: progressOf('check', 'bytes'), write: progressOf('restore', place.etcdServers.length > 0 ? 'revisions' : 'keys') };
    const report = await withPlainErrors(() => (
      restoreSnapshot({ file: from, place, bump: bump === '' ? undefined : Number(bump), renumber, clock: systemClock, progress })
    ));
    return print([
      `restored ${report.keys} keys as of revision ${report.snapshotRevision} and ${report.secrets} files of certificates into ${describePlace(place)}`,
      `the store continues from revision ${report.revision}; watches from an older one begin again with a list`,
    ].join('\n'));
  },
};
