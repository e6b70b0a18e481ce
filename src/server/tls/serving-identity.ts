// The certificates that a port shows, as their files say it at the moment: the serving certificate, and those of --tls-sni-cert-key by name.
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { checkDnsSubdomain } from '../../apimachinery/index.ts';
import { type Current, type KeyPairTexts, readKeyPair } from '../config-files/followed-files.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import type { Authorities } from './authorities.ts';
import { DESCRIBE_NAMED_PAIR, parseNamedPair } from './named-pair.ts';
import type { Pki } from './pki.ts';
import type { NamedCertificate, TlsIdentity } from './tls-options.ts';

/** What a port is served with. */
export interface ServingIdentity {
  readonly current: TlsIdentity;
  /** Calls back after each change. */
  onChange(callback: () => void): void;
  stop(): void;
}

const SNI_FLAG = '--tls-sni-cert-key';

interface IdentityParts {
  readonly options: ServerOptions;
  readonly pki: Pki;
  /** Of the generated certificates; '' where they are in memory. */
  readonly directory: string;
  readonly authorities: Authorities;
}

/** Follows the files of the certificates. Throws StartError for what cannot be read. */
export function followIdentity({ options, pki, directory, authorities }: IdentityParts): ServingIdentity {
  const what = { what: 'the serving certificate', options };
  const inDirectory = (name: string) => ({ flag: '--cert-dir', path: directory === '' ? '' : join(directory, name) });
  const serving = options.tlsCertFile === '' ? readKeyPair(inDirectory('apiserver.crt'), inDirectory('apiserver.key'), what) : readKeyPair(
    { flag: '--tls-cert-file', path: options.tlsCertFile }, { flag: '--tls-private-key-file', path: options.tlsPrivateKeyFile }, what);
  const named = options.tlsSniCertKeys.map((text) => followNamed(text, options));
  const sources: readonly Pick<Current<unknown>, 'onChange' | 'stop'>[] = [...(serving === undefined ? [] : [serving]), ...named.map(({ pair }) => pair)];
  return {
    get current() {
      return {
        ...serving?.value ?? pki.serving, isMade: serving === undefined, named: listNamed(named),
        clientAuthorities: authorities.clients, proxyAuthorities: authorities.proxies,
        minVersion: options.tlsMinVersion, cipherSuites: options.tlsCipherSuites, curves: options.tlsCurvePreferences,
        disablesHttp2: options.disableHttp2Serving,
      };
    },
    onChange(callback) {
      for (const source of [...sources, authorities]) source.onChange(callback);
    },
    stop() {
      for (const source of sources) source.stop();
    },
  };
}

interface FollowedPair {
  readonly names: readonly string[];
  readonly pair: Current<KeyPairTexts>;
}

function followNamed(text: string, options: ServerOptions): FollowedPair {
  const { certificate, key, names } = parseNamedPair(text) ?? { certificate: '', key: '', names: [] };
  const what = `a certificate of ${SNI_FLAG}`;
  const pair = readKeyPair({ flag: SNI_FLAG, path: certificate }, { flag: SNI_FLAG, path: key }, { what, options });
  if (pair === undefined) throw new StartError(`${SNI_FLAG} ${DESCRIBE_NAMED_PAIR}`);
  return { names, pair };
}

/** Names that a flag gives win over those that a certificate brings. */
function listNamed(all: readonly FollowedPair[]): NamedCertificate[] {
  const [explicit, others] = [all.filter(({ names }) => names.length > 0), all.filter(({ names }) => names.length === 0)];
  return [
    ...explicit.map(({ names, pair: { value } }) => ({ ...value, names })),
    ...others.map(({ pair: { value } }) => ({ ...value, names: readNames(value.certificate) })),
  ];
}

/** The common name, where it can be a host's, and the DNS names; addresses are no server names. */
function readNames(certificate: string): string[] {
  const parsed = new X509Certificate(certificate);
  const [commonName = ''] = (parsed.toLegacyObject().subject as { readonly CN?: string }).CN?.split('\n') ?? [];
  const isHost = isIP(commonName) === 0 && (commonName === '*' || checkDnsSubdomain(commonName.replace(/^\*\./, '')).length === 0);
  const others = (parsed.subjectAltName ?? '').split(', ').filter((name) => name.startsWith('DNS:')).map((name) => name.slice('DNS:'.length));
  return [...(isHost ? [commonName] : []), ...others].map((name) => name.toLowerCase());
}
