// The door of URLs as Go reads them: their parts, and whole ones.
export { UrlError, checkEscapes, checkHost, schemeOf } from './parts.ts';
export { type UrlParts, parseUrl } from './parse.ts';
