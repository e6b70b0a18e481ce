// Where a webhook is reached, as registrations and conversions of definitions say it: a URL, or a service. Mirrors the checks that the reference
// has for both, with url.Parse's words for what is no URL.
import { UrlError, checkEscapes, checkHost, schemeOf, unescapeBytes } from './cel/index.ts';
import { invalidValue, required } from './field-error.ts';
import { checkDnsSubdomain } from './names.ts';
import { quoteGo } from './quote.ts';
import type { FieldError } from './status.ts';

/** A service that answers, and where in it. */
export interface WebhookService {
  readonly name?: string;
  readonly namespace?: string;
  readonly path?: string | null;
  readonly port?: number;
}

const FORM = '; desired format: https://host[/path]';

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

/** Problems of the URL of a webhook. */
export function checkWebhookUrl(field: string, text: string): FieldError[] {
  const url = parseUrl(text);
  if (typeof url === 'string') return [required(field, `url must be a valid URL: ${url}${FORM}`)];
  const { scheme, user, host, query, fragment } = url;
  return [
    ...(scheme === 'https' ? [] : [invalidValue(field, scheme, `'https' is the only allowed URL scheme${FORM}`)]),
    ...(host === '' ? [invalidValue(field, host, `host must be specified${FORM}`)] : []),
    ...(user === undefined ? [] : [invalidValue(field, user, 'user information is not permitted in the URL')]),
    ...(fragment === '' ? [] : [invalidValue(field, fragment, 'fragments are not permitted in the URL')]),
    ...(query === '' ? [] : [invalidValue(field, query, 'query parameters are not permitted in the URL')]),
  ];
}

function checkPath(field: string, path: string): FieldError[] {
  if (path === '' || path === '/') return [];
  if (path === '//') return [invalidValue(field, path, 'segment[0] may not be empty')];
  const errors = path.startsWith('/') ? [] : [invalidValue(field, path, "must start with a '/'")];
  // The reference cuts off a byte, which leaves a part of other characters.
  const steps = path.charCodeAt(0) > 0x7f ? path : path.slice(1);
  steps.replace(/\/$/, '').split('/').forEach((step, i) => {
    if (step === '') errors.push(invalidValue(field, path, `segment[${i}] may not be empty`));
    else errors.push(...checkDnsSubdomain(step).map((problem) => invalidValue(field, path, `segment[${i}]: ${problem}`)));
  });
  return errors;
}

/** Problems of the service of a webhook; its port has its default. */
export function checkWebhookService(field: string, { name, namespace, path, port = 0 }: WebhookService): FieldError[] {
  const errors: FieldError[] = [];
  // The reference mixes the two up: what it says of the name is about the namespace, and the other way round.
  if (!namespace) errors.push(required(`${field}.name`));
  if (!name) errors.push(required(`${field}.namespace`));
  if (port < 1 || port > 65_535) errors.push(invalidValue(`${field}.port`, port, 'port is not valid: must be between 1 and 65535, inclusive'));
  return path === undefined || path === null ? errors : [...errors, ...checkPath(`${field}.path`, path)];
}
