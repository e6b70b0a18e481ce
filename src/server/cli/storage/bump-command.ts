// `pintle storage bump`: for a store that was restored from an old backup, or a PostgreSQL that failed over to a replica without its last
// commits. Etcd's tool has the same as flags of its restore.
import { bumpPostgresRevision, bumpRevision } from '../../../storage/index.ts';
import { findStoreDirectory } from '../../data-directory.ts';
import { readDatastoreTls } from '../../open-store.ts';
import { integer } from '../../options/schema.ts';
import { servingOptions } from '../../options/serving.ts';
import { storageOptions } from '../../options/storage.ts';
import { type Command, print } from '../command.ts';
import { withPlainErrors } from './report.ts';

const schema = {
  dataDir: servingOptions.dataDir,
  datastoreEndpoint: storageOptions.datastoreEndpoint,
  datastoreCaFile: storageOptions.datastoreCaFile, datastoreCertFile: storageOptions.datastoreCertFile, datastoreKeyFile: storageOptions.datastoreKeyFile,
  by: integer({
    flag: 'by', default: 1_000_000_000, help: 'How far the revision is raised: more than the number of writes since the backup.',
    check: (by) => (by > 0 ? undefined : 'must be above zero'),
  }),
} as const;

/** Prints the new revision. */
export const storageBumpCommand: Command<typeof schema> = {
  name: 'storage bump', summary: 'Raise the revision of a store restored from a backup, so that clients list again.', schema,
  async run({ settings }) {
    const { dataDir, datastoreEndpoint: endpoint, by } = settings;
    const bump = (): Promise<number> =>
      (endpoint === '' ? bumpRevision(findStoreDirectory(dataDir), by) : bumpPostgresRevision({ endpoint, tls: readDatastoreTls(settings) }, by));
    return print(`the revision is ${await withPlainErrors(bump)}; clients with an older one list again`);
  },
};
