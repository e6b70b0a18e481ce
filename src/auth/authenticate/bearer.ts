// The bearer token of an Authorization header, read as leniently as the reference does: any case of the scheme, single spaces.

/** What a caller reads whose header has no token behind the first of several spaces. */
export const EXTRA_SPACE = 'the provided Authorization header contains extra space before the bearer token, and is ignored';

/** Whether a header is ignored for such spaces. */
export const hasExtraSpace = (header: string): boolean => /^bearer {2}/i.test(header.trim());

/** The token, or undefined when the header is of another scheme or has none. */
export function readBearerToken(header: string): string | undefined {
  // As nearly all clients write it.
  if (header.startsWith('Bearer ') && header.length > 7 && header.indexOf(' ', 7) === -1) return header.slice(7);
  const [scheme = '', token = ''] = header.trim().split(' ', 3);
  return scheme.toLowerCase() === 'bearer' && token !== '' ? token : undefined;
}
