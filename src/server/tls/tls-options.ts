// How TLS is spoken: the versions and suites of Go's defaults without those in CBC mode, no renegotiation, client certificates asked for.
import { constants } from 'node:crypto';
import type { SecureContextOptions, TlsOptions } from 'node:tls';

/** A certificate for clients that ask for one of its names. */
export interface NamedCertificate {
  /** Lower-case names; `*.` stands for one label. */
  readonly names: readonly string[];
  readonly certificate: string;
  readonly key: string;
}

/** The certificates of a port and the authorities that it trusts, as PEM texts. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
  /** This program made the pair: nothing can be wrong with it. */
  readonly isMade?: boolean;
  /** Certificates by name; the first that has a name wins. */
  readonly named?: readonly NamedCertificate[];
  /** Verify client certificates, which no client has to show. */
  readonly clientAuthorities: readonly string[];
  /** Authorities of front proxies; their certificates stand for no client. */
  readonly proxyAuthorities?: readonly string[];
  /** As flags name them: the oldest version, and the suites of TLS 1.2; empty for the defaults. */
  readonly minVersion?: string;
  readonly cipherSuites?: readonly string[];
  /** Numbers of key exchanges; empty for the defaults. */
  readonly curves?: readonly string[];
  readonly disablesHttp2?: boolean;
}


/** Suites of TLS 1.3, which Go always offers. */
const newestSuites = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
const defaultSuites = [
  'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305',
];

/** Suites by their names in Go, as OpenSSL names them. */
const suites: ReadonlyMap<string, string> = new Map([
  ...newestSuites.map((name): [string, string] => [name, name]),
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'], ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'], ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305', 'ECDHE-ECDSA-CHACHA20-POLY1305'], ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'ECDHE-ECDSA-AES128-SHA'], ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA', 'ECDHE-RSA-AES128-SHA'],
  ['TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA', 'ECDHE-ECDSA-AES256-SHA'], ['TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA', 'ECDHE-RSA-AES256-SHA'],
  // Go takes these where they are asked for, and so does this server.
  ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256', 'ECDHE-ECDSA-AES128-SHA256'], ['TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256', 'ECDHE-RSA-AES128-SHA256'],
  ['TLS_RSA_WITH_AES_128_GCM_SHA256', 'AES128-GCM-SHA256'], ['TLS_RSA_WITH_AES_256_GCM_SHA384', 'AES256-GCM-SHA384'],
  ['TLS_RSA_WITH_AES_128_CBC_SHA256', 'AES128-SHA256'], ['TLS_RSA_WITH_AES_128_CBC_SHA', 'AES128-SHA'], ['TLS_RSA_WITH_AES_256_CBC_SHA', 'AES256-SHA'],
]);

/** Names that `--tls-cipher-suites` takes. */
export const cipherSuiteNames: readonly string[] = [...suites.keys()];

/** X25519MLKEM768. */
const HYBRID = '4588';

/** Key exchanges by their numbers in Go. */
const curveNames: ReadonlyMap<string, string> =
  new Map([['23', 'P-256'], ['24', 'P-384'], ['25', 'P-521'], ['29', 'X25519'], [HYBRID, 'X25519MLKEM768']]);

/** The numbers that cannot be offered: X25519MLKEM768 comes with OpenSSL 3.5, which Node 24 has. */
export function listMissingCurves(numbers: readonly string[], openssl: string = process.versions.openssl): string[] {
  const [major = 0, minor = 0] = openssl.split('.').map(Number);
  return major > 3 || (major === 3 && minor >= 5) ? [] : numbers.filter((number) => number === HYBRID);
}

/** Describes the problem of a choice of which nothing can be offered. */
export const checkCurves = (numbers: readonly string[]): string | undefined =>
  (numbers.length > 0 && listMissingCurves(numbers).length === numbers.length ? `${numbers.join(',')} needs OpenSSL 3.5` : undefined);

/** Numbers that `--tls-curve-preferences` takes. */
export const curveNumbers: readonly string[] = [...curveNames.keys()];

const listSuites = (names: readonly string[]): string =>
  [...new Set([...newestSuites, ...(names.length === 0 ? defaultSuites : names.map((name) => suites.get(name) ?? name))])].join(':');

/** What connections are made with: a certificate, the authorities of clients, versions and suites. */
export function createContextOptions(identity: TlsIdentity, { certificate, key }: Pick<TlsIdentity, 'certificate' | 'key'> = identity): SecureContextOptions {
  const { clientAuthorities, proxyAuthorities = [], minVersion, cipherSuites = [], curves = [] } = identity;
  const missing = listMissingCurves(curves);
  const offered = curves.filter((number) => !missing.includes(number));
  return {
    cert: certificate, key,
    ...(curves.length > 0 && { ecdhCurve: offered.map((number) => curveNames.get(number)).join(':') }),
    // As in Go, each authority is trusted by itself: it may stand below another.
    ...(clientAuthorities.length > 0 && { ca: [...clientAuthorities, ...proxyAuthorities], allowPartialTrustChain: true }),
    minVersion: minVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    ciphers: listSuites(cipherSuites),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
}

/** The options of a TLS server that speaks HTTP/2 and HTTP/1.1. */
export function createTlsOptions(identity: TlsIdentity, serving: Pick<TlsIdentity, 'certificate' | 'key'> = identity): TlsOptions & { noDelay: boolean } {
  return {
    ...createContextOptions(identity, serving),
    requestCert: true,
    rejectUnauthorized: false,
    ALPNProtocols: identity.disablesHttp2 === true ? ['http/1.1'] : ['h2', 'http/1.1'],
    noDelay: true,
  };
}
