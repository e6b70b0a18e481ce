// Links of proxied answers: those to the server behind lead through the proxy again. Mirrors the reference's proxy transport, which knows them by
// the host that the request was sent to, and by the one that the client has asked.
import { posix } from 'node:path';
import { encodePath } from '../../endpoints/index.ts';

/** A proxied request. Paths are decoded. */
interface Proxied {
  /** The path that the client has asked for. */
  readonly requestPath: string;
  /** The part of it that the server behind sees. */
  readonly path: string;
  /** host:port of the server behind. */
  readonly host: string;
  /** The host that the client has asked. */
  readonly requestHost: string;
}

interface Reference {
  readonly prefix: string;
  readonly host: string;
  readonly path: string;
  readonly rest: string;
}

/** A URL or a reference in the parts that count here (RFC 3986, appendix B). */
function splitReference(text: string): Reference {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(text)?.[0].length ?? 0;
  const hasAuthority = text.startsWith('//', scheme);
  const endOf = (pattern: RegExp, from: number): number => {
    const at = text.slice(from).search(pattern);
    return at === -1 ? text.length : from + at;
  };
  const pathStart = hasAuthority ? endOf(/[/?#]/, scheme + 2) : scheme;
  const pathEnd = endOf(/[?#]/, pathStart);
  const host = hasAuthority ? text.slice(scheme + 2, pathStart) : '';
  return { prefix: text.slice(0, pathStart), host, path: text.slice(pathStart, pathEnd), rest: text.slice(pathEnd) };
}

const keepSlash = (path: string, like: string): string => (like.endsWith('/') && !path.endsWith('/') ? `${path}/` : path);

/** How the answers to a proxied request are rewritten. */
export interface LinkRewriter {
  /** The path before the proxied one, with it: the header X-Forwarded-Uri. */
  readonly forwardedUri: string;
  readonly rewriteLocation: (link: string) => string;
}

/** Makes the rewriter of one request. */
export function createLinkRewriter({ requestPath, path, host, requestHost }: Proxied): LinkRewriter {
  const suffix = keepSlash(path, requestPath);
  const before = encodePath(requestPath.endsWith(suffix) ? requestPath.slice(0, requestPath.length - suffix.length) : requestPath);
  return {
    forwardedUri: keepSlash(posix.join(before, encodePath(path)), path === '' ? '/' : path),
    rewriteLocation(link) {
      const reference = splitReference(link);
      const isElsewhere = reference.host !== '' && reference.host !== host && reference.host !== requestHost;
      if (isElsewhere || !reference.path.startsWith('/')) return link;
      const prefix = reference.host !== '' && reference.host === requestHost ? reference.prefix : '';
      if (reference.path.startsWith(before)) return `${prefix}${reference.path}${reference.rest}`;
      return `${prefix}${keepSlash(posix.join(before, reference.path), reference.path)}${reference.rest}`;
    },
  };
}
