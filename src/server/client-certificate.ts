// What a client certificate says: common name and organizations. Read once per connection.
import { type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Exchange } from '../endpoints/index.ts';

const known = new WeakMap<Socket, NonNullable<Exchange['clientCertificate']> | 'none'>();

/** The certificate that the client of this connection showed; `authorized` when it chains to a client authority and is for clients. */
export function describeCertificate(socket: Socket): Exchange['clientCertificate'] {
  const before = known.get(socket);
  if (before !== undefined) return before === 'none' ? undefined : before;
  const described = socket instanceof TLSSocket ? readCertificate(socket) : undefined;
  known.set(socket, described ?? 'none');
  return described;
}

function readCertificate(socket: TLSSocket): Exchange['clientCertificate'] {
  const peer = socket.getPeerCertificate();
  if (peer === null || peer === undefined || peer.raw === undefined) return undefined;
  const subject = (peer.subject ?? {}) as unknown as Record<string, string | string[] | undefined>;
  const list = (value: string | string[] | undefined): string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);
  const names = list(subject['CN']);
  return { raw: peer.raw, commonName: names[names.length - 1] ?? '', organizations: list(subject['O']), authorized: socket.authorized };
}
