// How TLS is spoken: the versions and suites of Go's defaults without those in CBC mode, no renegotiation, client certificates asked for.
import { constants } from 'node:crypto';
import type { TlsOptions } from 'node:tls';

/** The certificates of a port and the authorities that it trusts, as PEM texts. */
export interface TlsIdentity {
  readonly certificate: string;
  readonly key: string;
  /** Verify client certificates, which no client has to show. */
  readonly clientAuthorities: readonly string[];
  /** Authorities of front proxies; their certificates stand for no client. */
  readonly proxyAuthorities?: readonly string[];
}

const HANDSHAKE_TIMEOUT_MS = 10_000;

const suites = [
  'TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES256-GCM-SHA384', 'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305', 'ECDHE-RSA-CHACHA20-POLY1305',
];

/** The options of a TLS server that speaks HTTP/2 and HTTP/1.1. */
export function createTlsOptions({ certificate, key, clientAuthorities, proxyAuthorities = [] }: TlsIdentity): TlsOptions & { noDelay: boolean } {
  return {
    cert: certificate, key,
    ...(clientAuthorities.length > 0 && { ca: [...clientAuthorities, ...proxyAuthorities] }),
    requestCert: true,
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    ciphers: suites.join(':'),
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    noDelay: true,
  };
}
