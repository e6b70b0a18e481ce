// Image references, as far as the default of imagePullPolicy needs them: whether the tag of a reference means `latest`.

const COMPONENT = '[a-z0-9]+(?:(?:\\.|__?|-+)[a-z0-9]+)*';
const DOMAIN = '(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?)*(?::[0-9]+)?/)?';
const reference = new RegExp(`^${DOMAIN}${COMPONENT}(?:/${COMPONENT})*(?::([\\w][\\w.-]{0,127}))?(@[a-zA-Z0-9:+._-]+)?$`);
const MAX_REFERENCE_LENGTH = 1024;
const MAX_PATH_LENGTH = 255;
const HUB = 'docker.io';

/** `Always` for images whose tag is or means `latest`, else `IfNotPresent`. References that cannot be read have no tag. */
export function choosePullPolicy(image: unknown): string {
  if (typeof image !== 'string' || image.length > MAX_REFERENCE_LENGTH) return 'IfNotPresent';
  const match = reference.exec(image);
  if (match === null) return 'IfNotPresent';
  const [, tag, digest] = match;
  const name = image.slice(0, image.length - (digest ?? '').length - (tag === undefined ? 0 : tag.length + 1));
  if (countPath(name) > MAX_PATH_LENGTH) return 'IfNotPresent';
  const meansLatest = tag === 'latest' || (tag === undefined && digest === undefined);
  return meansLatest ? 'Always' : 'IfNotPresent';
}

/** The length of the path of an image's name behind its registry; a single word is one of the registry's own images, below `library/`. */
function countPath(name: string): number {
  const [first = '', ...rest] = name.split('/');
  const isRegistry = rest.length > 0 && (first === 'localhost' || first === `index.${HUB}` || /[.:A-Z]/.test(first));
  const path = isRegistry ? rest.join('/') : name;
  const isHub = !isRegistry || first === HUB || first === `index.${HUB}`;
  return path.length + (isHub && !path.includes('/') ? 'library/'.length : 0);
}
