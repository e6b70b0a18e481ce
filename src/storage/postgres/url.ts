// What every part of the program may know of a PostgreSQL's URL without loading more.

/** True for a text that names a PostgreSQL. */
export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/** The URL without its password, for messages. */
export function redactPostgresUrl(text: string): string {
  const at = text.lastIndexOf('@');
  const begin = text.indexOf('://') + 3;
  const colon = text.indexOf(':', begin);
  return colon >= 0 && colon < at ? `${text.slice(0, colon)}:***${text.slice(at)}` : text;
}
