// The cookies of the console: HttpOnly, for this site alone, and with TLS for this host alone; and the origin that a request is for.
import { createHash, timingSafeEqual } from 'node:crypto';

/** Which cookie. */
export interface CookieShape {
  readonly name: string;
  /** Whether browsers reach the server by TLS. */
  readonly isSecure: boolean;
}

const nameOf = ({ name, isSecure }: CookieShape): string => `${isSecure ? '__Host-' : ''}${name}`;

/** The value of Set-Cookie; an age of 0 removes the cookie. */
export function formatCookie({ value, maxAgeSeconds, ...shape }: CookieShape & { readonly value: string; readonly maxAgeSeconds: number }): string {
  return `${nameOf(shape)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${shape.isSecure ? '; Secure' : ''}`;
}

/** A cookie's value; undefined where it is not shown. HTTP/2 may send a header of cookies for each; they are joined by commas then. */
export function readCookie(header: string, shape: CookieShape): string | undefined {
  const name = nameOf(shape);
  for (const part of header.split(/[;,]/)) {
    const at = part.indexOf('=');
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim();
  }
  return undefined;
}

/** Host and port that a request is for. */
export const hostOf = ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }): string =>
  headers['host'] ?? headers[':authority'] ?? '';

/** Whether two texts are the same, in a time that says nothing about them. */
export function isSameText(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(first, second);
}
