// Why a port cannot be opened, in a line for the operator.
import { StartError } from './options/options.ts';

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use', EACCES: 'not permitted', EADDRNOTAVAIL: 'the address does not belong to this machine',
};

/** The StartError of an error of `listen`. */
export function describeListenError(error: unknown, where: string): StartError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  return new StartError(`cannot listen on ${where}: ${reasons[code] ?? message}`, { cause: error });
}
