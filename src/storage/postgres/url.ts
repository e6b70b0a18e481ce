// What every part of the program may know of a PostgreSQL's URL without loading more.

/** True for a text that names a PostgreSQL. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** The URL for messages and pages: without its password, and without its parameters, which may hold one by mistake. */
export function redactPostgresUrl(text: string): string {
  const at = text.lastIndexOf('@');
  const scheme = text.indexOf('://');
  const colon = text.indexOf(':', scheme < 0 ? 0 : scheme + 3);
  const [shown = ''] = (colon >= 0 && colon < at ? `${text.slice(0, colon)}:***${text.slice(at)}` : text).split('?', 1);
  return shown;
}
