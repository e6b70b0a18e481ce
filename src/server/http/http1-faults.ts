// Refusals of requests before they reach the filters, in the words of Go's net/http: a fault is both the status line and the text.
// A head over a bound is refused as a whole. Node by itself drops the headers past its count, and with them the impersonated user.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../base/index.ts';

/** Header lines of a request. Go has no such bound; without one, 250,000 lines in 1 MiB take 45 ms of the main thread to collect alone. */
export const MAX_HEADERS = 4000;
/** Bytes of a request's head: Go's default. */
export const MAX_HEADER_BYTES = 1024 * 1024;
/** How long a connection that was refused may go on sending; Go's delay. Closed at once, the client may never see the answer. */
const LINGER_MS = 500;

const TOO_LARGE = '431 Request Header Fields Too Large';
const BAD_REQUEST = '400 Bad Request';
const validHost = /^[-!$%&()*+,.:;=@[\]'_~0-9A-Za-z]*$/;

/** The fault of a request's head, if there is one. */
export function findHeadFault({ httpVersionMajor, httpVersionMinor, rawHeaders, headers }: IncomingMessage): string | undefined {
  if (rawHeaders.length > 2 * MAX_HEADERS) return TOO_LARGE;
  if (httpVersionMajor !== 1) return '505 HTTP Version Not Supported: unsupported protocol version';
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return `${BAD_REQUEST}: too many Host headers`;
  if (hosts === 0) return httpVersionMinor === 1 ? `${BAD_REQUEST}: missing required Host header` : undefined;
  return validHost.test(headers.host ?? '') ? undefined : `${BAD_REQUEST}: malformed Host header`;
}

/** The fault that an error of the parser stands for; undefined where the reference closes the connection without a word. */
export function describeParseError({ code, reason }: NodeJS.ErrnoException & { readonly reason?: string }): string | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return TOO_LARGE;
  // Other faults of the version are a line that does not end as it must, or a version that is none.
  if (code === 'HPE_INVALID_VERSION' && reason === 'Invalid HTTP version') return '505 HTTP Version Not Supported: unsupported protocol version';
  if (code === 'HPE_INVALID_TRANSFER_ENCODING' && reason?.includes('has invalid')) return '501 Not Implemented';
  return code?.startsWith('HPE_') ? BAD_REQUEST : undefined;
}

function formatFault(fault: string): string {
  const text = fault.startsWith('501') ? 'Unsupported transfer encoding' : fault;
  return `HTTP/1.1 ${fault}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${text}`;
}

/** Answers with a fault and closes the connection. */
export function refuseConnection(socket: Socket, fault: string, clock: Clock): void {
  if (socket.writable) socket.write(formatFault(fault));
  closeGently(socket, clock);
}

/** Closes a connection whose client may still be sending: what comes in is thrown away until the client ends, for half a second at most. */
export function closeGently(socket: Socket, clock: Clock): void {
  if (socket.destroyed) return;
  socket.removeAllListeners('data');
  // With a listener Node's parser, which reads past the stream of a connection, lets go of it.
  socket.on('data', () => {});
  socket.on('end', () => socket.destroy());
  socket.resume();
  socket.end();
  const timer = clock.after(LINGER_MS, () => socket.destroy());
  socket.on('close', () => timer.cancel());
}
