// The values of --tls-sni-cert-key.

/** What the flag takes, after its name. */
export const DESCRIBE_NAMED_PAIR = 'must be certificate,key or certificate,key:name,name';

/** The parts of `certificate,key` or `certificate,key:name,name`; undefined for what is no such text. */
export function parseNamedPair(text: string): { readonly certificate: string; readonly key: string; readonly names: readonly string[] } | undefined {
  const colon = text.indexOf(':');
  const [files, names] = colon === -1 ? [text, undefined] : [text.slice(0, colon), text.slice(colon + 1)];
  const [certificate = '', key = '', ...rest] = files.split(',').map((path) => path.trim());
  const list = names?.split(',').map((name) => name.trim().toLowerCase()) ?? [];
  if (certificate === '' || key === '' || rest.length > 0 || (names !== undefined && list.some((name) => name === ''))) return undefined;
  return { certificate, key, names: list };
}
