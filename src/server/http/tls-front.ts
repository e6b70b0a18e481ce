// The TLS in front of both protocols. It shows the certificate that belongs to the name which a client asks for (or, without a name, to the address
// that it has reached), and takes new certificates and authorities while it runs: for new connections at once, and for open ones as far as the
// certificate of their client is concerned.
import { X509Certificate } from 'node:crypto';
import { type Server as NetServer, type Socket, createServer } from 'node:net';
import { type Server as TlsServer, type TLSSocket, createServer as createTlsServer } from 'node:tls';
import { type Clock, Deadlines, once } from '../../base/index.ts';
import { createCertificateCheck, recheckCertificates } from '../tls/client-certificate.ts';
import { type NamedCertificate, type TlsIdentity, createContextOptions, createTlsOptions } from '../tls/tls-options.ts';
import { awaitServerName } from '../tls/server-name.ts';
import { HandshakeTurns, type RequestIntake, SocketReads } from './turns.ts';

/** Peers that have gone without a word are noticed as in Go: silent connections are probed after 15 s. */
export const acceptedSockets = { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000 } as const;

/** A TLS server whose identity can be replaced. */
export interface TlsFront {
  /** Accepts connections; what it emits for them is the raw socket. */
  readonly server: NetServer;
  use(identity: TlsIdentity): void;
}

interface TlsFrontOptions {
  readonly identity: TlsIdentity;
  readonly clock: Clock;
  /** The connections whose handshake is done. */
  readonly open: Iterable<TLSSocket>;
  /** Which connections are read in a turn once they are secure. */
  readonly intake: Pick<RequestIntake, 'onFull'>;
  readonly onSecure: (socket: TLSSocket) => void;
  readonly onError: (error: NodeJS.ErrnoException, socket: Socket) => void;
}

/** TLS servers by the names that clients ask for; earlier ones win. A name that none has been given is served by the first certificate that has it. */
class NamedServers {
  readonly #servers = new Map<string, TlsServer>();
  /** The certificates, the main one first; its server is undefined. */
  readonly #certificates: readonly { readonly certificate: X509Certificate; readonly server: TlsServer | undefined }[];

  constructor({ certificate, named = [] }: TlsIdentity, make: (one: NamedCertificate) => TlsServer) {
    const others = named.map((one) => {
      const server = make(one);
      for (const name of one.names) if (!this.#servers.has(name)) this.#servers.set(name, server);
      return { certificate: new X509Certificate(one.certificate), server };
    });
    this.#certificates = others.length === 0 ? [] : [{ certificate: new X509Certificate(certificate), server: undefined }, ...others];
  }

  get isEmpty(): boolean {
    return this.#servers.size === 0;
  }

  /** The server of a name, or of the pattern that replaces its first label; undefined for the main one. */
  find(serverName: string): TlsServer | undefined {
    const name = serverName.toLowerCase().replace(/\.$/, '');
    const dot = name.indexOf('.');
    return this.#servers.get(name) ?? this.#servers.get(dot === -1 ? '*' : `*${name.slice(dot)}`)
      ?? this.#certificates.find(({ certificate }) => certificate.checkHost(name, { subject: 'never' }) !== undefined)?.server;
  }
}

/** A handshake that takes longer ends its connection. */
const HANDSHAKE_MS = 10_000;

/** The connections whose handshake is not done, each of which is read in its turn. */
class Handshakes {
  readonly #turns = new HandshakeTurns();
  readonly #deadlines: Deadlines;
  /** What ends the wait for a handshake. */
  readonly #leave = new WeakMap<Socket, () => void>();

  constructor(clock: Clock, intake: Pick<RequestIntake, 'onFull'>) {
    this.#deadlines = new Deadlines(clock, HANDSHAKE_MS);
    intake.onFull(() => this.#turns.rest());
  }

  begin(socket: Socket): void {
    const reads = new SocketReads(socket);
    // Node's own timers of connections that began together would all come in one turn.
    const deadline = this.#deadlines.add(() => void socket.destroy());
    const leave = (): void => {
      this.#leave.delete(socket);
      this.#deadlines.remove(deadline);
      this.#turns.remove(reads);
    };
    this.#leave.set(socket, leave);
    socket.on('close', leave);
    // TLS begins to read in a tick of its own, which it asks for after this.
    process.nextTick(() => process.nextTick(() => this.#turns.add(reads)));
  }

  /** Node keeps the connection below a secure one at `_parent`. */
  end(secure: TLSSocket): void {
    this.#leave.get((secure as unknown as { readonly _parent: Socket })._parent)?.();
  }
}

/** The address as it is written in a flag. */
const plainAddress = (address = ''): string => address.replace(/^::ffff:/, '');

/**
 * Makes one; accepts nothing until its server listens. Each certificate has a TLS server of its own: Node's SNICallback adds a certificate to the one of
 * the server instead of replacing it, and where one is RSA and the other is not, the client gets whichever it prefers.
 */
export function createTlsFront({ identity: first, clock, open, intake, onSecure, onError }: TlsFrontOptions): TlsFront {
  let checkCertificate = createCertificateCheck(first.clientAuthorities, first.proxyAuthorities ?? [], clock);
  const handshakes = new Handshakes(clock, intake);
  const make = (identity: TlsIdentity, serving?: NamedCertificate): TlsServer => {
    const server = createTlsServer(createTlsOptions(identity, serving));
    server.on('secureConnection', (socket: TLSSocket) => {
      handshakes.end(socket);
      checkCertificate(socket);
      onSecure(socket);
    });
    server.on('tlsClientError', onError);
    return server;
  };
  let current = first;
  // A context takes a millisecond, which a server without connections need not spend; what is wrong with files is found at once.
  const main = once(() => make(current));
  if (first.isMade !== true) main();
  const nameServers = (identity: TlsIdentity): NamedServers => new NamedServers(identity, (one) => make(identity, one));
  let named = nameServers(first);
  const accept = (socket: Socket): void => {
    // A client that reaches an address asks for no name: the address stands for it.
    const address = plainAddress(socket.localAddress);
    handshakes.begin(socket);
    if (named.isEmpty) main().emit('connection', socket);
    else awaitServerName(socket, clock, (name) => (named.find(name === '' ? address : name) ?? main()).emit('connection', socket));
  };
  return {
    server: createServer(acceptedSockets, accept),
    use(identity) {
      const { clientAuthorities, proxyAuthorities = [] } = identity;
      const next = nameServers(identity);
      current = identity;
      main().setSecureContext(createContextOptions(identity));
      named = next;
      checkCertificate = createCertificateCheck(clientAuthorities, proxyAuthorities, clock);
      recheckCertificates(open, clientAuthorities, proxyAuthorities);
    },
  };
}
