// The authorities of client certificates and of front proxies, as their files say it at the moment.
import { type Current, readAuthorities } from '../config-files/followed-files.ts';
import { type ServerOptions, StartError } from '../options/options.ts';
import { parseAuthorities } from './client-certificate.ts';
import type { Pki } from './pki.ts';

/** The authorities of a server, as PEM texts. */
export interface Authorities {
  readonly clients: readonly string[];
  readonly proxies: readonly string[];
  /** Calls back after each change. */
  onChange(callback: () => void): void;
  stop(): void;
}

/** Reads the authorities that flags name, beside the generated one. Throws StartError for what cannot be read or must not be. */
export function followAuthorities(options: ServerOptions, pki: Pki | undefined): Authorities {
  const own = pki === undefined ? [] : [pki.authority.certificate];
  const clients = readAuthorities({ flag: '--client-ca-file', path: options.clientCaFile }, options);
  const proxies = readAuthorities({ flag: '--requestheader-client-ca-file', path: options.requestheaderClientCaFile }, options);
  const all: readonly Current<string>[] = [clients, proxies].filter((one) => one !== undefined);
  const found: Authorities = {
    get clients() {
      return clients === undefined ? own : [...own, clients.value];
    },
    get proxies() {
      return proxies === undefined ? [] : [proxies.value];
    },
    onChange(callback) {
      for (const one of all) one.onChange(callback);
    },
    stop() {
      for (const one of all) one.stop();
    },
  };
  try {
    refuseOverlap(options, found);
    return found;
  } catch (error) {
    found.stop();
    throw error;
  }
}

/** An authority of both kinds would let every client speak for everybody, unless the names of proxies are given. */
function refuseOverlap({ requestheaderAllowedNames }: ServerOptions, { clients, proxies }: Authorities): void {
  if (proxies.length === 0 || requestheaderAllowedNames.length > 0) return;
  const known = new Set(parseAuthorities(clients).map(({ fingerprint256 }) => fingerprint256));
  if (!parseAuthorities(proxies).some(({ fingerprint256 }) => known.has(fingerprint256))) return;
  throw new StartError('--requestheader-client-ca-file and --client-ca-file contain overlapping certificates; --requestheader-allowed-names must be specified '
    + 'to ensure regular client certificates cannot set authenticating proxy headers for arbitrary users');
}
