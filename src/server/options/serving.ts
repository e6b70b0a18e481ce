// Options of the port: addresses, certificates, limits of requests, the end of a server.
import { isIP } from 'node:net';
import { parseIpAddress, parseIpRange, quoteGo } from '../../apimachinery/index.ts';
import { checkCurves, cipherSuiteNames, curveNumbers } from '../tls/tls-options.ts';
import { DESCRIBE_NAMED_PAIR, parseNamedPair } from '../tls/named-pair.ts';
import { type SettingsOf, checks, duration, fraction, integer, list, text, texts, toggle, value, words } from './schema.ts';

const checkAddress = (flag: string) => (address: string): string | undefined =>
  (isIP(address) === 0 ? `invalid argument ${quoteGo(address)} for "--${flag}" flag: failed to parse IP: ${quoteGo(address)}` : undefined);

/** What follows `max-age=` is sent as it is, so it must be what a header can hold. */
function checkDirectives(directives: readonly string[]): string | undefined {
  if (directives.some((directive) => directive.trim() === '')) return 'empty value in strict-transport-security-directives';
  const isKnown = (directive: string): boolean => /^(?:max-age=[ -<>-~]*|includeSubDomains|preload)$/.test(directive);
  return directives.every(isKnown) ? undefined : 'invalid, allowed values: max-age=expireTime, includeSubDomains, preload';
}

/** The reference's bound: every fiftieth request may end a connection. */
const MAX_GOAWAY_CHANCE = 0.02;
const checkChance = (chance: number): string | undefined =>
  (chance >= 0 && chance <= MAX_GOAWAY_CHANCE ? undefined : `can not be less than 0 or greater than ${MAX_GOAWAY_CHANCE}`);

