// A front proxy vouches for its callers in headers. They count only on connections whose client certificate comes from the authority of front
// proxies and bears an allowed name; on all others they are as if they were not there. Mirrors the --requestheader-* flags of kube-apiserver.
import { decodeHeader } from '../../base/index.ts';
import type { User } from '../user.ts';
import type { ClientCertificate } from './credentials.ts';

interface FrontProxyOptions {
  /** Common names of proxies; empty allows every certificate of the authority. */
  readonly allowedNames: readonly string[];
  /** Headers, in the order in which they are looked at. */
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

/** The user that a proxy vouches for; undefined when it names none or may not. */
export type FrontProxy = (certificate: ClientCertificate, headers: ReadonlyMap<string, readonly string[]>) => User | undefined;

/** Makes the reader of a proxy's headers. */
export function createFrontProxy(options: FrontProxyOptions): FrontProxy {
  const lower = (names: readonly string[]) => names.map((name) => name.toLowerCase());
  const [usernames, uids, groupNames, prefixes] = [options.usernameHeaders, options.uidHeaders, options.groupHeaders, options.extraHeaderPrefixes].map(lower);
  return ({ commonName, frontProxy }, headers) => {
    if (frontProxy !== true || (options.allowedNames.length > 0 && !options.allowedNames.includes(commonName))) return undefined;
    const first = (names: readonly string[] = []) => names.map((name) => decodeHeader(headers.get(name)?.[0] ?? '')).find((value) => value !== '') ?? '';
    const name = first(usernames);
    if (name === '') return undefined;
    const uid = first(uids);
    const groups = (groupNames ?? []).flatMap((header) => (headers.get(header) ?? []).map(decodeHeader));
    const extra = readExtra(headers, prefixes ?? []);
    return { name, groups, ...(uid !== '' && { uid }), ...(Object.keys(extra).length > 0 && { extra }) };
  };
}

/** Values of all headers with one of the prefixes, by what follows it: lower-case, percent-decoded where that is possible. */
export function readExtra(headers: ReadonlyMap<string, readonly string[]>, prefixes: readonly string[]): Record<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const [header, values] of headers) {
    const prefix = prefixes.find((one) => header.startsWith(one));
    if (prefix === undefined || values.length === 0) continue;
    const key = decodeKey(header.slice(prefix.length));
    found.set(key, [...(found.get(key) ?? []), ...values.map(decodeHeader)]);
  }
  return Object.fromEntries([...found].sort(([one], [two]) => (one < two ? -1 : 1)));
}

function decodeKey(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}
