// The TLS in front of both protocols. It shows the certificate that belongs to the name which a client asks for (or, without a name, to the address
// that it has reached), and takes new certificates and authorities while it runs: for new connections at once, and for open ones as far as the
// certificate of their client is concerned.
import { type Server as NetServer, type Socket, createServer, isIP } from 'node:net';
import { type SecureContext, type Server as TlsServer, type TLSSocket, createSecureContext, createServer as createTlsServer } from 'node:tls';
import { createCertificateCheck, recheckCertificates } from '../tls/client-certificate.ts';
import { type NamedCertificate, type TlsIdentity, createContextOptions, createTlsOptions } from '../tls/tls-options.ts';

/** Peers that have gone without a word are noticed as in Go: silent connections are probed after 15 s. */
const socketOptions = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 } as const;

/** A TLS server whose identity can be replaced. */
export interface TlsFront {
  /** Accepts connections; what it emits for them is the raw socket. */
  readonly server: NetServer;
  use(identity: TlsIdentity): void;
}

interface TlsFrontOptions {
  readonly identity: TlsIdentity;
  /** The connections whose handshake is done. */
  readonly open: Iterable<TLSSocket>;
  readonly onSecure: (socket: TLSSocket) => void;
  readonly onError: (error: NodeJS.ErrnoException, socket: Socket) => void;
}

/** Certificates by the names that clients ask for; earlier ones win. */
class NamedContexts {
  readonly #contexts = new Map<string, SecureContext>();

  constructor(identity: TlsIdentity) {
    for (const one of identity.named ?? []) {
      const context = createSecureContext(createContextOptions(identity, one));
      for (const name of one.names) if (!this.#contexts.has(name)) this.#contexts.set(name, context);
    }
  }

  /** The context of a name, or of the pattern that replaces its first label; undefined for the one of the server. */
  find(serverName: string): SecureContext | undefined {
    const name = serverName.toLowerCase().replace(/\.$/, '');
    const dot = name.indexOf('.');
    return this.#contexts.get(name) ?? this.#contexts.get(dot === -1 ? '*' : `*${name.slice(dot)}`);
  }
}

/** The address as it is written in a flag. */
const plainAddress = (address = ''): string => address.replace(/^::ffff:/, '');

/** Makes one; accepts nothing until its server listens. */
export function createTlsFront({ identity: first, open, onSecure, onError }: TlsFrontOptions): TlsFront {
  let contexts = new NamedContexts(first);
  let checkCertificate = createCertificateCheck(first.clientAuthorities, first.proxyAuthorities ?? []);
  const make = (identity: TlsIdentity, serving?: NamedCertificate): TlsServer => {
    const SNICallback = (name: string, done: (error: Error | null, context?: SecureContext) => void): void => done(null, contexts.find(name));
    const server = createTlsServer({ ...createTlsOptions(identity, serving), SNICallback });
    server.on('secureConnection', (socket: TLSSocket) => {
      checkCertificate(socket);
      onSecure(socket);
    });
    server.on('tlsClientError', onError);
    return server;
  };
  const main = make(first);
  const listByAddress = (identity: TlsIdentity): Map<string, TlsServer> => new Map([...identity.named ?? []].reverse().flatMap((one) =>
    one.names.filter((name) => isIP(name) !== 0).map((name) => [name, make(identity, one)] as const)));
  let byAddress = listByAddress(first);
  return {
    server: createServer(socketOptions, (socket) => void (byAddress.get(plainAddress(socket.localAddress)) ?? main).emit('connection', socket)),
    use(identity) {
      const { clientAuthorities, proxyAuthorities = [] } = identity;
      const next = new NamedContexts(identity);
      main.setSecureContext(createContextOptions(identity));
      contexts = next;
      byAddress = listByAddress(identity);
      checkCertificate = createCertificateCheck(clientAuthorities, proxyAuthorities);
      recheckCertificates(open, clientAuthorities, proxyAuthorities);
    },
  };
}
