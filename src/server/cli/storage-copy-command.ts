// `pintle storage copy`: its flags, its progress bar, and one line at the end.
import { readTextFile } from '../data-directory.ts';
import { StartError } from '../options/options.ts';
import { type SettingsOf, text } from '../options/schema.ts';
import { storageOptions } from '../options/storage.ts';
import { type Command, print } from './command.ts';
import { copyStorage, formatProgress } from './storage-copy.ts';

const schema = {
  from: text({ flag: 'from', help: 'Data directory or URL of an etcd to read.' }),
  to: text({ flag: 'to', help: 'Data directory or URL of an etcd to fill; it must be empty.' }),
  etcdCaFile: storageOptions.etcdCaFile, etcdCertFile: storageOptions.etcdCertFile, etcdKeyFile: storageOptions.etcdKeyFile,
} as const;

/** Copies every key and value of one store into an empty one. */
export const storageCopyCommand: Command<typeof schema> = {
  name: 'storage copy', summary: 'Copy a stopped server\'s store into an empty one: directory or etcd.', schema,
  run: async ({ settings }) => print(await runCopy(settings)),
};

/** Copies, with a progress bar on a terminal; returns the line to print. */
export async function runCopy({ from, to, etcdCaFile, etcdCertFile, etcdKeyFile }: SettingsOf<typeof schema>): Promise<string> {
  if (from === '' || to === '') throw new StartError('storage copy needs --from and --to');
  if ((etcdCertFile === '') !== (etcdKeyFile === '')) throw new StartError('--etcd-certfile and --etcd-keyfile must be given together');
  const { stderr } = process;
  const tls = {
    ...(etcdCaFile !== '' && { ca: readTextFile('--etcd-cafile', etcdCaFile) }),
    ...(etcdCertFile !== '' && { cert: readTextFile('--etcd-certfile', etcdCertFile), key: readTextFile('--etcd-keyfile', etcdKeyFile) }),
  };
  const progress = (done: number, total: number): void => void stderr.write(`\r${formatProgress(done, total)}${done === total ? '\n' : ''}`);
  const report = await copyStorage({ from, to, tls, ...(stderr.isTTY && { progress }) });
  return `copied ${report.keys} keys (${report.bytes} bytes) as of revision ${report.revision}; resource versions start again in ${to}`;
}
