// Failures of calls to webhooks as Go's HTTP client and client-go word them: connections, TLS, answers that are no success.
import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';
import { parseJson } from '../../codec/index.ts';

/** Text of an answer that is shown at most. */
const MAX_SHOWN_BYTES = 2048;

const untrusted: ReadonlySet<string> = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'CERT_UNTRUSTED', 'CERT_SIGNATURE_FAILURE',
]);

const systemTexts: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused', EHOSTUNREACH: 'no route to host', ENETUNREACH: 'network is unreachable', ETIMEDOUT: 'connection timed out',
  EADDRNOTAVAIL: 'cannot assign requested address', ECONNRESET: 'connection reset by peer',
};

interface NodeFailure extends Error {
  readonly code?: string;
  readonly syscall?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
  readonly host?: string;
  readonly cert?: PeerCertificate;
}

/** The certificate of a name that is not in it. */
function describeNames({ host = '', cert }: NodeFailure): string {
  const names = (cert?.subjectaltname ?? '').split(', ').filter((name) => name !== '');
  const ofSort = (prefix: string): string[] => names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
  if (isIP(host) !== 0) {
    const addresses = ofSort('IP Address:');
    return addresses.length === 0 ? `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
      : `x509: certificate is valid for ${addresses.join(', ')}, not ${host}`;
  }
  const hosts = ofSort('DNS:');
  if (hosts.length > 0) return `x509: certificate is valid for ${hosts.join(', ')}, not ${host}`;
  return `x509: certificate is not valid for any names, but wanted to match ${host}`;
}

const describeAddress = ({ address = '', port = 0 }: NodeFailure): string => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);

function describeTls(failure: NodeFailure): string | undefined {
  const { code = '', message } = failure;
  const prefix = 'tls: failed to verify certificate';
  if (untrusted.has(code)) return `${prefix}: x509: certificate signed by unknown authority`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${prefix}: ${describeNames(failure)}`;
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') return `${prefix}: x509: certificate has expired or is not yet valid`;
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || (code === 'EPROTO' && message.includes('wrong version number'))) {
    return 'http: server gave HTTP response to HTTPS client';
  }
  return undefined;
}

/** Why a connection failed. */
export function describeConnection(error: Error): string {
  // Several addresses were tried: the reference shows the first.
  const failure = (error instanceof AggregateError ? error.errors[0] : error) as NodeFailure;
  const { code = '', syscall, hostname, name } = failure;
  if (name === 'AbortError' || name === 'TimeoutError') return 'context deadline exceeded';
  if (syscall === 'getaddrinfo') return `dial tcp: lookup ${hostname ?? ''}: ${code === 'ENOTFOUND' ? 'no such host' : 'server misbehaving'}`;
  const system = systemTexts[code];
  if (syscall === 'connect' && system !== undefined) return `dial tcp ${describeAddress(failure)}: connect: ${system}`;
  // A server that closes the connection instead of answering.
  if (code === 'ECONNRESET') return 'EOF';
  return describeTls(failure) ?? failure.message;
}

const byCode: Readonly<Record<number, string>> = {
  400: 'the server rejected our request for an unknown reason', 401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource', 405: 'the server does not allow this method on the requested resource',
  409: 'the server reported a conflict', 422: 'the server rejected our request due to an error in our request',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};

/** An answer that is no success. */
interface FailedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

function readStatus(body: Buffer): { readonly message: string; readonly code: number | undefined } | undefined {
  try {
    const { kind, status, message, code } = parseJson(body).value as { kind?: unknown; status?: unknown; message?: unknown; code?: unknown };
    if ((kind !== undefined && kind !== 'Status') || status !== 'Failure') return undefined;
    return { message: typeof message === 'string' ? message : '', code: typeof code === 'number' ? code : undefined };
  } catch {
    // A body that is no JSON is no Status.
    return undefined;
  }
}

/** What an answer that is no success means: a Status that it brings, or else client-go's words for its code. */
export function describeAnswer({ status, contentType, body }: FailedAnswer): { readonly message: string; readonly code: number } {
  const sent = readStatus(body);
  if (sent !== undefined) return { message: sent.message, code: sent.code ?? status };
  const isText = contentType === '' || contentType.startsWith('text/');
  const text = isText ? body.subarray(0, MAX_SHOWN_BYTES).toString('utf8').trim() : 'unknown';
  const known = byCode[status];
  if (known !== undefined) return { message: known, code: status };
  if (status === 403 || status === 415) return { message: text, code: status };
  if (status === 406) {
    const why = 'the server was unable to respond with a content type that the client supports';
    return { message: text === '' || text === 'unknown' ? why : text, code: status };
  }
  if (status >= 500) return { message: `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`, code: status };
  return { message: `the server responded with the status code ${status} but did not return more information`, code: status };
}
