// URLs as Go's url.Parse divides them.
import { quoteGo } from '../quote.ts';
import { UrlError, checkEscapes, checkHost, schemeOf, unescapeBytes } from './parts.ts';

/** A URL as Go's url.Parse divides it. */
export interface UrlParts {
  readonly scheme: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

function cut(text: string, separator: string): [before: string, after: string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ''] : [text.slice(0, index), text.slice(index + 1)];
}

/** Throws UrlError. */
function splitUrl(text: string): UrlParts {
  const [bare, fragment] = cut(text, '#');
  if (/[\x00-\x1f\x7f]/.test(bare)) throw new UrlError('net/url: invalid control character in URL');
  const scheme = schemeOf(bare);
  const [before, query] = cut(scheme === '' ? bare : bare.slice(scheme.length + 1), '?');
  const parts = { scheme: scheme.toLowerCase(), user: undefined, host: '', query };
  // Nothing is known of what stands behind a scheme without a slash.
  if (scheme !== '' && !before.startsWith('/')) return { ...parts, fragment: unescapeBytes(fragment) };
  if (cut(before, '/')[0].includes(':')) throw new UrlError('first path segment in URL cannot contain colon');
  if (!before.startsWith('//') || (scheme === '' && before.startsWith('///'))) {
    checkEscapes(before);
    return { ...parts, fragment: unescapeBytes(fragment) };
  }
  const [authority, path] = cut(before.slice(2), '/');
  const host = checkHost(authority, scheme);
  checkEscapes(path);
  const at = authority.lastIndexOf('@');
  return { ...parts, host, user: at < 0 ? undefined : authority.slice(0, at), fragment: unescapeBytes(fragment) };
}

/** The text that is shown of a URL that cannot be read: that before its fragment, or all of it where that can be read. */
function wrongPart(text: string): string {
  const start = text.split('#', 1)[0] as string;
  try {
    splitUrl(start);
    return text;
  } catch {
    return start;
  }
}

/** The parts of a URL, or the text of Go's error. */
export function parseUrl(text: string): UrlParts | string {
  try {
    return splitUrl(text);
  } catch (error) {
    if (error instanceof UrlError) return `parse ${quoteGo(wrongPart(text))}: ${error.message}`;
    throw error;
  }
}