/** Where and how a server answers. */
export const servingOptions = {
  securePort: integer({ flag: 'secure-port', default: 0, flagDefault: '6443', check: checks.port, help: 'Port to serve HTTPS on; 0 picks a free one.' }),
  bindAddress: text({ flag: 'bind-address', default: '127.0.0.1', check: checkAddress('bind-address'), help: 'Address to listen on.' }),
  advertiseAddress: text({
    flag: 'advertise-address', check: (address) => (address === '' ? undefined : checkAddress('advertise-address')(address)),
    help: 'Address that the kubernetes Service leads to; by default the bind address.',
  }),
  endpointReconcilerType: text({
    flag: 'endpoint-reconciler-type', default: 'lease', check: checks.oneOf('lease', 'master-count', 'none'),
    help: 'lease: the endpoints of the kubernetes Service lead to the servers of this store. master-count: the same. none: they are left to others.',
  }),
  tls: value(true, 'false: plain HTTP/1.1, for tests behind a proxy that encrypts.'),
  dataDir: text({ flag: 'data-dir', flagDefault: './.pintle', help: 'Directory of everything durable. In the library the default is memory.' }),
  certDir: text({ flag: 'cert-dir', help: 'Directory of the generated certificates and keys; by default pki in the data directory.' }),
  tlsCertFile: text({ flag: 'tls-cert-file', help: 'Serving certificate (PEM); by default one is generated.' }),
  tlsPrivateKeyFile: text({ flag: 'tls-private-key-file', help: 'Private key of the serving certificate.' }),
  tlsSniCertKeys: texts({
    flag: 'tls-sni-cert-key', check: (all) => (all.every((one) => parseNamedPair(one) !== undefined) ? undefined : DESCRIBE_NAMED_PAIR),
    help: 'Certificate and key for clients that ask for a name: certificate,key[:name,name]. The names are those of the certificate unless given.',
  }),
  tlsMinVersion: text({
    flag: 'tls-min-version', default: 'VersionTLS12', check: checks.oneOf('VersionTLS12', 'VersionTLS13'), help: 'Oldest version of TLS that is spoken.',
  }),
  tlsCipherSuites: list({
    flag: 'tls-cipher-suites', check: checks.eachOneOf(...cipherSuiteNames),
    help: 'Suites for TLS 1.2 by their names in Go; those of TLS 1.3 are always there.',
  }),
  strictTransportSecurityDirectives: list({
    flag: 'strict-transport-security-directives', check: checkDirectives,
    help: 'Strict-Transport-Security of all answers: max-age=N,includeSubDomains,preload.',
  }),
  corsAllowedOrigins: list({
    flag: 'cors-allowed-origins', help: 'Patterns of the origins whose pages may read answers (CORS), such as ^https://example\\.com(:|$); none by default.',
  }),
  goawayChance: fraction({
    flag: 'goaway-chance', default: 0, check: checkChance,
    help: 'Chance that an HTTP/2 connection takes no further requests after one, so that clients spread over several servers.',
  }),
  requestTimeoutMs: duration({
    flag: 'request-timeout', default: 60_000, flagDefault: '60s', check: checks.aboveZero, help: 'Longest that a request may take; watches are exempt.',
  }),
  minRequestTimeoutSeconds: integer({
    flag: 'min-request-timeout', default: 1800, check: checks.notNegative, help: 'Shortest life in seconds of a watch that names no timeout.',
  }),
  maxRequestsInflight: integer({
    flag: 'max-requests-inflight', default: 400, check: checks.notNegative, help: 'Reads in progress above which callers get 429; 0: no limit.',
  }),
  maxMutatingRequestsInflight: integer({
    flag: 'max-mutating-requests-inflight', default: 200, check: checks.notNegative, help: 'Writes in progress above which callers get 429; 0: no limit.',
  }),
  enablePriorityAndFairness: toggle({
    flag: 'enable-priority-and-fairness', default: true, help: 'Divide the sum of both limits among priority levels, as FlowSchemas say.',
  }),
  disableHttp2Serving: toggle({ flag: 'disable-http2-serving', default: false, help: 'Speak HTTP/1.1 only.' }),
  externalHostname: text({ flag: 'external-hostname', help: 'Host in the URL of the keys of tokens; by default the address that is listened on.' }),
  tlsCurvePreferences: words({
    flag: 'tls-curve-preferences', check: (given) => checks.eachOneOf(...curveNumbers)(given) ?? checkCurves(given),
    help: `Key exchanges of TLS by their numbers in Go: ${curveNumbers.join(', ')}.`,
  }),
  http2MaxStreamsPerConnection: integer({
    flag: 'http2-max-streams-per-connection', default: 100, check: checks.notNegative, help: 'Streams on one HTTP/2 connection.',
  }),
  tracingConfigFile: text({
    flag: 'tracing-config-file', help: 'TracingConfiguration (YAML): where spans of requests are sent by OpenTelemetry\'s protocol, and of how many.',
  }),
  console: toggle({
    flag: 'console', default: false, flagDefault: 'true',
    help: 'Serve the console, a page for browsers, at /console/. Where --bind-address is not of this machine alone, it is off unless asked for.',
  }),
  profiling: toggle({
    flag: 'profiling', default: true, help: 'Serve profiles of V8 at /debug/pprof, the verbosity of the log at /debug/flags/v, and the state of flow control.',
  }),
  shutdownDelayMs: duration({
    flag: 'shutdown-delay-duration', default: 0, flagDefault: '0s', check: checks.notNegative, help: 'Time between failing /readyz and closing the port.',
  }),
  shutdownSendRetryAfter: toggle({
    flag: 'shutdown-send-retry-after', default: false,
    help: 'After the delay, answer new requests with 429 and Retry-After until those in progress are finished, and close the port then.',
  }),
  shutdownWatchGraceMs: duration({
    flag: 'shutdown-watch-termination-grace-period', default: 0, flagDefault: '0s', check: checks.notNegative,
    help: 'Time over which watches end, one after the other, when the server stops; 0s ends them at once.',
  }),
  livezGraceMs: duration({
    flag: 'livez-grace-period', default: 0, flagDefault: '0s', check: checks.notNegative,
    help: 'Time that a start may take until /livez fails for what is not finished.',
  }),
  shutdownGraceMs: duration({
    flag: 'shutdown-grace', default: 10_000, flagDefault: '10s', help: 'How long requests in progress may take to finish when the server stops.',
  }),
} as const;

const isUnspecified = (address: string): boolean => parseIpAddress(address)?.value === 0n;

/** Whether an address is of this machine alone. */
export const isOwnMachine = (address: string): boolean => address === '::1' || address.startsWith('127.');

/** The address that the kubernetes Service leads to; '' where that is none that others reach. */
function findPublicAddress({ advertiseAddress, bindAddress, endpointReconcilerType }: SettingsOf<typeof servingOptions>): string {
  if (endpointReconcilerType === 'none') return '';
  if (advertiseAddress !== '' && !isUnspecified(advertiseAddress)) return advertiseAddress;
  return isUnspecified(bindAddress) || isOwnMachine(bindAddress) ? '' : bindAddress;
}

/** Reports options of the port that do not fit each other, in the reference's words. */
export function findServingConflicts(options: SettingsOf<typeof servingOptions> & { readonly serviceClusterIpRange: string }): readonly string[] {
  const { enablePriorityAndFairness, maxRequestsInflight: reads, maxMutatingRequestsInflight: writes } = options;
  const [range = ''] = options.serviceClusterIpRange.split(',');
  const address = parseIpAddress(findPublicAddress(options));
  const rules: readonly (readonly [isBroken: boolean, message: string])[] = [
    [
      enablePriorityAndFairness && reads + writes === 0,
      'invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive',
    ],
    [
      address !== undefined && address.family !== parseIpRange(range)?.family,
      `service IP family ${quoteGo(range)} must match public address family ${quoteGo(findPublicAddress(options))}`,
    ],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, message]) => message);
}
