// Places of the console as fragments of its address: #/VIEW/part/…?name=value. Everything that is shown can be linked to.

/** A place. */
export interface Route {
  readonly view: string;
  readonly parts: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Reads the fragment of an address. */
export function parseRoute(hash: string): Route {
  const text = hash.replace(/^#\/?/, '');
  const mark = text.indexOf('?');
  const [view = '', ...parts] = (mark === -1 ? text : text.slice(0, mark)).split('/').map(decode);
  return { view, parts, query: new Map(new URLSearchParams(mark === -1 ? '' : text.slice(mark + 1))) };
}

/** Writes a fragment; values that are '' are left out. */
export function formatRoute(view: string, parts: readonly string[] = [], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
  const search = new URLSearchParams(given).toString();
  return `#/${[view, ...parts].map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** Names the group of a kind in a place: the core group has none. */
const groupPart = (group: string): string => (group === '' ? 'core' : group);

/** Which kind a place names. */
interface KindName {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}

/** The place of a list. */
export const listRoute = ({ group, version, plural }: KindName, query: Readonly<Record<string, string | undefined>> = {}): string =>
  formatRoute('list', [groupPart(group), version, plural], query);

/** The place of an object. */
export const objectRoute = ({ group, version, plural }: KindName, { namespace = '', name }: { namespace?: string; name: string }, tab = ''): string =>
  formatRoute('object', [groupPart(group), version, plural, namespace === '' ? '-' : namespace, name], { tab });

/** The place of new objects of a kind. */
export const createRoute = ({ group, version, plural }: KindName): string => formatRoute('create', [groupPart(group), version, plural]);

/** The kind that a place names, by its parts. */
export const kindOfRoute = ({ parts: [group = '', version = '', plural = ''] }: Route): KindName =>
  ({ group: group === 'core' ? '' : group, version, plural });
