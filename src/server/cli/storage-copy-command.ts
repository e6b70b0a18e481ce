// The command line of `pintle storage copy`: its arguments, its progress bar, and one line at the end.
import { readTextFile } from './data-directory.ts';
import { StartError } from '../options/options.ts';
import { copyStorage, formatProgress } from './storage-copy.ts';

/** What the arguments say. */
export interface CopyRequest {
  readonly from: string;
  readonly to: string;
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** For the help text. */
export const copyUsage = 'pintle storage copy --from DIR|ETCD-URL --to DIR|ETCD-URL [--etcd-cafile FILE] [--etcd-certfile FILE --etcd-keyfile FILE]';

const fields: Readonly<Record<string, keyof CopyRequest>> = {
  '--from': 'from', '--to': 'to', '--etcd-cafile': 'caFile', '--etcd-certfile': 'certFile', '--etcd-keyfile': 'keyFile',
};

/** Reads the arguments after `storage copy`; what is wrong with them as a text. */
export function parseCopyArguments(args: readonly string[]): CopyRequest | string {
  const request = { from: '', to: '', caFile: '', certFile: '', keyFile: '' };
  for (let index = 0; index < args.length; index += 1) {
    const [name = '', ...value] = (args[index] as string).split('=');
    const field = fields[name];
    if (field === undefined) return `unknown argument: ${args[index]}; usage: ${copyUsage}`;
    const text = value.length > 0 ? value.join('=') : args[(index += 1)];
    if (text === undefined || text === '') return `flag needs an argument: ${name}`;
    request[field] = text;
  }
  return request.from === '' || request.to === '' ? `usage: ${copyUsage}` : request;
}

/** Copies, and shows how far it is where somebody looks on; answers the line to print. */
export async function runCopy({ from, to, caFile, certFile, keyFile }: CopyRequest): Promise<string> {
  if ((certFile === '') !== (keyFile === '')) throw new StartError('--etcd-certfile and --etcd-keyfile must be given together');
  const { stderr } = process;
  const tls = {
    ...(caFile !== '' && { ca: readTextFile('--etcd-cafile', caFile) }),
    ...(certFile !== '' && { cert: readTextFile('--etcd-certfile', certFile), key: readTextFile('--etcd-keyfile', keyFile) }),
  };
  const progress = (done: number, total: number): void => void stderr.write(`\r${formatProgress(done, total)}${done === total ? '\n' : ''}`);
  const report = await copyStorage({ from, to, tls, ...(stderr.isTTY && { progress }) });
  return `copied ${report.keys} keys (${report.bytes} bytes) as of revision ${report.revision}; resource versions begin anew in ${to}`;
}
