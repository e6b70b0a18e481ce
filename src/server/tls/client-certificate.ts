// What a client certificate says: common name, organizations and uid, and whose certificate it is. Read once per connection.
import { X509Certificate, createHash } from 'node:crypto';
import { type Socket } from 'node:net';
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls';
import { parseCertificate } from '../../apimachinery/index.ts';
import type { ClientCertificate } from '../../auth/index.ts';
import { type Clock, once } from '../../base/index.ts';

const known = new WeakMap<Socket, ClientCertificate | 'none'>();
/** Attribute of a subject that holds the uid. */
const UID_OID = '1.3.6.1.4.1.57683.2';

/** The certificate that the client of this connection showed; `authorized` when it chains to a client authority and is for clients. */
export function describeCertificate(socket: Socket): ClientCertificate | undefined {
  const before = known.get(socket);
  if (before !== undefined) return before === 'none' ? undefined : before;
  const described = socket instanceof TLSSocket ? readCertificate(socket) : undefined;
  known.set(socket, described ?? 'none');
  return described;
}

/** Finds out about open connections again, once there are other authorities: a certificate whose authority is gone stands for no user. */
export function recheckCertificates(sockets: Iterable<TLSSocket>, clients: readonly string[], proxies: readonly string[]): void {
  const [clientAuthorities, proxyAuthorities] = [parseAuthorities(clients), parseAuthorities(proxies)];
  for (const socket of sockets) {
    const described = describeCertificate(socket);
    if (described === undefined || (!described.authorized && described.frontProxy !== true)) continue;
    known.set(socket, { ...described, ...classify(readChain(socket.getPeerCertificate(true)), clientAuthorities, proxyAuthorities) });
  }
}

const classify = (chain: readonly X509Certificate[], clients: readonly X509Certificate[], proxies: readonly X509Certificate[]) =>
  ({ authorized: leadsTo(chain, clients), frontProxy: leadsTo(chain, proxies) });

/**
 * Makes a check that is shown every new connection. TLS has verified the chain against all authorities together; where there are authorities of
 * front proxies, the check finds out by signatures which kind of authority it leads to. A certificate that TLS finds not yet valid is looked at again.
 */
export function createCertificateCheck(clients: readonly string[], proxies: readonly string[], clock: Clock): (socket: TLSSocket) => void {
  const authorities = once(() => [parseAuthorities(clients), parseAuthorities(proxies)] as const);
  return (socket) => {
    const isEarly = isNotYetValid(socket);
    if (proxies.length === 0 && !isEarly) return;
    const described = readCertificate(socket);
    if (described === undefined) return;
    const [clientAuthorities, proxyAuthorities] = authorities();
    if (!isEarly) {
      const chain = described.authorized ? readChain(socket.getPeerCertificate(true)) : [];
      known.set(socket, { ...described, ...classify(chain, clientAuthorities, proxyAuthorities) });
      return;
    }
    const leaf = new X509Certificate(socket.getPeerCertificate().raw);
    const moment: Moment = { nowMs: clock.now(), uses: clientUses };
    const isIssued = (by: readonly X509Certificate[]): boolean => by.some((authority) => isIssuedNow(leaf, authority, moment));
    known.set(socket, { ...described, authorized: isIssued(clientAuthorities), frontProxy: isIssued(proxyAuthorities) });
  };
}

/** The error is a code, not the Error that Node's types have. */
const isNotYetValid = (socket: TLSSocket): boolean => (socket.authorizationError as unknown) === 'CERT_NOT_YET_VALID';

const clientUses = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];
const serverUses = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];
/** Uses of the key, other names, basic constraints, identifiers of keys: extensions beside these could hold what only TLS understands. */
const plainExtensions = ['2.5.29.14', '2.5.29.15', '2.5.29.17', '2.5.29.19', '2.5.29.35', '2.5.29.37'];

interface Moment {
  readonly nowMs: number;
  /** Uses of a key of which one must be its. */
  readonly uses: readonly string[];
}

/**
 * Whether an authority itself has issued a certificate that is valid at this moment. OpenSSL reads a clock that moves every few milliseconds, so
 * that it refuses a certificate which was made in the first ones of a second and is shown at once; Go, and so kube-apiserver, takes it.
 */
function isIssuedNow(leaf: X509Certificate, authority: X509Certificate, { nowMs, uses }: Moment): boolean {
  const isPlain = (one: X509Certificate): boolean => {
    const parsed = parseCertificate(one.raw);
    if (parsed === undefined || nowMs < parsed.notBeforeMs || nowMs > parsed.notAfterMs) return false;
    return parsed.extensions.every((oid) => plainExtensions.includes(oid));
  };
  // Node calls the extended uses of a key its uses.
  const isForUse = (): boolean => leaf.keyUsage === undefined || leaf.keyUsage.some((use) => uses.includes(use));
  // Signatures come first: what strangers show is not read, of which there may be 100 KB for each authority.
  return authority.ca && leadsTo([leaf], [authority]) && isForUse() && isPlain(leaf) && isPlain(authority);
}

/** Whether one of these authorities itself has issued a server's certificate that is valid at this moment. */
export const isServerIssuedNow = (leaf: X509Certificate, authorities: readonly X509Certificate[], nowMs: number): boolean =>
  authorities.some((authority) => isIssuedNow(leaf, authority, { nowMs, uses: serverUses }));

/** The certificates of PEM texts. */
export function parseAuthorities(texts: readonly string[]): X509Certificate[] {
  return texts.flatMap((text) => text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? []).map((pem) => new X509Certificate(pem));
}

const MAX_CHAIN = 8;

/** From the client's certificate upwards, as far as TLS knows it. */
function readChain(leaf: DetailedPeerCertificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const seen = new Set<string>();
  for (let at: DetailedPeerCertificate | undefined = leaf; at?.raw !== undefined && chain.length < MAX_CHAIN; at = at.issuerCertificate) {
    if (seen.has(at.fingerprint256)) break;
    seen.add(at.fingerprint256);
    chain.push(new X509Certificate(at.raw));
  }
  return chain;
}

function leadsTo(chain: readonly X509Certificate[], authorities: readonly X509Certificate[]): boolean {
  const signs = (authority: X509Certificate, one: X509Certificate) => one.checkIssued(authority) && one.verify(authority.publicKey);
  for (const [index, certificate] of chain.entries()) {
    if (authorities.some((authority) => signs(authority, certificate))) return true;
    const above = chain[index + 1];
    if (above === undefined || !above.ca || !signs(above, certificate)) return false;
  }
  return false;
}

function readCertificate(socket: TLSSocket): ClientCertificate | undefined {
  const peer = socket.getPeerCertificate();
  if (peer === null || peer === undefined || peer.raw === undefined) return undefined;
  const subject = (peer.subject ?? {}) as unknown as Record<string, string | string[] | undefined>;
  const list = (value: string | string[] | undefined): string[] => (value === undefined ? [] : Array.isArray(value) ? value : [value]);
  const names = list(subject['CN']);
  const [uid] = list(subject[UID_OID]);
  return {
    commonName: names[names.length - 1] ?? '', organizations: list(subject['O']), authorized: socket.authorized,
    fingerprint: createHash('sha256').update(peer.raw).digest('hex'), expiresMs: Date.parse(peer.valid_to), ...(uid !== undefined && { uid }),
  };
}
